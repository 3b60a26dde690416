"""Times that somebody wrote into the name of a file: of a recording, `perf-node7-20260102-03-04-05-120s.data`, and of a
log whose lines name no year, `kern.log-20261116.gz`.

The time of a recording is taken for its start, as `-o perf-$(date +%Y%m%d-%H-%M-%S).data` makes it. `perf record
--switch-output` names its files by their end: `perf.data.2026010203040512`. Dates without a time of day tell nothing of
recordings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

NS = 1_000_000_000

_SWITCHED = re.compile(r"\.(20\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?!\d)")
_DATED = re.compile(
    r"(?<!\d)(20\d\d)([-_.]?)(\d\d)\2(\d\d)[-_.T ]?(\d\d)([-_.:h]?)(\d\d)(?:[-_.:m]?(\d\d))?"
    r"(?:Z|(?P<zone>[+-]\d\d:?\d\d))?(?!\d)"
)
_EPOCH = re.compile(r"(?<!\d)(1\d{9})(?!\d)")
_DAY = re.compile(r"(?<!\d)(20\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])")


@dataclass(frozen=True, slots=True)
class NamedTime:
    """`at_ns` is UTC where `zoned`, else as if the name's clock were. `ends`: of the end, not of the start. What the
    name leaves out makes it uncertain by `within_s`."""

    at_ns: int
    zoned: bool = False
    ends: bool = False
    within_s: int = 2


def day_in_name(name: str) -> date | None:
    """The first day in a name, with or without a time behind it; None when there is none."""
    for found in _DAY.finditer(name[-255:]):
        try:
            return date(int(found[1]), int(found[3]), int(found[4]))
        except ValueError:
            continue
    return None


def time_in_name(name: str) -> NamedTime | None:
    """The first whole time in a file's name; None when there is none."""
    name = name[-512:]
    if found := _SWITCHED.search(name):
        *parts, hundredths = map(int, found.groups())
        at_ns = _at(*parts)
        return None if at_ns is None else NamedTime(at_ns + hundredths * NS // 100, ends=True)
    for dated in _DATED.finditer(name):
        year, _, month, day, hour, _, minute, second, zone = dated.groups()
        at_ns = _at(*map(int, (year, month, day, hour, minute, second or "0")))
        if at_ns is not None:
            zoned = zone is not None or dated[0].endswith("Z")
            return NamedTime(at_ns - zone_ns(zone or "+00:00"), zoned, within_s=2 if second else 60)
    if epoch := _EPOCH.search(name):
        return NamedTime(int(epoch[1]) * NS, zoned=True)
    return None


def zone_ns(text: str) -> int:
    """`+05:30` or `-0800` in nanoseconds east of UTC; `ValueError` for what is no zone."""
    found = re.fullmatch(r"([+-])(\d\d):?([0-5]\d)", text)
    if found is None or int(found[2]) > 14:
        raise ValueError(f"{text!r} is no zone")
    return (-1 if found[1] == "-" else 1) * (int(found[2]) * 3600 + int(found[3]) * 60) * NS


def zone_said(east_ns: int) -> str:
    """A zone in words: UTC, UTC+05:30."""
    minutes = abs(east_ns) // (60 * NS)
    return f"UTC{'+' if east_ns > 0 else '-'}{minutes // 60:02d}:{minutes % 60:02d}" if minutes else "UTC"


def clock_said(at_ns: int) -> str:
    """A time as clocks show it, to the second."""
    return f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=at_ns // NS):%Y-%m-%d %H:%M:%S}"


def _at(*parts: int) -> int | None:
    try:
        return int(datetime(*parts, tzinfo=UTC).timestamp()) * NS  # type: ignore[misc,arg-type]
    except ValueError:
        return None
