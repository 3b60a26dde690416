"""Instants as people write them: ISO 8601, epoch, `now`, `-5m`, `14:03:07`.

One rule for every verb: what has no zone is local, a time of day is its most recent occurrence, and both are repeated
in UTC on stderr. On a bundle, `now` is the end of its recording.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from necroscope.clock import LAST_NS, NS, iso
from necroscope.errors import BadInput

RULE = (
    "Times: -5m, now, 14:03:07 (its most recent occurrence), 2026-01-02T14:03:07, or an epoch in seconds. Without a "
    "zone (Z, +02:00) they are local; what is printed is UTC. With --bundle, -5m and now count from the end of its "
    "recording."
)
"""The rule as the help of every verb that takes a time ends with it."""
_AGO = re.compile(r"-(\d+(?:\.\d+)?)(ms|s|m|min|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, None: 1.0}
_OF_DAY = re.compile(r"(\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?")
_ZONED = re.compile(r"(?:Z|[+-]\d{2}:?\d{2})$")
_EPOCH = re.compile(r"\d{9,}(\.\d+)?")
_NANOSECONDS_FROM = 10**15
_EPOCH_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)


class Zone(click.ParamType[int]):
    """A zone as nanoseconds east of UTC: -08:00, +0530."""

    name = "zone"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from necroscope.sense.importers.file_name_times import zone_ns

        if isinstance(value, int):
            return value
        try:
            return zone_ns(str(value).strip())
        except ValueError:
            self.fail(f"{value!r} is no zone; write -08:00 or +05:30", param, ctx)


class Moment(int):
    """UTC nanoseconds of an instant, as of now, and how somebody wrote it, at which option."""

    written: str
    option: str

    def __new__(cls, written: str, option: str, now: datetime) -> Moment:
        made = super().__new__(cls, parse_instant(written, now))
        made.written, made.option = written, option
        return made

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        """A copy is a plain number: only options need to know how it was written."""
        return int, (int(self),)

    @property
    def relative(self) -> bool:
        """Whether it depends on when it is asked: -5m, now, 14:03:07."""
        return self.written == "now" or bool(_AGO.fullmatch(self.written) or _OF_DAY.fullmatch(self.written))

    def seen_from(self, end_ns: int) -> Moment:
        """The same words, said at another time: at the end of a recording."""
        try:
            return Moment(self.written, self.option, _EPOCH_BEGIN + timedelta(microseconds=end_ns // 1000))
        except OverflowError as error:
            raise BadInput(f"{self.option} {self.written} is before all times.", "give a shorter time") from error

    def in_utc(self, of_bundle: bool) -> str:
        """The instant in UTC, where its words alone do not tell it; else empty."""
        said = f"{self.option} {self.written} is {iso(self)}"
        if of_bundle and (self.written == "now" or _AGO.fullmatch(self.written)):
            return f"{said}, from the end of the bundle"
        zone = "" if self._has_zone else f"{datetime.fromtimestamp(self // NS).astimezone():%z}"
        if zone.strip("+-0"):
            return f"{said} (local time is UTC{zone})"
        return said if _OF_DAY.fullmatch(self.written) else ""

    @property
    def _has_zone(self) -> bool:
        words = self.written
        return words == "now" or bool(_AGO.fullmatch(words) or _EPOCH.fullmatch(words) or _ZONED.search(words))


class Instant(click.ParamType[int]):
    """UTC nanoseconds of an instant. Without a zone it is local time; a time of day is its most recent occurrence."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        option = param.opts[0] if param is not None else ""
        try:
            at_ns = Moment(str(value).strip(), option, datetime.now(UTC))
        except (ValueError, OverflowError, OSError):
            hint = "write 2026-01-02T03:04:05Z, 14:03:07, -5m, now or an epoch"
            self.fail(f"{value!r} is not a valid time; {hint}", param, ctx)
        if not 0 <= at_ns < LAST_NS:
            self.fail(f"{value!r} is out of range: times lie from 1970 to 2261", param, ctx)
        return at_ns


def in_utc(values: Iterable[object], of_bundle: bool = False) -> list[str]:
    """What to tell of the instants among these values, so that nobody takes local time for UTC."""
    said = (value.in_utc(of_bundle) for value in values if isinstance(value, Moment))
    return [one for one in said if one]


def refuse_backwards(from_ns: int | None, to_ns: int | None, options: str) -> None:
    """A window that ends before it begins would show nothing, as if nothing had happened."""
    if from_ns is not None and to_ns is not None and from_ns > to_ns:
        raise BadInput("The window ends before it begins.", f"look at {options}")


def parse_instant(text: str, now: datetime) -> int:
    """The instant, seen from `now`; ValueError for what is none."""
    if text == "now":
        return nanoseconds(now)
    if match := _AGO.fullmatch(text):
        return nanoseconds(now - timedelta(seconds=float(match[1]) * _SECONDS[match[2]]))
    if _EPOCH.fullmatch(text):
        whole, _, fraction = text.partition(".")
        if int(whole) >= _NANOSECONDS_FROM:
            return int(whole)
        return int(whole) * NS + int((fraction + "0" * 9)[:9])
    if match := _OF_DAY.fullmatch(text):
        return nanoseconds(_of_day(match[1], match[2], now))
    moment = datetime.fromisoformat(text)
    return nanoseconds(moment.astimezone(UTC))


def nanoseconds(moment: datetime) -> int:
    """UTC nanoseconds of a moment with a zone, exact to its microsecond."""
    passed = moment - _EPOCH_BEGIN
    return (passed.days * 86_400 + passed.seconds) * NS + passed.microseconds * 1000


def _of_day(text: str, zone: str | None, now: datetime) -> datetime:
    hours, minutes, *rest = text.split(":")
    seconds = float(rest[0]) if rest else 0.0
    local = now.astimezone(datetime.fromisoformat(f"2000-01-01T00:00{zone}").tzinfo if zone else None)
    at = local.replace(hour=int(hours), minute=int(minutes), second=int(seconds), microsecond=int(seconds % 1 * 1e6))
    return (at if at <= local else at - timedelta(days=1)).astimezone(UTC)
