"""Intervals of sysstat of every length, with dates and clocks of several countries: what is kept, and what is said."""

# ruff: noqa: E501 - tables of cases

from __future__ import annotations

import io
import json
import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from necroscope.errors import BadInput
from necroscope.sense.importers.source import Placing
from necroscope.sense.importers.sysstat.mpstat import Mpstat
from necroscope.sense.importers.sysstat.times import dates, read_stamp, time_of_day

S = 10**9
DAY = 1_794_787_200  # 2026-11-16 00:00:00 UTC


def load(cpu: str = "0", idle: float = 50.0, **modes: float) -> dict[str, Any]:
    return {"cpu": cpu, "usr": 100.0 - idle, "idle": idle} | modes


def mpstat(*ends: str, header: object = "2026-11-16", loads: list[dict[str, Any]] | None = None) -> bytes:
    entries = [{"timestamp": end, "cpu-load": loads if loads is not None else [load()]} for end in ends]
    host = {"nodename": "node7", "date": header, "statistics": entries}
    return json.dumps({"sysstat": {"hosts": [host]}}).encode()


def sadf(*stamps: dict[str, Any], **host: Any) -> bytes:
    entries = [{"timestamp": stamp, "cpu-load": [load()]} for stamp in stamps]
    return json.dumps({"sysstat": {"hosts": [{"nodename": "node7", "statistics": entries} | host]}}).encode()


def times(text: bytes, placing: Placing | None = None) -> list[int]:
    return [row.at_ns // S - DAY for row in Mpstat(io.BytesIO(text), placing or Placing()).rows()]


def notes(text: bytes, path: Path | None = None, placing: Placing | None = None) -> tuple[str, ...]:
    reader = Mpstat(path or io.BytesIO(text), placing or Placing())
    list(reader.rows())
    return reader.notes()


def hours(hour: int, minute: int = 0, second: int = 0) -> int:
    return hour * 3600 + minute * 60 + second


def test_the_first_interval_is_as_long_as_the_second() -> None:
    assert times(mpstat("10:10:00", "10:20:00", "10:30:00")) == [hours(10), hours(10, 10), hours(10, 20), hours(10, 30)]


def test_one_interval_of_a_length_that_nobody_tells_is_no_second() -> None:
    with pytest.raises(BadInput, match="1 intervals: how long they were is not given"):
        times(mpstat("10:10:00"))


def test_the_day_changes_at_midnight_also_before_the_first_interval_ends() -> None:
    text = mpstat("23:55:00", "00:05:00", "00:15:00")
    assert times(text) == [hours(23, 45), hours(23, 55), hours(24, 5), hours(24, 15)]
    # Started at 23:58: the header has the day of the start.
    assert times(mpstat("00:08:00", "00:18:00")) == [hours(23, 58), hours(24, 8), hours(24, 18)]


def test_long_intervals_are_said_and_so_is_the_zone() -> None:
    said = notes(mpstat("10:10:00", "10:20:00"))
    assert said == (
        "its times are local, of a zone that it does not tell, and taken as UTC: see --zone",
        "averages of up to 10 min: of shorter times nothing is known",
    )
    assert notes(mpstat("10:10:00", "10:10:01"), placing=Placing(clock_offset_ns=0)) == ()


def test_stamps_of_sadf() -> None:
    stamp = {"date": "2026-11-16", "time": "18:10:00", "utc": 1, "interval": 600}
    assert times(sadf(stamp)) == [hours(18), hours(18, 10)]
    assert notes(sadf(stamp)) == ("averages of up to 10 min: of shorter times nothing is known",)
    local = notes(sadf(stamp | {"utc": 0}, timezone="CET"))
    assert local[0] == "its times are local, of the zone CET, and taken as UTC: see --zone"
    epoch = {"date": "", "time": str(DAY + 60), "interval": 60}
    assert times(sadf(epoch)) == [0, 60]


def test_an_impossible_interval_of_the_first_record_is_taken_from_the_second() -> None:
    """sadf of 2015 prints 184467440737095516 for the first."""
    first = {"date": "2026-11-16", "time": "07:00:01", "utc": 1, "interval": 184467440737095516}
    second = {"date": "2026-11-16", "time": "07:10:01", "utc": 1, "interval": 600}
    assert times(sadf(first, second)) == [hours(6, 50, 1), hours(7, 0, 1), hours(7, 10, 1)]


def test_what_is_left_out_is_counted_with_the_reason() -> None:
    good = {"date": "2026-11-16", "time": "10:00:00", "utc": 1, "interval": 600}
    text = json.loads(sadf(good, good | {"time": "noon"}, good | {"time": "10:05:00"}, good | {"time": "10:20:00"}))
    entries = text["sysstat"]["hosts"][0]["statistics"]
    entries.append({"timestamp": good | {"time": "10:40:00"}, "cpu-load": [load("all")]})
    entries.append({"timestamp": good | {"time": "10:50:00"}, "network": {}})
    assert notes(json.dumps(text).encode()) == (
        "1 intervals were left out: their time is not understood",
        "2 intervals were left out: they tell of no single core (-P ALL)",
        "1 intervals were left out: their time goes back, or they overlap",
        "averages of up to 10 min: of shorter times nothing is known",
        "not read: network",
    )


def test_only_averages_of_all_cores_are_refused_with_the_reason() -> None:
    with pytest.raises(BadInput, match=r"2 intervals: they tell of no single core \(-P ALL\)"):
        times(mpstat("10:00:00", "10:10:00", loads=[load("all"), load("-1")]))


def test_a_core_that_comes_back_begins_anew() -> None:
    text = json.loads(mpstat("10:00:01", "10:00:02", "10:00:03"))
    entries = text["sysstat"]["hosts"][0]["statistics"]
    for entry in (entries[0], entries[2]):
        entry["cpu-load"] = [load("0"), load("1", idle=0.0)]
    rows = list(Mpstat(io.BytesIO(json.dumps(text).encode())).rows())
    of_core = [
        (row.at_ns // S - DAY - hours(10), {s.labels: s.value for s in row.samples}.get(("1", "user"))) for row in rows
    ]
    assert of_core == [(0, 0.0), (1, 1.0), (2, None), (2, 1.0), (3, 2.0)]


def test_time_that_nobody_accounts_for_is_idle() -> None:
    rows = list(
        Mpstat(io.BytesIO(mpstat("10:00:01", "10:00:02", loads=[{"cpu": "0", "usr": 25.0, "sys": 5.0}]))).rows()
    )
    assert {sample.labels[1]: sample.value for sample in rows[1].samples} == {"user": 0.25, "system": 0.05, "idle": 0.7}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("18:00:38", hours(18, 0, 38)), ("06:00:38 PM", hours(18, 0, 38)), ("12:00:38 AM", 38), ("12:00:38 pm", hours(12, 0, 38)),
     ("18.00.38", hours(18, 0, 38)), ("18时00分38秒", hours(18, 0, 38)), ("下午 06時00分38秒", hours(18, 0, 38)),
     ("18시 00분 38초", hours(18, 0, 38)), ("오후 6:00:38", hours(18, 0, 38)), ("25:00:00", None), ("noon", None), ("", None),
     (5, None), ("1" * 100, None)],
)  # fmt: skip
def test_clocks(text: Any, seconds: int | None) -> None:
    assert time_of_day(text) == seconds


@pytest.mark.parametrize(
    ("text", "days"),
    [("2026-11-16", ["2026-11-16"]), ("11/16/26", ["2026-11-16"]), ("16/11/2026", ["2026-11-16"]), ("16.11.2026", ["2026-11-16"]),
     ("2026年11月16日", ["2026-11-16"]), ("2026. 11. 16.", ["2026-11-16"]), ("05/11/26", ["2026-05-11", "2026-11-05", "2005-11-26"]),
     ("05.11.2026", ["2026-11-05", "2026-05-11"]), ("16 nov.", []), (None, []), ("9" * 60, [])],
)  # fmt: skip
def test_days(text: Any, days: list[str]) -> None:
    assert [str(day) for day in dates(text)] == days


def test_a_date_of_two_meanings_is_the_one_near_the_writing(tmp_path: Path) -> None:
    path = tmp_path / "mpstat.json"
    path.write_bytes(mpstat("10:00:01", "10:00:02", header="05/11/26"))
    for day, written in (
        (date(2026, 11, 5), datetime(2026, 11, 5, 10, 1, tzinfo=UTC)),
        (date(2026, 5, 11), datetime(2026, 5, 12, tzinfo=UTC)),
    ):
        os.utime(path, (written.timestamp(), written.timestamp()))
        reader = Mpstat(path)
        first = next(iter(reader.rows()))
        assert datetime.fromtimestamp(first.at_ns // S, UTC).date() == day
        assert reader.notes()[0] == f"its date, 05/11/26, is read as {day}, the nearest to when the file was written"


def test_without_a_date_the_name_tells_it_and_else_the_day_of_writing(tmp_path: Path) -> None:
    text = mpstat("23:59:59", "00:00:00", header=None)
    named, plain = tmp_path / "node7-20260102.json", tmp_path / "node7.json"
    for path in (named, plain):
        path.write_bytes(text)
        os.utime(path, (DAY + 40, DAY + 40))
    reader = Mpstat(named)
    (first, *_) = reader.rows()
    assert datetime.fromtimestamp(first.at_ns // S, UTC) == datetime(2026, 1, 2, 23, 59, 58, tzinfo=UTC)
    assert "2026-01-02 is taken from its name" in reader.notes()[0]
    reader = Mpstat(plain)
    assert [row.at_ns // S - DAY for row in reader.rows()] == [-2, -1, 0]
    assert "2026-11-15 is taken from when the file was written" in reader.notes()[0]


def test_stamps_that_are_none() -> None:
    for stamp in (
        None,
        3,
        [],
        {},
        {"date": "2026-11-16"},
        {"time": "10:00:00"},
        {"date": 3, "time": 4},
        {"date": "x", "time": "y"},
    ):
        assert read_stamp(stamp) is None
