"""What the writer says of the numbers that its store must hold (`segment_numbers.py`), as segments come and go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from necroscope.store.format.segment_numbers import (
    NAME,
    Numbers,
    SegmentNumbers,
    held_by,
    joined,
    read_held,
    without,
    write_held,
)
from necroscope.store.read.catalog import Segment
from necroscope.store.write.set_aside import segments_aside


class NumbersFile:
    """Keeps `numbers.json` up with the segments. Only the store's writer may have one."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._held = SegmentNumbers()
        self._written = False

    @property
    def highest(self) -> int:
        """The highest number that was ever sealed, as far as is known: none of them may come again."""
        return max((last for _, last in (*self._held.sealed, *self._held.lost)), default=0)

    def begin(self, segments: Sequence[Segment]) -> list[str]:
        """Look what an earlier writer sealed; what of it is not there, as sentences."""
        self._written, news = False, []
        try:
            before = read_held(self._store) or SegmentNumbers()
        except (OSError, ValueError) as error:
            news.append(f"{NAME} is damaged ({error}): whether segments were removed is unknown")
            before = SegmentNumbers()
        there = held_by((*segments, *segments_aside(self._store)))
        self._held = SegmentNumbers(before.sealed, without(before.lost, there))
        return [*news, *self.miss(without(before.sealed, joined((*there, *before.lost))))]

    def miss(self, gone: Iterable[Numbers]) -> list[str]:
        """Somebody else removed them: answers go on to say so, until retention has reached their time."""
        found = joined(gone)
        self._held = SegmentNumbers(self._held.sealed, joined((*self._held.lost, *found)))
        return [f"segments {first} to {last} are lost: somebody else removed them" for first, last in found]

    def write(self, staying: Iterable[Segment]) -> None:
        """Say what must be there: before anything else goes. On a full disk it is said afterwards."""
        held = SegmentNumbers(held_by(staying), self._held.lost)
        if held == self._held and self._written:
            return
        self._held = held
        try:
            write_held(self._store, held)
            self._written = True
        except OSError:
            self._written = False

    def forget(self, going: Iterable[Segment]) -> None:
        """Retention took these: what was lost before them would be gone by now."""
        latest = max((one.last for one in going), default=0)
        self._held = SegmentNumbers(self._held.sealed, tuple(one for one in self._held.lost if one[1] > latest))
