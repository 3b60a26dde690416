"""A store as its readers see it: sealed segments, and the rows of journals that are still being written.

Readers need no lock. They look at the journals first and at the segments afterwards, so that what is sealed in
between is seen once: in the segment.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from necroscope import clock
from necroscope.store import inbox
from necroscope.store.format.arrow import Tables
from necroscope.store.format.frames import Contents, join, read
from necroscope.store.format.manifest import Damaged, manifest_of
from necroscope.store.format.segment_numbers import expected, said_missing
from necroscope.store.lock import expected_journal
from necroscope.store.read import catalog, rollups
from necroscope.store.read.catalog import Segment
from necroscope.store.read.damage_noticed import notice
from necroscope.store.regular_file import is_regular, read_regular
from necroscope.store.write.set_aside import segments_aside
from necroscope.vocabulary.event import Window

_STILL_COMING_S = 0.05


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a store held at one moment: segments and roll-ups of a window, and all rows that were not sealed yet."""

    segments: tuple[Segment, ...]
    live: Tables
    notes: tuple[str, ...] = ()
    rollups: tuple[Segment, ...] = ()

    def holding(self, table: str) -> list[Segment]:
        """The segments that must have rows of a table, whether or not their file is still there and right; of older
        ones, those that have a file."""
        return [one for one in self.segments if _holds(one, table)]


class Store:
    """A store to read. `BadInput` for what is none, and for one of a later version."""

    def __init__(self, folder: Path) -> None:
        catalog.check_format(folder)
        self.folder = folder

    def snapshot(self, window: Window | None = None) -> Snapshot:
        """What is there now; of the segments, those that may have rows of the window."""
        waiting = inbox.waiting(self.folder)
        # Before the journals and the segments, of which one must have it then.
        named_journal = expected_journal(self.folder)
        found = {
            number: contents for number, path in catalog.journals(self.folder).items() if (contents := _read(path))
        }
        # Before the segments: one whose segments go meanwhile must not count.
        rolled = rollups.rollups(self.folder)
        held = expected(self.folder)
        segments = catalog.segments(self.folder)
        sealed = {number for number in found if any(one.first <= number <= one.last for one in segments)}
        live = {number: contents for number, contents in found.items() if number not in sealed}
        parts = [contents.tables for contents in live.values()]
        if waiting.events:
            from necroscope.store.format import rows

            parts.append({"events": rows.event_rows(event for _, event in waiting.events)})
        notes = [f"journal {number}: {contents.note}" for number, contents in live.items() if contents.note]
        if (
            named_journal is not None
            and named_journal not in found
            and not any(one.first <= named_journal <= one.last for one in segments)
        ):
            notes.append(f"journal {named_journal}: it is lost, with all rows that were not sealed yet")
        notes += [f"{path} is damaged and left out" for path in waiting.damaged]
        aside = segments_aside(self.folder)
        notes += [
            f"{one.path} is damaged and left out" for one in _nowhere_else(aside, segments) if one.overlaps(window)
        ]
        notes += said_missing(self.folder, held, segments, aside, window)
        notice(notes)
        return Snapshot(
            tuple(one for one in segments if one.overlaps(window)),
            join(parts),
            tuple(notes),
            tuple(one for one in rollups.counting(rolled, segments) if one.overlaps(window)),
        )


def _nowhere_else(aside: list[Segment], segments: list[Segment]) -> list[Segment]:
    """Segments that were set aside and whose rows are nowhere else."""
    return [one for one in aside if not any(one.first >= it.first and one.last <= it.last for it in segments)]


def _holds(segment: Segment, table: str) -> bool:
    try:
        manifest = manifest_of(segment)
    except Damaged:
        return True
    except FileNotFoundError:
        return False
    return is_regular(segment.file(table)) if manifest is None else table in manifest


def _read(path: Path) -> Contents | None:
    """A journal; None when it was sealed in the meantime. A frame that is still coming in is waited for."""
    try:
        contents = read(read_regular(path))
        if contents.note:
            clock.sleep(_STILL_COMING_S)
            contents = read(read_regular(path))
    except OSError:
        return None
    return contents
