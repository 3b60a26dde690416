"""When anybody took samples. What lies between these stretches was not looked at: it is unknown, and never a zero.

From the statistics of row groups; those that have few samples for their length, and so may have a hole inside, are
looked into, up to a bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.query.sealed import damage, opened
from necroscope.store.read.catalog import Segment
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window

# Also an idle node is sampled more often than that, by whoever records it.
GAP_NS = 5 * NS
# A window that ends so little after the last sample is looked at to its end: samples are some time apart.
_NEAR_NS = NS // 4
_MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class _Group:
    """A row group that may have a hole."""

    segment: Segment
    number: int
    span: Window
    rows: int

    @property
    def density(self) -> float:
        """Samples by time."""
        return self.rows / (self.span[1] - self.span[0] + 1)


def profiled(snapshot: Snapshot, window: Window | None = None) -> list[Window]:
    """Stretches of time in which samples were taken, whoever they are of, in order. `window`: only near it is looked.

    A file that was merged away meanwhile raises `FileNotFoundError`; damaged ones are left out.
    """
    groups = [group for segment in snapshot.segments if segment.overlaps(window) for group in _groups(segment)]
    found: list[Window] = []
    left = _MOST_ROWS
    for group in sorted(groups, key=lambda one: one.density):
        long = group.span[1] - group.span[0] > GAP_NS
        left -= group.rows if long else 0
        found += _inside(group) if long and left >= 0 else [group.span]
    live = snapshot.live.get("samples")
    if live is not None and live.num_rows:
        found += _stretches(live["at_ns"].to_numpy())
    return joined(found)


def joined(stretches: Iterable[Window], gap_ns: int = GAP_NS) -> list[Window]:
    """In order; those that lie as close together as this are one."""
    made: list[Window] = []
    for low, high in sorted(stretches):
        if made and low - made[-1][1] <= gap_ns:
            made[-1] = made[-1][0], max(made[-1][1], high)
        else:
            made.append((low, high))
    return made


def covered_s(window: Window, stretches: Sequence[Window]) -> float:
    """How many seconds of a window lie in the stretches."""
    total = 0
    for low, high in stretches:
        begin = window[0] if low - _NEAR_NS <= window[0] else low
        end = window[1] if high + _NEAR_NS >= window[1] else high
        total += max(0, end - begin + 1)
    return total / NS


def _groups(segment: Segment) -> list[_Group]:
    with damage(segment.file("samples"), []):
        file = opened(segment, "samples")
        if file is not None:
            with file:
                return _of_metadata(segment, file.metadata)
    return []


def _of_metadata(segment: Segment, metadata: Any) -> list[_Group]:
    column = metadata.schema.to_arrow_schema().get_field_index("at_ns")
    found = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        statistics = group.column(column).statistics
        known = statistics is not None and statistics.has_min_max
        span = (statistics.min, statistics.max) if known else (segment.from_ns, segment.to_ns)
        found.append(_Group(segment, number, span, group.num_rows))
    return found


def _inside(group: _Group) -> list[Window]:
    with damage(group.segment.file("samples"), []):
        file = opened(group.segment, "samples")
        if file is not None:
            with file:
                table = file.read_row_group(group.number, columns=["at_ns"], use_threads=False)
                return _stretches(table["at_ns"].to_numpy())
    return []


def _stretches(at_ns: NDArray[np.int64]) -> list[Window]:
    times = np.sort(at_ns)
    after = np.flatnonzero(np.diff(times) > GAP_NS)
    begins = times[np.concatenate([[0], after + 1])] if times.size else times
    ends = times[np.concatenate([after, [times.size - 1]])] if times.size else times
    return list(zip(begins.tolist(), ends.tolist(), strict=True))
