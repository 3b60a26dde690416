"""What a recording does not hold because nothing was recorded: after its last row, and for most of its time.

Only of what a recorder wrote. That it was stopped on purpose is no gap.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from necroscope import clock
from necroscope.clock import NS, iso
from necroscope.quantity import span
from necroscope.query.coverage import GAP_NS, joined, profiled
from necroscope.query.extent import extent_of
from necroscope.query.rows import rows_of
from necroscope.store import inbox
from necroscope.store.format.frames import HEADER_BYTES
from necroscope.store.lock import is_held, was_locked
from necroscope.store.read.catalog import Window, all_segments, journals
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.verdict import Missing

STARTED, STOPPED = "recorder-started", "recorder-stopped"
_MOST = 0.5
# A recorder writes every second; on a machine that is held up, less often.
_LATE_NS = 20 * NS
_FOREVER = 0, (1 << 63) - 1
_MS_NS = 1_000_000


def unrecorded(store: Path, snapshot: Snapshot, notes: list[str]) -> list[Missing]:
    """What is missing from a recording, whatever is in the rest of it. Empty for what no recorder wrote."""
    ran = _ran(snapshot, notes)
    if not ran:
        return []
    return [*_after(store, snapshot, ran, notes), *_within(snapshot, ran, notes)]


def nothing_written(store: Path) -> Missing | None:
    """What is missing of a store without any row that somebody wrote; None when nobody ever did."""
    if not was_locked(store) or all_segments(store) or inbox.waiting(store).events:
        return None
    if any(_rows_in(path) for path in journals(store).values()):
        return None
    hint = "see whether its disk is full (`df`), and whether the recorder runs"
    return Missing(f"nothing of what was to be written to {store} is there", hint)


def _rows_in(journal: Path) -> bool:
    try:
        return journal.stat().st_size > HEADER_BYTES
    except OSError:
        return False


def _ran(snapshot: Snapshot, notes: list[str]) -> list[tuple[int, str]]:
    """When recorders began and ended, oldest first; the last one may not have ended."""
    rows = rows_of(
        snapshot, "events", _FOREVER, ["at_ns", "kind"], lambda row: row["kind"] in (STARTED, STOPPED), notes=notes
    )
    return [(row["at_ns"], row["kind"]) for row in rows]


def _after(store: Path, snapshot: Snapshot, ran: list[tuple[int, str]], notes: list[str]) -> list[Missing]:
    """The time after the last row, where the recorder was not stopped."""
    last_ns = max(ran[-1][0], _looked(snapshot, notes)[1])
    alive = is_held(store)
    # Without a lock it is a part of a store, which ends where it was cut.
    if ran[-1][1] == STOPPED or alive is None or (alive and clock.now().realtime_ns - last_ns < _LATE_NS):
        return []
    why = "the recorder writes nothing" if alive else "the recorder ended without a clean shutdown"
    what = f"what happened after {iso(last_ns)}: {why}, and nothing later is in the recording"
    return [Missing(what, "see whether the disk of the store is full, and what ended the recorder")]


def _within(snapshot: Snapshot, ran: list[tuple[int, str]], notes: list[str]) -> list[Missing]:
    """Most of the time that the recorder ran, where neither samples nor counters of the cores are there."""
    running = _running(_looked(snapshot, notes), ran)
    length = _length(running)
    seen = _length(_common(running, profiled(snapshot)))
    if length > GAP_NS and seen < _MOST * length:
        seen = _length(_common(running, joined([*profiled(snapshot), *_counted(snapshot, notes)])))
    if length <= GAP_NS or seen >= _MOST * length:
        return []
    lost = f"{span((length - seen) / NS)} of {span(length / NS)}"
    what = f"what the cores did for {lost}: neither samples nor counters of that time are in the recording"
    return [Missing(what, "`necroscope events --kind recorder-gap` shows why, where the recorder knew")]


def _running(looked: Window, ran: Iterable[tuple[int, str]]) -> list[Window]:
    """The time that is recorded, without that between a recorder that was stopped and the next one."""
    found, begin = [], looked[0]
    stopped = False
    for at_ns, kind in ran:
        if kind == STOPPED and not stopped:
            found.append((begin, max(begin, at_ns)))
        elif kind == STARTED and stopped:
            begin = at_ns
        stopped = kind == STOPPED
    return found if stopped else [*found, (begin, max(begin, looked[1]))]


def _looked(snapshot: Snapshot, notes: list[str]) -> Window:
    """First and last look of any sensor, or sample."""
    return extent_of(snapshot, ("ticks", "samples"), notes) or (0, 0)


def _counted(snapshot: Snapshot, notes: list[str]) -> list[Window]:
    """When somebody looked at the counters of the cores."""
    rows: list[Any] = rows_of(snapshot, "cores", _FOREVER, ["at_ns", "passed_ms"], notes=notes)
    return joined({(row["at_ns"] - row["passed_ms"] * _MS_NS, row["at_ns"]) for row in rows})


def _common(these: Iterable[Window], those: list[Window]) -> list[Window]:
    both = ((max(a[0], b[0]), min(a[1], b[1])) for a in these for b in those)
    return [one for one in both if one[0] < one[1]]


def _length(windows: Iterable[Window]) -> int:
    return sum(high - low for low, high in windows)
