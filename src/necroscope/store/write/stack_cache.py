"""Stacks that were handed out once and are needed again: each journal carries every stack that its samples name.

A decoder hands out a stack the first time it sees it; the segment of ten minutes later needs it too. The cache
remembers, in bounded memory: of two generations the older one is dropped when the younger one is full. Whoever feeds
the cache learns that, and lets the decoder hand out its stacks anew; until it has, the older generation still has them.
"""

from __future__ import annotations

from collections.abc import Iterable

from necroscope.sense.perf.samples import Stack
from necroscope.store.format.tables import valid_text

MAX_BYTES = 10 << 20
# What the cache itself takes for a stack, beside its text.
_EACH_BYTES = 200


class StackCache:
    """Stacks by id. What was not used for a long time is forgotten."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._half = max_bytes // 2
        self._bytes = 0
        self._young: dict[int, Stack] = {}
        self._old: dict[int, Stack] = {}
        self._dropped = False

    def learn(self, stacks: Iterable[Stack]) -> None:
        """Remember stacks."""
        for stack in stacks:
            self._put(stack)

    def frames(self, stack_id: int) -> str | None:
        """The stack as it is written: name, 0x1F, module, 0x1E for each frame; None when it is not known (any more)."""
        found = self._young.get(stack_id)
        if found is None:
            found = self._old.get(stack_id)
            if found is None:
                return None
            self._put(found)
        return valid_text(found.text)

    def take_dropped(self) -> bool:
        """True once after stacks were forgotten: they should be handed out anew."""
        dropped, self._dropped = self._dropped, False
        return dropped

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def _put(self, stack: Stack) -> None:
        if stack.stack_id in self._young:
            return
        size = len(stack.canonical) + _EACH_BYTES
        if self._young and self._bytes + size > self._half:
            self._old, self._young, self._dropped, self._bytes = self._young, {}, True, 0
        self._young[stack.stack_id] = stack
        self._bytes += size
