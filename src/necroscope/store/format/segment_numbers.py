"""Which numbers a store must hold, so that a segment that somebody else removed is missed, and one that retention took
is not.

    STORE/numbers.json    {"held": [[FIRST, LAST], ...], "lost": [[FIRST, LAST], ...], "check": CRC-32}

Numbers are those of journals, as segments name them. `held` are those that are sealed; `lost` those that were found
missing. The writer adds what it sealed after it is there, and takes out what it removes before it goes: a crash in
between makes nobody miss anything. `check` is over the JSON of both lists. Merging changes nothing.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from necroscope.clock import iso
from necroscope.store.private_files import write_synced
from necroscope.store.read.catalog import Segment, Window, sync_path, version_of
from necroscope.store.regular_file import read_regular

NAME = "numbers.json"
SINCE = 3
"""The first format version of which every written store has the file."""

_BYTES = 1 << 20
_LAST_NS = (1 << 63) - 1
Numbers = tuple[int, int]
"""First and last, both inclusive."""


@dataclass(frozen=True, slots=True)
class SegmentNumbers:
    """What a store must hold, and what was found missing; both in order."""

    sealed: tuple[Numbers, ...] = ()
    lost: tuple[Numbers, ...] = ()


def held_by(segments: Iterable[Segment]) -> tuple[Numbers, ...]:
    """The numbers of segments."""
    return joined((one.first, one.last) for one in segments)


def joined(found: Iterable[Numbers]) -> tuple[Numbers, ...]:
    """In order; those that follow each other are one."""
    made: list[Numbers] = []
    for first, last in sorted(found):
        if made and first <= made[-1][1] + 1:
            made[-1] = made[-1][0], max(made[-1][1], last)
        else:
            made.append((first, last))
    return tuple(made)


def without(these: Iterable[Numbers], those: Sequence[Numbers]) -> tuple[Numbers, ...]:
    """The numbers of these that are not among those."""
    left = list(joined(these))
    for first, last in those:
        left = [
            part
            for low, high in left
            for part in ((low, min(high, first - 1)), (max(low, last + 1), high))
            if part[0] <= part[1]
        ]
    return joined(left)


def read_held(store: Path) -> SegmentNumbers | None:
    """What a store must hold; None where it does not say. ValueError: it cannot be believed. OSError."""
    try:
        document = json.loads(read_regular(store / NAME, _BYTES))
        held = SegmentNumbers(_numbers(document["held"]), _numbers(document["lost"]))
        right = document["check"] == _check(held)
    except FileNotFoundError:
        return None
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError("it cannot be understood") from error
    if not right:
        raise ValueError("it is not what was written")
    return held


def write_held(store: Path, held: SegmentNumbers) -> None:
    """Say what the store must hold; survives the machine. Raises OSError."""
    document = {"held": held.sealed, "lost": held.lost, "check": _check(held)}
    temporary = store / f".{NAME}"
    write_synced(temporary, json.dumps(document).encode() + b"\n")
    temporary.rename(store / NAME)
    sync_path(store)


def expected(store: Path) -> SegmentNumbers | str | None:
    """What a store must hold, to be read before its segments are listed; a sentence where that is unknown."""
    try:
        held = read_held(store)
    except (OSError, ValueError) as error:
        return f"{store / NAME} is damaged ({error}): {_BLIND}"
    if held is None and _must_be_there(store):
        return f"{store / NAME} is lost: {_BLIND}"
    return held


def missing(store: Path, before: SegmentNumbers | None, there: Iterable[Segment]) -> tuple[Numbers, ...]:
    """The numbers that were sealed, that no writer removed, and that are not there. `there`: also what is set aside."""
    present = held_by(there)
    if before is None or not (gone := _gone(before, present)):
        return ()
    now = expected(store)  # retention says first what it removes
    return _gone(now, present) if isinstance(now, SegmentNumbers) else gone


def said_missing(
    store: Path,
    before: SegmentNumbers | str | None,
    segments: Sequence[Segment],
    aside: Sequence[Segment],
    window: Window | None = None,
) -> list[str]:
    """`missing` in words, of what may have had rows of a window; also that it is unknown."""
    if isinstance(before, str):
        return [before]
    gone = missing(store, before, (*segments, *aside))
    return [_words(one, segments) for one in gone if _near(one, segments, window)]


def _gone(held: SegmentNumbers, present: tuple[Numbers, ...]) -> tuple[Numbers, ...]:
    return joined((*without(held.sealed, present), *without(held.lost, present)))


_BLIND = "whether segments were removed is unknown"


def _must_be_there(store: Path) -> bool:
    """Whether a writer of a version that writes the file was here; parts of a store, such as bundles, have no lock."""
    return (store / "lock").exists() and version_of(store) >= SINCE


def _words(gone: Numbers, segments: Sequence[Segment]) -> str:
    numbers = f"segment {gone[0]} is" if gone[0] == gone[1] else f"segments {gone[0]} to {gone[1]} are"
    low, high = _between(gone, segments)
    after = f" after {iso(low)}" if low else ""
    before = f" before {iso(high)}" if high < _LAST_NS else ""
    return f"{numbers} lost, with all rows{after}{' and' if after and before else ''}{before}: removed by somebody else"


def _near(gone: Numbers, segments: Sequence[Segment], window: Window | None) -> bool:
    low, high = _between(gone, segments)
    return window is None or (low <= window[1] and high >= window[0])


def _between(gone: Numbers, segments: Sequence[Segment]) -> Window:
    """When the rows may have been: from the segment before to the one after. Imports come in any order of time."""
    before = max((one for one in segments if one.last < gone[0]), default=None)
    after = min((one for one in segments if one.first > gone[1]), default=None)
    low, high = before.to_ns if before else 0, after.from_ns if after else _LAST_NS
    return (low, high) if low <= high else (0, _LAST_NS)


def _numbers(value: object) -> tuple[Numbers, ...]:
    if not isinstance(value, list):
        raise TypeError("no list")
    return joined((int(first), int(last)) for first, last in value)


def _check(held: SegmentNumbers) -> int:
    return zlib.crc32(json.dumps([held.sealed, held.lost]).encode())
