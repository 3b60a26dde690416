"""Instants as people write them."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import click
import pytest

from necroscope.cli.shared.times import Instant, Moment, parse_instant
from necroscope.clock import NS

NOW = datetime(2026, 1, 2, 3, 4, 5, 250_000, tzinfo=UTC)
NOW_NS = 1_767_323_045_250_000_000


@pytest.fixture(autouse=True)
def five_hours_west(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "EST5")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "at_ns"),
    [
        ("now", NOW_NS),
        ("-5m", NOW_NS - 300 * NS),
        ("-1.5h", NOW_NS - 5400 * NS),
        ("-90", NOW_NS - 90 * NS),
        ("-2d", NOW_NS - 2 * 86_400 * NS),
        ("1767323045", 1_767_323_045 * NS),
        ("1767323045.678901234", 1_767_323_045_678_901_234),
        ("1767323045678901234", 1_767_323_045_678_901_234),
        ("2026-01-02T03:04:05Z", 1_767_323_045 * NS),
        ("2026-01-02T03:04:05.5+00:00", 1_767_323_045_500_000_000),
        ("2026-01-01T22:04:05", 1_767_323_045 * NS),
        ("2026-01-01 22:04", 1_767_323_040 * NS),
        ("22:04:05", 1_767_323_045 * NS),
        ("22:05:05", (1_767_323_045 + 60 - 86_400) * NS),
        ("22:04", 1_767_323_040 * NS),
        ("1969-12-31T23:59:59Z", -NS),
    ],
)
def test_instants(text: str, at_ns: int) -> None:
    assert parse_instant(text, NOW) == at_ns


@pytest.mark.parametrize("text", ["", "yesterday", "5m", "25:00", "12:99", "-5y", "2026-13-01", "1e9", "--5m"])
def test_what_is_no_instant(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_instant(text, NOW)


@pytest.mark.parametrize("text", ["2262-01-01T00:00:00Z", "2999-01-01T00:00:00Z", "9" * 40, "1969-12-31T23:59:59Z"])
def test_what_no_store_can_hold_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="from 1970 to 2261"):
        Instant().convert(text, None, None)


@pytest.mark.parametrize(("text", "at_s"), [("1970-01-01T00:00:00Z", 0), ("2261-12-31T23:59:59Z", 9_214_646_399)])
def test_the_first_and_the_last_time(text: str, at_s: int) -> None:
    assert Instant().convert(text, None, None) == at_s * NS


@pytest.mark.parametrize(
    ("text", "at_ns"),
    [
        ("03:04:05Z", 1_767_323_045 * NS),
        ("03:05Z", (1_767_323_100 - 86_400) * NS),
        ("05:04:05+02:00", 1_767_323_045 * NS),
        ("04:04:05.5+0100", (1_767_323_045 * 10 + 5 - 864_000) * NS // 10),
    ],
)
def test_a_time_of_day_may_have_a_zone(text: str, at_ns: int) -> None:
    assert parse_instant(text, NOW) == at_ns


def test_a_moment_is_a_number_that_knows_how_it_was_written() -> None:
    moment = Moment("-5m", "--at", NOW)
    assert moment == NOW_NS - 300 * NS
    assert moment.seen_from(NOW_NS - 60 * NS) == NOW_NS - 360 * NS
    assert type(copy.deepcopy(moment)) is int
