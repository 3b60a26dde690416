"""C++ and Rust names for people. The C++ runtime's own demangler is asked; without that library names stay mangled.

As in `perf script`, parameters and return types are left out: what is left is where the code is, and short. Rust's old
scheme looks like C++ with a hash at the end, which goes; its present one (`_R...`) is read by `rust_v0`.

A mangled name can refer to its own parts, so that 658 characters unfold to gigabytes. Each reference can at most
triple what three of them stood for, and each expansion of a parameter pack repeats what it stands in; a name with too
many of them stays mangled.
"""

from __future__ import annotations

import ctypes
import re
from functools import cache, lru_cache

from necroscope.sense.perf.symbols import rust_v0

_LONGEST = 1024
_LONGEST_READABLE = 1 << 16
_REFERENCE = re.compile(r"[ST][0-9A-Z]{0,4}_|D[pP]|sp|s[ZP]")
_REFERENCES = 32
_EXPANSION = re.compile(r"D[pP]|sp|s[ZP]")
_UNFOLDED = 1 << 18
_RUST_HASH = re.compile(r"::h[0-9a-f]{16}$")
_RUST_ESCAPES = {
    "$LT$": "<", "$GT$": ">", "$LP$": "(", "$RP$": ")", "$C$": ",", "$RF$": "&", "$BP$": "*", "$SP$": "@",
    "$u20$": " ", "$u27$": "'", "$u5b$": "[", "$u5d$": "]", "$u7b$": "{", "$u7d$": "}", "$u7e$": "~", "..": "::",
}  # fmt: skip


@lru_cache(maxsize=1 << 14)
def demangle(name: str) -> str:
    """The readable name of a mangled one; any other name as it is. Version suffixes (`@@GLIBC_2.2.5`) stay."""
    if name.startswith("_R"):
        return (rust_v0.readable(name) or name)[:_LONGEST] if len(name) <= _LONGEST else name
    if not name.startswith(("_Z", "__Z")) or not bounded(name):
        return name
    readable = _itanium(name)
    if readable is None:
        return name
    return (_rust(readable) if _RUST_HASH.search(readable) else _bare(readable))[:_LONGEST]


def bounded(name: str) -> bool:
    """Whether the readable name is sure to be short: by the name's length and what it refers back to."""
    return (
        len(name) <= _LONGEST
        and len(_REFERENCE.findall(name)) <= _REFERENCES
        and len(name) ** len(_EXPANSION.findall(name)) <= _UNFOLDED
    )


def _itanium(name: str) -> str | None:
    library = _library()
    if library is None:
        return None
    status = ctypes.c_int(0)
    pointer = library.__cxa_demangle(name.encode("utf-8", "replace"), None, None, ctypes.byref(status))
    if not pointer:
        return None
    try:
        readable = ctypes.string_at(pointer) if status.value == 0 else b""
        return readable.decode("utf-8", "replace") if 0 < len(readable) <= _LONGEST_READABLE else None
    finally:
        library.free(ctypes.c_void_p(pointer))


@cache
def _library() -> ctypes.CDLL | None:
    for name in ("libstdc++.so.6", "libc++abi.so.1"):
        try:
            library = ctypes.CDLL(name)
            library.__cxa_demangle.restype = ctypes.c_void_p
            library.free.restype = None
        except (OSError, AttributeError):
            continue
        return library
    return None


def _rust(readable: str) -> str:
    name = _RUST_HASH.sub("", readable)
    for escape, text in _RUST_ESCAPES.items():
        name = name.replace(escape, text)
    return name.replace("::_<", "::<").removeprefix("_") if "<" in name else name


def _bare(readable: str) -> str:
    """Without parameters and return type: `void a::b<int>(int) const` is `a::b<int>`."""
    if "operator" in readable:
        return (
            readable.partition("(")[0]
            if not readable.endswith("operator()") and "operator(" not in readable
            else readable
        )
    end = _parameters(readable)
    head = readable[:end]
    depth = 0
    for place in range(len(head) - 1, -1, -1):
        letter = head[place]
        if letter in ">)]}":
            depth += 1
        elif letter in "<([{":
            depth -= 1
        elif (
            letter == " "
            and depth == 0
            and not head.startswith(("vtable", "typeinfo", "guard", "non-virtual", "virtual"))
        ):
            return head[place + 1 :]
    return head


def _parameters(readable: str) -> int:
    """Where the last parenthesis at the top level opens; the whole length when there is none."""
    depth = 0
    for place in range(len(readable) - 1, -1, -1):
        letter = readable[place]
        if letter == ")":
            depth += 1
        elif letter == "(":
            depth -= 1
            if depth == 0 and not readable.startswith(("(anonymous namespace)", "(lambda"), place):
                return place
    return len(readable)
