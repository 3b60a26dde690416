"""Instants as people write them: ISO 8601, epoch, `now`, `-5m`, `14:03:07`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from necroscope.clock import LAST_NS, NS
from necroscope.errors import BadInput

_AGO = re.compile(r"-(\d+(?:\.\d+)?)(ms|s|m|min|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, None: 1.0}
_OF_DAY = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?")
_EPOCH = re.compile(r"\d{9,}(\.\d+)?")
_NANOSECONDS_FROM = 10**15


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


class Instant(click.ParamType[int]):
    """UTC nanoseconds of an instant. Without a zone it is local time; a time of day is its most recent occurrence."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            at_ns = parse_instant(str(value).strip(), datetime.now(UTC))
        except (ValueError, OverflowError, OSError):
            self.fail(f"{value!r} is no time; write 2026-01-02T03:04:05Z, 14:03:07, -5m, now or an epoch", param, ctx)
        if not 0 <= at_ns < LAST_NS:
            self.fail(f"{value!r} is out of range: times lie from 1970 to 2261", param, ctx)
        return at_ns


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
    if _OF_DAY.fullmatch(text):
        return nanoseconds(_of_day(text, now))
    moment = datetime.fromisoformat(text)
    return nanoseconds(moment.astimezone(UTC))


def nanoseconds(moment: datetime) -> int:
    """UTC nanoseconds of a moment with a zone, exact to its microsecond."""
    passed = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (passed.days * 86_400 + passed.seconds) * NS + passed.microseconds * 1000


def _of_day(text: str, now: datetime) -> datetime:
    hours, minutes, *rest = text.split(":")
    seconds = float(rest[0]) if rest else 0.0
    local = now.astimezone()
    at = local.replace(hour=int(hours), minute=int(minutes), second=int(seconds), microsecond=int(seconds % 1 * 1e6))
    return (at if at <= local else at - timedelta(days=1)).astimezone(UTC)
