"""Names of modules. A bracket at the beginning is reserved: it says what kind of code something is, and that was
decided by its address and its mapping. A file whose own name begins with one is written with `./` before it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from necroscope.sense.perf.samples import clean

NOT_KERNEL = frozenset(
    (
        "[anon]",
        "[cut]",
        "[guest]",
        "[heap]",
        "[inlined]",
        "[jit]",
        "[stack]",
        "[unknown]",
        "[uprobes]",
        "[vdso]",
        "[vsyscall]",
    )
)
"""What stands in brackets and is not code of this machine's kernel; every other word in brackets is."""

SPECIAL = frozenset(("[heap]", "[stack]", "[uprobes]", "[vdso]", "[vsyscall]"))
"""Mappings that the kernel itself names; whatever else is no path is anonymous memory."""

IN_BRACKETS = r"\[[0-9A-Za-z_]+\]"
"""A word in brackets; SQL understands it as well."""

_DELETED = " (deleted)"
_IN_BRACKETS = re.compile(IN_BRACKETS)


def module_name(path: str) -> str:
    """How a mapped file is called in a stack: its last name. Anonymous memory is "[anon]"."""
    if not path.startswith("/") or path.startswith("//anon"):
        return path if path in SPECIAL else "[anon]"
    return file_module(path.removesuffix(_DELETED).rpartition("/")[2])


def file_module(name: str) -> str:
    """A file's last name as a module: never one of those in brackets, never empty."""
    name = clean(name).replace(";", ":")
    return f"./{name}" if name.startswith("[") else name or "[anon]"


@lru_cache(maxsize=1 << 12)
def in_kernel(module: str) -> bool:
    """Whether a module is the kernel, or one of its own: "[kernel]", "[nf_tables]", "[bpf]"."""
    return module not in NOT_KERNEL and _IN_BRACKETS.fullmatch(module) is not None
