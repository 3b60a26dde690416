"""Modules in brackets: the kernel's, or somebody else's."""

from __future__ import annotations

import pytest

from necroscope.sense.perf.modules import NOT_KERNEL, in_kernel


@pytest.mark.parametrize("module", ["[kernel]", "[nf_tables]", "[bpf]"])
def test_what_is_the_kernels(module: str) -> None:
    assert in_kernel(module)


@pytest.mark.parametrize(
    "module", ["[vdso]", "[jit]", "[inlined]", "[guest]", "[anon]", "[cut]", "libc.so.6", "", "[", "[]", "[a b]", "[a"]
)
def test_what_is_not(module: str) -> None:
    assert not in_kernel(module)


def test_all_of_them_stand_in_brackets() -> None:
    assert all(module.startswith("[") and module.endswith("]") for module in NOT_KERNEL)
