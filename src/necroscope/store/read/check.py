"""Whether a store is what its recorder wrote: every byte of what is sealed, every frame of what is not.

What was damaged can be set aside, segment by segment: answers then lack its rows, and go on to say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from necroscope import clock
from necroscope.errors import NecroscopeError
from necroscope.store import inbox
from necroscope.store.format.frames import read
from necroscope.store.format.sealed_file import damage_of
from necroscope.store.format.segment_numbers import expected, said_missing
from necroscope.store.lock import expected_journal
from necroscope.store.read.catalog import (
    Segment,
    all_segments,
    check_format,
    current,
    journal_number,
    journals,
    parse_segment,
)
from necroscope.store.read.rollups import rollups
from necroscope.store.regular_file import is_regular, read_regular
from necroscope.store.write.set_aside import bytes_below, segments_aside, set_aside
from necroscope.vocabulary.event import Event

_STILL_COMING_S = 0.05
_IN_A_STORE = frozenset(
    {
        "format.json",
        "lock",
        "segments",
        "journal",
        "rollups",
        "inbox",
        "imported",
        "aside",
        "perf-options.json",
        "numbers.json",
        # what a recorder that serves metrics leaves when it is killed
        "metrics.prom",
    }
)


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that is not what was written. `path` is within the store; `aside`, where it is now, if it was moved."""

    path: Path
    what: str
    aside: Path | None = None


@dataclass(slots=True)
class Checked:
    """What a store was found to be. `unverifiable` are parts of earlier versions, which have no manifest; `foreign`
    what does not belong into a store; `aside` the segments that were set aside before."""

    parts: int = 0
    bytes: int = 0
    damaged: list[Damage] = field(default_factory=list)
    unverifiable: list[Path] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    foreign: list[Path] = field(default_factory=list)
    aside: list[Path] = field(default_factory=list)


def check_store(store: Path, on_progress: Callable[[float], None] = lambda done: None, move: bool = False) -> Checked:
    """Read all of a store. `move`: set damaged segments and roll-ups aside. `BadInput` for what is none."""
    check_format(store)
    found = Checked(aside=[one.path.relative_to(store) for one in segments_aside(store)])
    held = expected(store)
    sealed = [*current(all_segments(store)), *rollups(store)]
    for done, segment in enumerate(sealed):
        on_progress(done / (len(sealed) + 1))
        _check_segment(store, segment, found, move)
    for number, path in journals(store).items():
        if not any(one.first <= number <= one.last for one in sealed):
            _check_journal(store, path, found)
    named = expected_journal(store)
    if named is not None and named not in journals(store) and not any(one.first <= named <= one.last for one in sealed):
        found.damaged.append(Damage(Path("journal") / f"{named:08d}.journal", "it is lost"))
    for words in said_missing(store, held, current(all_segments(store)), segments_aside(store)):
        found.damaged.append(Damage(Path("segments"), words))
    for path in inbox.waiting(store).damaged:
        found.damaged.append(Damage(path.relative_to(store), "it is no event, or not what was put there"))
    found.foreign += [path.relative_to(store) for path in _foreign(store)]
    if move and any(one.aside for one in found.damaged):
        _record_event(store, found)
    on_progress(1.0)
    return found


def _check_segment(store: Path, segment: Segment, found: Checked, move: bool) -> None:
    bad = damage_of(segment)
    if not segment.path.exists():
        return  # merged or removed meanwhile
    found.parts += 1
    found.bytes += bytes_below(segment.path)
    if bad:
        place = set_aside(store, segment.path).relative_to(store) if move else None
        found.damaged.append(Damage(segment.path.relative_to(store), ", ".join(bad), place))
    elif segment.check is None:
        found.unverifiable.append(segment.path.relative_to(store))


def _check_journal(store: Path, path: Path, found: Checked) -> None:
    try:
        note = read(read_regular(path)).note
        if note:  # a frame may still be coming in
            clock.sleep(_STILL_COMING_S)
            note = read(read_regular(path)).note
        found.parts += 1
        found.bytes += path.lstat().st_size
    except FileNotFoundError:
        return  # sealed meanwhile
    except OSError as error:
        found.unreadable.append(f"{path.relative_to(store)}: {error.strerror}")
        return
    if note:
        found.damaged.append(Damage(path.relative_to(store), note))


def _foreign(store: Path) -> Iterator[Path]:
    """What readers and writers pass over."""
    for path in _listed(store):
        if path.name not in _IN_A_STORE:
            yield path
    for path in (*_listed(store / "segments"), *_listed(store / "rollups")):
        if parse_segment(path) is None or path.is_symlink() or not path.is_dir():
            yield path
    for path in _listed(store / "journal"):
        if journal_number(path.name) is None or not is_regular(path):
            yield path


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return []


def _record_event(store: Path, found: Checked) -> None:
    """On the timeline of the store. Not later than its rows: the event must not make them old."""
    newest_ns = max((one.to_ns for one in all_segments(store)), default=clock.now().realtime_ns)
    moved = [f"{one.path} ({one.what})" for one in found.damaged if one.aside]
    text = f"damaged and set aside by `necroscope verify`: {'; '.join(moved)}"
    event = Event(min(clock.now().realtime_ns, newest_ns), "store-damaged", "recorder", "store", text[: inbox.MAX_TEXT])
    try:
        inbox.put(store, event)
    except NecroscopeError as error:
        found.unreadable.append(f"inbox: {error.message}")
