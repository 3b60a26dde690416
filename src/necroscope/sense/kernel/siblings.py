"""The children of one memory cgroup, read from a list that changes under our eyes.

Nothing is locked. A node is taken for a child only if it says so itself: its parent is the one whose list we follow,
its serial number is higher than the last one's (the kernel appends, and never reuses a number), and its backward link
is the node we came from. Where one of these fails, the list changed meanwhile: we go back to the last good node or, if
that is gone itself, to the head, and skip what was seen. After a few such returns we give up, and say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from necroscope.sense.kernel.bpf.memory import KernelMemory
from necroscope.sense.kernel.layout import MemcgLayout
from necroscope.sense.kernel.pointers import Pointers

RESTARTS_MAX = 16


class Node(NamedTuple):
    """One css as it was when its list was read."""

    css: int
    cgroup: int
    reference: int  # where its reference count is; 0 while it is counted per CPU
    has_children: bool
    flags: int
    serial: int
    parent: int


class _Cursor(NamedTuple):
    """A place in a list: the css and its serial number, or (0, 0) for the head."""

    css: int
    serial: int


_HEAD = _Cursor(0, 0)


class Siblings:
    """Reads lists of children. `restarts` counts returns, `torn` the lists that were given up."""

    def __init__(self, memory: KernelMemory, layout: MemcgLayout, pointers: Pointers) -> None:
        self._memory, self._layout, self._pointers = memory, layout, pointers
        self.restarts = 0
        self.torn = 0

    def node(self, css: int) -> Node:
        """One css by its address, unchecked; zeros when it cannot be read."""
        return self._node(css, next(self._rows([css])))

    def still(self, nodes: Sequence[Node]) -> list[bool]:
        """Whether each node is what it was: same serial number, same parent."""
        rows = self._rows([node.css for node in nodes])
        return [row[7] == node.serial and row[8] == node.parent for node, row in zip(nodes, rows, strict=True)]

    def children(self, parent: int) -> Iterator[list[Node]]:
        """Children of a css in batches (some empty), in the order of their birth."""
        head = parent + self._layout.children
        cursor, seen, returns = _HEAD, 0, 0
        while returns <= RESTARTS_MAX:
            batch, reached, ended = self._batch(parent, head, cursor, seen)
            yield batch
            seen = max(seen, reached.serial)
            if ended == "head":
                return
            if ended == "torn":
                returns += 1
                self.restarts += 1
                # without progress, the node to go on from is off the list itself
                reached = reached if reached.serial > cursor.serial else _HEAD
            cursor = reached
        self.torn += 1

    def _batch(self, parent: int, head: int, cursor: _Cursor, seen: int) -> tuple[list[Node], _Cursor, str]:
        """Good nodes beyond serial `seen`, how far we got, and why no further: full, head or torn."""
        layout, window = self._layout, self._layout.css
        start = cursor.css + layout.sibling if cursor.css else self._first(head)
        chain = self._memory.chase(
            start, head, layout.sibling - window.start, window.length, self._pointers.heap_limits
        )
        good: list[Node] = []
        reached, before = cursor, 0 if cursor.css else head
        for place, row in zip(chain.nodes, window.rows(chain.data), strict=True):
            serial = row[7]
            # the cursor's own node comes first, and must be the one it was
            follows = row[4] == before and serial > reached.serial if before else serial == cursor.serial
            if row[8] != parent or not follows:
                return good, reached, "torn"
            before, reached = place, _Cursor(place - layout.sibling, serial)
            if serial > seen:
                good.append(self._node(reached.css, row))
        return good, reached, chain.ended if chain.ended in ("full", "head") else "torn"

    def _first(self, head: int) -> int:
        return int.from_bytes(self._memory.gather([head], 8), "little")

    def _rows(self, css: list[int]) -> Iterator[tuple[int, ...]]:
        window = self._layout.css
        return window.rows(self._memory.gather([address + window.start for address in css], window.length))

    def _node(self, css: int, row: tuple[int, ...]) -> Node:
        cgroup, counted_at, reference, _, _, first_child, flags, serial, parent = row
        has_children = first_child not in (0, css + self._layout.children)
        # bit 0: the count is one atomic number, no longer one per CPU
        return Node(css, cgroup, reference if counted_at & 1 else 0, has_children, flags, serial, parent)
