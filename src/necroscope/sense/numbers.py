"""Numbers in the kernel's text files, read without trust.

A file of the kernel ends in a newline. One that does not was cut, perhaps inside a number, so its last line is left
out: half a number is never taken for a whole one. Counters have at most 64 bits; whatever else looks like
a number to Python (signs, underscores, thousands of digits) is none here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from necroscope.errors import Unavailable

MAX_CPUS = 1 << 16

_MAX_DIGITS = 20
_MAX_COUNT = (1 << 64) - 1
_HEXADECIMAL = re.compile(rb"[0-9a-fA-F]{1,16}")
_DECIMAL = re.compile(rb"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_CPU_RANGE = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?")


def whole_lines(text: bytes) -> list[bytes]:
    """Lines that end in a newline, without it."""
    return text.split(b"\n")[:-1]


def count(token: bytes) -> int | None:
    """An unsigned decimal of 64 bits; None for anything else."""
    if not token.isdigit() or len(token) > _MAX_DIGITS:
        return None
    value = int(token)
    return value if value <= _MAX_COUNT else None


def counts(tokens: Sequence[bytes]) -> tuple[int, ...] | None:
    """All tokens as counts, or None when one of them is none. Built for rows of hundreds of CPUs."""
    if not tokens:
        return ()
    if not all(map(bytes.isdigit, tokens)) or max(map(len, tokens)) > _MAX_DIGITS:
        return None
    values = tuple(map(int, tokens))
    return values if max(values) <= _MAX_COUNT else None


def hexadecimal(token: bytes) -> int | None:
    """An unsigned hexadecimal of 64 bits without prefix; None for anything else."""
    return int(token, 16) if _HEXADECIMAL.fullmatch(token) else None


def decimal(token: bytes) -> float | None:
    """An unsigned number with or without a fraction; None for anything else."""
    return float(token) if _DECIMAL.fullmatch(token) else None


def flat_keyed(text: bytes) -> dict[str, int]:
    """Lines of `name count`, by name; lines of another shape are left out."""
    values: dict[str, int] = {}
    for line in whole_lines(text):
        tokens = line.split()
        if len(tokens) == 2 and (value := count(tokens[1])) is not None:
            values[tokens[0].decode("ascii", "replace")] = value
    return values


def cpu_list(text: bytes) -> tuple[int, ...]:
    """CPUs of a list such as `0-3,8`, rising, each once; an empty list is a list."""
    cpus: set[int] = set()
    for part in text.decode("ascii", "replace").strip().split(","):
        if not part:
            continue
        match = _CPU_RANGE.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last or last >= MAX_CPUS:
            raise Unavailable("a list of CPUs cannot be understood")
        cpus.update(range(first, last + 1))
    return tuple(sorted(cpus))
