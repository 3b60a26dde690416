"""Call chains of `perf script` as stacks: the same lines come again and again, and are taken apart once.

Lines are looked up as a whole chain first, then one by one; a line is remembered as the number of its frame. What is
remembered is bounded: when a bound bites, stacks may be handed out again, with the same ids.
"""

from __future__ import annotations

from collections.abc import Iterable

from necroscope.sense.importers.perf_script.lines import INLINED, parse_frame, parse_head
from necroscope.sense.importers.perf_script.scan import ByHash
from necroscope.sense.perf.samples import UNKNOWN, Stack
from necroscope.sense.perf.symbols.frames import MARK, FrameTable

NOT_A_CHAIN = -1
_CHAIN_BYTES = 16 << 20
_LINES = 1 << 18
_FRAMES = 1 << 18
_STACKS = 1 << 18
_DEEPEST = 1024
_NOWHERE = b" [unknown] ([unknown])"


class _OtherSample(Exception):
    """The line begins another sample."""


class _Lines(dict[bytes, int]):
    """Lines below a sample's first, as numbers of frames; `MARK` for lines that are none."""

    def __init__(self) -> None:
        super().__init__()
        self.frames = FrameTable()
        self.inlined: set[int] = set()
        self._unknown = self.frames.number(UNKNOWN, UNKNOWN)

    def __missing__(self, line: bytes) -> int:
        if line[:1] != b"\t" and (line[:1] not in (b" ", b"") or parse_head(line) is not None):
            raise _OtherSample
        if line.endswith(_NOWHERE):
            return self._unknown  # an address in no file, often another one: not worth remembering
        number = self.number(line)
        if len(self) < _LINES:
            self[line] = number
        return number

    def number(self, line: bytes) -> int:
        """The frame of a line that is not remembered."""
        frame = parse_frame(line)
        if frame is None:
            return MARK
        number = self.frames.number(*frame)
        if frame[1] == INLINED:
            self.inlined.add(number)
        return number

    def forget(self) -> None:
        self.clear()
        self.inlined.clear()
        self.frames.clear()
        self._unknown = self.frames.number(UNKNOWN, UNKNOWN)


class Chains(dict[bytes, int]):
    """All that follows a sample's event: the number of a stack in `ids`.

    `NOT_A_CHAIN` when anything follows in the first line, or another sample begins below.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[int] = []
        self.by_hash = ByHash()
        self._lines = _Lines()
        self._stacks: dict[tuple[int, ...], int] = {}
        self._fresh: list[Stack] = []
        self._bytes = 0

    def __missing__(self, text: bytes) -> int:
        number = self.of_text(text)
        if number != NOT_A_CHAIN and self._bytes < _CHAIN_BYTES:
            self._bytes += len(text) + 150
            self[text] = number
        return number

    def of_text(self, text: bytes) -> int:
        """The number of a chain, without remembering its text."""
        first, _, below = text.partition(b"\n")
        if first.strip():
            return NOT_A_CHAIN
        try:
            return self._number(tuple(map(self._lines.__getitem__, below.split(b"\n"))))
        except _OtherSample:
            return NOT_A_CHAIN

    def of_lines(self, lines: Iterable[bytes]) -> int:
        """The number of a stack whose lines were split already."""
        return self._number(tuple(map(self._lines.number, lines)))

    def take_fresh(self) -> tuple[Stack, ...]:
        """Stacks that were not handed out before."""
        fresh, self._fresh = tuple(self._fresh), []
        return fresh

    def bound(self) -> None:
        """Forget when too much is remembered; numbers handed out before mean nothing then."""
        if self._bytes >= _CHAIN_BYTES:
            self.clear()
            self._bytes = 0
        if len(self._lines) >= _LINES:
            self._lines.clear()
        if len(self._lines.frames) >= _FRAMES or len(self._stacks) >= _STACKS:
            self.forget()

    def forget(self) -> None:
        """Forget all: stacks are handed out again when they come again."""
        self.clear()
        self._bytes = 0
        self._lines.forget()
        self._stacks.clear()
        self.by_hash.clear()
        self.ids.clear()

    def _number(self, frames: tuple[int, ...]) -> int:
        number = self._stacks.get(frames)
        if number is None:
            stack = self._spell(frames)
            number = self._stacks[frames] = len(self.ids)
            self.ids.append(stack.stack_id)
            self._fresh.append(stack)
        return number

    def _spell(self, inner_first: tuple[int, ...]) -> Stack:
        """Outermost frame first. An inlined frame is in the file of the one around it; without any it is unknown."""
        table = self._lines.frames
        numbers = [number for number in inner_first[:_DEEPEST][::-1] if number != MARK]
        numbers = numbers or [table.unknown(UNKNOWN)]
        if not self._lines.inlined.isdisjoint(numbers):
            around = UNKNOWN
            for place, number in enumerate(numbers):
                if number in self._lines.inlined:
                    numbers[place] = table.number(table.names[number], around)
                else:
                    around = table.modules[number]
        return Stack.spelled(b"".join(map(table.canonical.__getitem__, numbers)))
