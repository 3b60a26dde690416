"""Frames as numbers: one for each (name, module) that was ever seen, with its share of a stack's canonical bytes.

A name that a process chose may hold anything. Control characters are taken out here, among them what separates frames
in a stored stack, so that no name can end a frame and begin another.
"""

from __future__ import annotations

from necroscope.sense.perf.samples import UNKNOWN, canonical_frame, clean

MARK = 0
"""Not a frame: a mark in a call chain that tells kernel from user code."""

_FRAME_BYTES = 250


class FrameTable:
    """Names and modules by number."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.modules: list[str] = []
        self.canonical: list[bytes] = []
        self.generation = 0
        self.nbytes = 0
        self._numbers: dict[tuple[str, str], int] = {}
        self.clear()

    def __len__(self) -> int:
        return len(self.names)

    def clear(self) -> None:
        """Forget all frames but the mark; numbers of an older generation mean nothing any more."""
        self.generation += 1
        for column in (self.names, self.modules, self.canonical):
            column.clear()
        self._numbers.clear()
        self.nbytes = 0
        self.number("", "")

    def number(self, name: str, module: str) -> int:
        """The frame's number, a new one for a new frame."""
        number = self._numbers.get((name, module))
        if number is None:
            number = self._numbers[name, module] = len(self.names)
            self.names.append(clean(name))
            self.modules.append(clean(module))
            self.canonical.append(canonical_frame(self.names[-1], self.modules[-1]))
            self.nbytes += _FRAME_BYTES + 3 * len(self.canonical[-1])
        return number

    def unknown(self, module: str) -> int:
        """The frame of an address without a name."""
        return self.number(UNKNOWN, module)
