"""Stamps of the kernel's log on the time line, and how far off they may be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from necroscope.clock import ClockReading
from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.log.log_clock import Arrivals, LogClock, debug_head, log_clock, parse_offset

S = 1_000_000_000
HOUR = ClockReading(realtime_ns=1_700_000_000 * S, monotonic_ns=3600 * S, boottime_ns=3600 * S)
# The head of /sys/kernel/debug/sched/debug as Linux 6.18 prints it.
HEAD = b"""Sched Debug Version: v0.11, 6.18.44 #1
ktime                                   : 1278794.144549
sched_clk                               : 1278821.301542
cpu_clk                                 : 1278793.662656
jiffies                                 : 4295211932
sched_clock_stable()                    : 1
"""


def test_with_both_clocks_known_only_the_age_is_uncertain() -> None:
    clock = LogClock(HOUR, offset_ns=2 * S)
    at_ns, uncertainty_ns = clock.place(3588 * 1_000_000)
    assert at_ns == (1_700_000_000 - 10) * S
    assert uncertainty_ns == 5_000_000


def test_without_the_offset_everything_since_boot_is_uncertain() -> None:
    assert LogClock(HOUR).place(3590 * 1_000_000) == ((1_700_000_000 - 10) * S, 1_795_000_000)


def test_nothing_is_more_certain_than_a_millisecond() -> None:
    assert LogClock(HOUR, 0).place(3600 * 1_000_000)[1] == 1_000_000
    assert LogClock(HOUR, 0).place(3700 * 1_000_000)[1] == 1_000_000, "a stamp ahead of the clock has no age"


def test_without_a_clock_a_stamp_is_as_uncertain_as_it_is_large() -> None:
    assert LogClock(None).place(42) == (42_000, 42_000)


def test_the_offset_of_the_two_clocks() -> None:
    assert parse_offset(HEAD) == 481_893
    assert parse_offset(HEAD.replace(b"1278794.144549", b"1278790.000001")) == -3_662_655


@pytest.mark.parametrize("text", [b"", b"\x00\xff", HEAD[:100], HEAD.replace(b"cpu_clk", b"xpu_clk")])
def test_no_offset_where_it_is_not_known(text: bytes) -> None:
    assert parse_offset(text) is None


def test_a_captured_host_with_everything_and_with_nothing(tmp_path: Path) -> None:
    assert log_clock(Host(tmp_path)) == LogClock(None)
    with pytest.raises(Unavailable, match="cannot be read"):
        debug_head(Host(tmp_path))
    (tmp_path / "necroscope").mkdir()
    reading = {"realtime_ns": 10**18 + 5, "monotonic_ns": 4, "boottime_ns": 4}
    (tmp_path / "necroscope" / "clock.json").write_text(json.dumps(reading))
    assert log_clock(Host(tmp_path)) == LogClock(ClockReading(10**18 + 5, 4, 4))
    folder = tmp_path / "sys/kernel/debug/sched"
    folder.mkdir(parents=True)
    (folder / "debug").write_bytes(HEAD)
    assert log_clock(Host(tmp_path)) == LogClock(ClockReading(10**18 + 5, 4, 4), 481_893)
    assert debug_head(Host(tmp_path)) == ("/sys/kernel/debug/sched/debug", HEAD)


def _later(seconds: float) -> LogClock:
    ns = round(seconds * S)
    return LogClock(ClockReading(HOUR.realtime_ns + ns, HOUR.monotonic_ns + ns, HOUR.boottime_ns + ns))


def _look(arrivals: Arrivals, at_s: float, *stamps_s: float) -> None:
    began = HOUR.monotonic_ns + round(at_s * S)
    arrivals.learn([round((3600 + stamp) * 1_000_000) for stamp in stamps_s], began, began + S // 1000)


def test_a_line_that_arrives_between_two_looks_was_written_between_them() -> None:
    arrivals = Arrivals()
    _look(arrivals, 0.0, -3000.0, -20.0)  # the backlog tells nothing
    assert arrivals.clock(_later(0.1)) == _later(0.1)
    _look(arrivals, 1.0, 0.4)
    clock = arrivals.clock(_later(1.1))
    at_ns, uncertainty_ns = clock.place(round(3600.4 * 1_000_000))
    assert at_ns == HOUR.realtime_ns + round(0.4 * S)
    assert 600_000_000 <= uncertainty_ns <= 605_000_000
    # another line, nearer to the look, makes it better known
    _look(arrivals, 2.0, 1.95)
    assert arrivals.clock(_later(2.1)).place(round(3601.95 * 1_000_000))[1] <= 410_000_000


def test_a_clock_that_has_drifted_is_found_and_stays_where_it_is() -> None:
    arrivals = Arrivals()
    _look(arrivals, 0.0)
    _look(arrivals, 1.0, -11.5)  # twelve seconds behind
    first = arrivals.clock(_later(1.1)).place(round(3588.5 * 1_000_000))
    assert abs(first[0] - (HOUR.realtime_ns + S // 2)) <= first[1] <= 510_000_000
    _look(arrivals, 2.0, -10.4)
    assert arrivals.clock(_later(2.1)).place(round(3588.5 * 1_000_000))[0] == first[0]


def test_what_cannot_be_is_forgotten_and_an_unfinished_look_tells_nothing() -> None:
    arrivals = Arrivals()
    _look(arrivals, 0.0)
    _look(arrivals, 1.0, 0.1, 500.0)
    assert arrivals.clock(_later(1.1)) == _later(1.1)
    arrivals.missed()
    _look(arrivals, 2.0, 1.5)
    assert arrivals.clock(_later(2.1)) == _later(2.1)
    _look(arrivals, 3.0, 2.5)
    assert arrivals.clock(_later(3.1)).spread_ns <= 510_000_000


def test_what_a_file_tells_is_better() -> None:
    arrivals = Arrivals()
    _look(arrivals, 0.0)
    _look(arrivals, 1.0, 0.5)
    declared = LogClock(HOUR, 7)
    assert arrivals.clock(declared) is declared


def test_the_live_host_has_a_clock() -> None:
    reading = log_clock(Host()).reading
    assert reading is not None
    assert reading.realtime_ns > 1_700_000_000 * S
