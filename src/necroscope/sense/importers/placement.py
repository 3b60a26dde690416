"""When a recording was made whose clock counts from boot: the best witness there is, and how sure it is.

    1. what the user says                   exact
    2. both clocks, where perf noted them   exact
    3. the time in the file's name          its first sample was taken then (or its last: see `file_name_times`)
    4. `captured on` of `perf script`       its last sample was taken then
    5. the date of the file                 its last sample was taken then

Copies lose their date, and names tell local time. The name's zone is the one that is given, else one that the date of
the recording fits to within seconds, else UTC. A name that contradicts `captured on` is not believed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from necroscope.sense.importers.file_name_times import NS, NamedTime, clock_said, time_in_name, zone_said
from necroscope.sense.importers.source import Placing

_BEFORE_NS, _WRITTEN_NS, _LATE_NS = 3 * NS, 20 * NS, 120 * NS
"""A recording is closed so much after its last sample: build ids are read then."""
_HALF_HOUR_NS, _QUARTER_NS, _FARTHEST_NS = 1800 * NS, 900 * NS, 14 * 3600 * NS
_APART_NS = 26 * 3600 * NS


WHEN = "when it was recorded"
"""How sentences about a placement begin."""


@dataclass(frozen=True, slots=True)
class Placement:
    """What makes UTC of a recording's times. `said` is a sentence about it; empty where it is exact."""

    offset_ns: int
    exact: bool = True
    said: str = ""


@dataclass(frozen=True, slots=True)
class Clocks:
    """What there is to know about a recording's time. `offset_ns`: perf noted both clocks; `captured_ns`: its end, as
    the clock on the wall showed it; `recorded_ns` the date of the file that perf itself wrote, `modified_ns` that of
    the file that is read. First and last sample are asked for when they are needed."""

    name: str
    first_ns: Callable[[], int]
    last_ns: Callable[[], int]
    modified_ns: int
    recorded_ns: int | None = None
    captured_ns: int | None = None
    offset_ns: int | None = None


def placement(clocks: Clocks, placing: Placing) -> Placement:
    """The best placement there is."""
    if placing.clock_offset_ns is not None:
        return Placement(placing.clock_offset_ns)
    if placing.at_ns is not None:
        return Placement(placing.at_ns - clocks.first_ns())
    if clocks.offset_ns is not None:
        return Placement(clocks.offset_ns)
    named = time_in_name(clocks.name)
    if named is not None and not _contradicted(named, clocks):
        return _by_name(named, clocks, placing)
    if clocks.captured_ns is not None:
        return _by_header(clocks, clocks.captured_ns, placing)
    said = f"{WHEN} is guessed from the file's date, {clock_said(clocks.modified_ns)} UTC"
    return Placement(clocks.modified_ns - clocks.last_ns(), False, f"{said}: a copy may have a later one (--at)")


def _by_name(named: NamedTime, clocks: Clocks, placing: Placing) -> Placement:
    east_ns, why = (0, "as it says") if named.zoned else _zone(named, clocks, placing)
    at_ns = named.at_ns - east_ns
    sample_ns = clocks.last_ns() if named.ends else clocks.first_ns()
    shown = f"{clock_said(named.at_ns)} {zone_said(east_ns)}, {why}"
    said = f"{WHEN} is in the file's name: {shown}; give or take {named.within_s} s"
    return Placement(at_ns - sample_ns, False, said)


def _by_header(clocks: Clocks, captured_ns: int, placing: Placing) -> Placement:
    east_ns, why = (placing.zone_ns, "as given") if placing.zone_ns is not None else (0, "as no zone is given (--zone)")
    shown = f"{clock_said(captured_ns)} {zone_said(east_ns)}, {why}"
    said = f"{WHEN} is taken from its header: {shown}; give or take 5 s"
    return Placement(captured_ns - east_ns - clocks.last_ns(), False, said)


def _zone(named: NamedTime, clocks: Clocks, placing: Placing) -> tuple[int, str]:
    """Nanoseconds east of UTC, and how that is known."""
    if placing.zone_ns is not None:
        return placing.zone_ns, "as given"
    if clocks.recorded_ns is not None:
        west_ns, rest_ns = _nearest(clocks.recorded_ns - _end_ns(named, clocks), _HALF_HOUR_NS)
        if -_BEFORE_NS <= rest_ns <= _WRITTEN_NS and abs(west_ns) <= _FARTHEST_NS:
            return -west_ns, "which fits the file's date"
    return 0, "as no zone is given (--zone)"


def _contradicted(named: NamedTime, clocks: Clocks) -> bool:
    """Whether the header tells another time: the same clock, or one of another zone, would show the end about then."""
    if clocks.captured_ns is None:
        return False
    apart_ns = clocks.captured_ns - _end_ns(named, clocks)
    _, rest_ns = _nearest(apart_ns, _QUARTER_NS)
    slack_ns = named.within_s * NS
    return abs(apart_ns) > _APART_NS or not -_BEFORE_NS - slack_ns <= rest_ns <= _LATE_NS + slack_ns


def _end_ns(named: NamedTime, clocks: Clocks) -> int:
    """The end of the recording on the name's clock."""
    return named.at_ns if named.ends else named.at_ns + clocks.last_ns() - clocks.first_ns()


def _nearest(value_ns: int, step_ns: int) -> tuple[int, int]:
    """A multiple of the step and what is left; the most of the latter is above zero, as files are closed late."""
    count = (value_ns + 2 * _BEFORE_NS) // step_ns
    return count * step_ns, value_ns - count * step_ns
