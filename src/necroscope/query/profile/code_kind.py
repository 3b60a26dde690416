"""What kind of code a module is, for colours and filters."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from necroscope.sense.perf.modules import in_kernel

CodeKind = Literal["thread", "program", "library", "jit", "kernel", "unknown"]
CODE_KINDS: tuple[CodeKind, ...] = ("thread", "program", "library", "jit", "kernel", "unknown")


@lru_cache(maxsize=1 << 12)
def code_kind(module: str) -> CodeKind:
    """`thread` is what has no code: the whole, and names of threads."""
    if not module or module == "[cut]":
        return "thread"
    if in_kernel(module):
        return "kernel"
    if module == "[unknown]":
        return "unknown"
    if module in {"[jit]", "[anon]"}:
        return "jit"
    return "library" if ".so" in module or module == "[vdso]" else "program"
