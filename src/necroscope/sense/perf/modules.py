"""Names of modules in brackets: whose code they stand for."""

from __future__ import annotations

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
"""What stands in brackets and is not code of this machine's kernel; everything else in brackets is."""


def in_kernel(module: str) -> bool:
    """Whether a module is the kernel, or one of its own: "[kernel]", "[nf_tables]", "[bpf]"."""
    return module.startswith("[") and module not in NOT_KERNEL
