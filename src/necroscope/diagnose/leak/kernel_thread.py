"""Whether somebody is a thread of the kernel."""

from __future__ import annotations

from collections.abc import Iterable

from necroscope.store.neutral_names import is_kernel_thread


def is_the_kernels(name: str, cgroups: Iterable[str]) -> bool:
    """Whether it is a thread of the kernel: by its whole name, and because nobody put it into a cgroup."""
    return is_kernel_thread(name) and all(one in ("", "/") for one in cgroups)
