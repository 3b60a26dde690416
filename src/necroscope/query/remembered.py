"""What was read of sealed files while one question is answered, so that no file is read again for its next part.

Sealed files do not change: what was read of one is right as long as the question lasts. The memory is bounded, and what
was not used for the longest time goes first. Without `remembering` around it, everything is read whenever it is asked
for.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import pyarrow as pa

T = TypeVar("T")

MOST_BYTES = 16 << 20
_OVERHEAD_BYTES = 200
# What would push out so much of everything else is not kept.
_LARGE = 0.2


class _Memory:
    """Values by key, the one used last at the end."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def get(self, key: Hashable, read: Callable[[], T], size: Callable[[T], int], largest: int) -> T:
        if key in self._values:
            self._values.move_to_end(key)
            known: T = self._values[key][0]
            return known
        value = read()
        taken = size(value) + _OVERHEAD_BYTES
        if taken > min(largest, self._most * _LARGE):
            return value
        self._values[key] = value, taken
        self._bytes += taken
        while self._bytes > self._most:
            _, (_, gone) = self._values.popitem(last=False)
            self._bytes -= gone
        return value


_memory: ContextVar[_Memory | None] = ContextVar("memory", default=None)


@contextmanager
def remembering(most_bytes: int = MOST_BYTES) -> Iterator[None]:
    """Whatever is read within is remembered until the end; within another one, that one remembers."""
    if _memory.get() is not None:
        yield
        return
    token = _memory.set(_Memory(most_bytes))
    try:
        yield
    finally:
        _memory.reset(token)


def remembered(key: Hashable, read: Callable[[], T], size: Callable[[T], int], largest: int = MOST_BYTES) -> T:
    """What `read` gives, or gave for the same key. What it raises is not remembered, nor what is larger than that."""
    memory = _memory.get()
    return read() if memory is None else memory.get(key, read, size, largest)


def remembered_table(key: Hashable, read: Callable[[], pa.Table | None]) -> pa.Table | None:
    """The same, of columns of a file; None where a segment has none of it."""
    return remembered(key, read, lambda table: 0 if table is None else table.nbytes)
