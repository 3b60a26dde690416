"""Dates and times of day as sysstat prints them: by the locale, without a zone, the date once for a whole file.

The date stands at the host and is that of the start: the first interval may end on the next day. A date that can be
read in two ways, and a file without one, is put near the day on which the file was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

from necroscope.sense.importers.file_name_times import day_in_name

S = 1_000_000_000
DAY_S = 86_400
_NUMBERS = re.compile(r"\D{0,9}(\d{1,4})(\D{1,3})(\d{1,2})\D{1,3}(\d{1,4})\D{0,9}", re.ASCII)
_TIME = re.compile(
    r"(?P<before>\D{0,9})(?P<h>\d{1,2})(?:\D{1,3})(?P<m>[0-5]\d)(?:\D{1,3})(?P<s>[0-6]\d)(?P<after>\D{0,9})", re.ASCII
)
_EPOCH = re.compile(r"\d{9,11}", re.ASCII)
_AFTERNOON = ("pm", "p.m.", "下午", "오후", "午後", "μμ")
_MORNING = ("am", "a.m.", "上午", "오전", "午前", "πμ")


@dataclass(frozen=True, slots=True)
class Stamp:
    """When an interval ended: seconds since 1970, as if its clock showed UTC, or since midnight where `dated` is False.
    `length_s` is 0 where it is not known. `utc`: None where the file does not say."""

    at_s: int
    dated: bool
    length_s: int = 0
    utc: bool | None = None


def read_stamp(stamp: Any) -> Stamp | None:
    """The timestamp of an entry: mpstat's text, sadf's object; None when it is neither."""
    if not isinstance(stamp, dict):
        second = time_of_day(stamp)
        return None if second is None else Stamp(second, False)
    length = stamp.get("interval")
    length_s = length if isinstance(length, int) and 0 < length <= DAY_S else 0
    zone = stamp.get("tz")
    utc = bool(stamp["utc"]) if isinstance(stamp.get("utc"), int) else zone == "UTC" if isinstance(zone, str) else None
    clock_time = stamp.get("time")
    if isinstance(clock_time, str) and _EPOCH.fullmatch(clock_time):
        return Stamp(int(clock_time), True, length_s, True)
    second, days = time_of_day(clock_time), dates(stamp.get("date"))
    return Stamp(midnight_s(days[0]) + second, True, length_s, utc) if second is not None and days else None


def time_of_day(text: Any) -> int | None:
    """Seconds since midnight, on clocks of 24 or 12 hours; None for what is no time."""
    found = _TIME.fullmatch(text) if isinstance(text, str) and len(text) < 40 else None
    if found is None:
        return None
    hour, half = int(found["h"]), f"{found['before']} {found['after']}".lower()
    afternoon = any(word in half for word in _AFTERNOON)
    if afternoon or any(word in half for word in _MORNING):
        hour = hour % 12 + (12 if afternoon else 0)
    return hour * 3600 + int(found["m"]) * 60 + int(found["s"]) if hour < 24 else None


def dates(text: Any) -> list[date]:
    """The days that a date may mean, the likeliest first."""
    found = _NUMBERS.fullmatch(text) if isinstance(text, str) and len(text) < 40 else None
    if found is None:
        return []
    one, mark, two, three = found[1], found[2], found[3], found[4]
    if len(one) == 4:
        orders = [(one, two, three)]
    else:
        by_day, by_month = (three, two, one), (three, one, two)
        orders = [by_month, by_day] if mark == "/" else [by_day, by_month]
        orders += [(one, two, three)] if len(three) < 3 else []
    days = (_day(*map(int, order)) for order in orders)
    return list(dict.fromkeys(day for day in days if day is not None))


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year + 2000 if year < 100 else year, month, day)
    except ValueError:
        return None


def midnight_s(day: date) -> int:
    """When a day began, on a clock that shows UTC."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


@dataclass(frozen=True, slots=True)
class FirstDay:
    """The day of the first interval's end, and how it is known: a sentence, empty where the file says it plainly."""

    day: date
    said: str = ""


def first_day(
    header: Any, at_ns: int | None, name: str, written_ns: int | None, ends: Iterable[Stamp]
) -> FirstDay | None:
    """The day of the first of `ends`, which tell the time of day only: by the user's word, the file's header, its name,
    the day on which it was written."""
    stamps = list(ends)
    if at_ns is not None:
        return FirstDay(datetime.fromtimestamp(at_ns // S, UTC).date())
    # The header tells the day of the start.
    later = timedelta(days=int(bool(stamps) and stamps[0].at_s < stamps[0].length_s))
    days = dates(header)
    if len(days) == 1 or (days and written_ns is None):
        return FirstDay(days[0] + later)
    if days and written_ns is not None:
        day = min(days, key=lambda one: _far(one, written_ns))
        return FirstDay(day + later, f"its date, {header}, is read as {day}, the nearest to when the file was written")
    named = day_in_name(name)
    if named is not None:
        return FirstDay(named, f"it has no date that is understood; {named} is taken from its name")
    if written_ns is None:
        return None
    nights = sum(after.at_s + DAY_S // 2 < before.at_s for before, after in pairwise(stamps))
    last_s = stamps[-1].at_s if stamps else 0
    ended_s = last_s + DAY_S * round((written_ns // S - last_s) / DAY_S)
    day = datetime.fromtimestamp(ended_s - nights * DAY_S, UTC).date()
    return FirstDay(day, f"it has no date that is understood; {day} is taken from when the file was written")


def _far(day: date, written_ns: int) -> float:
    """How far a day is from when a file was written; files are not written before what they tell happened."""
    ahead_s = midnight_s(day) - written_ns // S
    return -ahead_s if ahead_s <= DAY_S else ahead_s * 1000.0
