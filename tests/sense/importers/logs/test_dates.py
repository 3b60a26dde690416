"""Dates of logs that do not tell them whole: by the head, the name, the day of writing, and what is said about it."""

# ruff: noqa: E501 - lines of logs stand as they were written

from __future__ import annotations

import io
import json
import os
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import BadInput
from necroscope.sense.importers.logs.dmesg import Dmesg
from necroscope.sense.importers.logs.month_names import NAMES, month_of
from necroscope.sense.importers.logs.ray_logs import RayLogs
from necroscope.sense.importers.logs.stamps import looks_dated, parse_line
from necroscope.sense.importers.logs.wrapping import unquote, unwrap
from necroscope.sense.importers.source import Placing
from necroscope.sense.importers.sysstat.mpstat import Mpstat

S = 10**9
LOCKUP = "watchdog: BUG: soft lockup - CPU#{} stuck for 22s! [x:4]"
LOCAL = "its times are local, of a zone that it does not tell, and taken as UTC: see --zone"


def syslog(*stamps: str) -> bytes:
    return "".join(f"{stamp} node7 kernel: {LOCKUP.format(n)}\n" for n, stamp in enumerate(stamps)).encode()


def read(
    path: Path, text: bytes, written: str = "2026-11-17", placing: Placing | None = None
) -> tuple[list[str], tuple[str, ...]]:
    path.write_bytes(text)
    at = datetime.fromisoformat(written).replace(tzinfo=UTC).timestamp()
    os.utime(path, (at, at))
    reader = Dmesg(path, placing or Placing())
    return [
        f"{datetime.fromtimestamp(event.at_ns / S, UTC):%Y-%m-%d %H:%M:%S}" for event in reader.rows()
    ], reader.notes()


def test_the_name_of_the_file_tells_the_year_better_than_its_date(tmp_path: Path) -> None:
    """A copy has the date of the copy."""
    text = syslog("Dec 31 23:59:58", "Jan  1 00:10:00")
    at, said = read(tmp_path / "kern.log-20250104", text)
    assert at == ["2024-12-31 23:59:58", "2025-01-01 00:10:00"]
    assert said == ("the log names no year: 2024 is taken, from the file's name, 2025-01-04", LOCAL)
    at, said = read(tmp_path / "kern.log", text)
    assert at == ["2025-12-31 23:59:58", "2026-01-01 00:10:00"]
    assert said[0] == "the log names no year: 2025 is taken, the last one before the file was written, 2026-11-17"
    at, said = read(tmp_path / "kern.log-20250104", text, placing=Placing(at_ns=1_767_225_598 * S))
    assert at == ["2025-12-31 23:59:58", "2026-01-01 00:10:00"]
    assert said == (LOCAL,)


def test_the_head_of_a_journal_tells_the_year_best(tmp_path: Path) -> None:
    head = b"-- Journal begins at Mon 2023-11-06 06:25:01 UTC, ends at Sat 2023-12-30 10:00:00 UTC. --\n"
    at, said = read(tmp_path / "journal-20250104", head + syslog("Dec 29 10:00:00"))
    assert at == ["2023-12-29 10:00:00"]
    assert said[0] == "the log names no year: 2023 is taken, from the journal's head"
    old = b"-- Logs begin at Mon 2019-11-04 06:25:01 UTC, end at Sat 2019-12-28 10:00:00 UTC. --\n"
    assert read(tmp_path / "log", old + syslog("Dec 27 10:00:00"))[0] == ["2019-12-27 10:00:00"]


def test_the_29th_of_february_is_of_a_leap_year(tmp_path: Path) -> None:
    assert read(tmp_path / "log", syslog("Feb 29 10:00:00"))[0] == ["2024-02-29 10:00:00"]


def test_a_line_of_dmesg_for_humans_is_known_to_the_minute(tmp_path: Path) -> None:
    text = (
        "[Nov16 22:34] Linux version 6.1\n[  +1.500000] "
        + LOCKUP.format(1)
        + "\n[Nov17 01:00] "
        + LOCKUP.format(2)
        + "\n"
    )
    path = tmp_path / "dmesg"
    path.write_text(text)
    os.utime(path, (1_795_000_000, 1_795_000_000))
    events = list(Dmesg(path).rows())
    assert [(event.at_ns - 1_794_868_440 * S) / S for event in events] == [1.5, 8760.0]
    assert {event.uncertainty_ns for event in events} == {60 * S}


def test_lines_that_could_not_be_used_are_counted_by_reason(tmp_path: Path) -> None:
    text = (
        "[  +0.000100] " + LOCKUP.format(0) + "\n"
        "-- Boot 0123 --\n\n"
        "node7 login: root\n"
        "[Sa sij 16 18:03:22 2026] " + LOCKUP.format(1) + "\n"
        "[Sa sij 16 18:03:23 2026] usb 1-1: new\n"
        "2026-11-16T18:03:22+0000 node7 sshd[77]: Accepted\n"
        "2026-11-16T18:03:23+0000 node7 kernel: " + LOCKUP.format(2) + "\n"
    )  # fmt: skip
    at, said = read(tmp_path / "log", text.encode())
    assert at == ["2026-11-16 18:03:23"]
    assert said == (
        "2 lines were left out: their date is not understood, such as [Sa sij 16 18:03:22 2026] watchdog: BUG:",
        "1 lines were left out: they have no time",
        "1 lines were left out: they count from a line before them that is not there",
        "1 lines were left out: they are not the kernel's",
    )


def test_a_log_whose_dates_nobody_understands_is_refused_with_their_count(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no line with a time, and 3 with a date that is not understood"):
        read(tmp_path / "log", b"[Sa sij 16 18:03:22 2026] usb 1-1: new\n" * 3)


def test_what_containers_printed_is_placed_by_their_runtime(tmp_path: Path) -> None:
    """Lines from before the container began come all at once: the soonest one counts."""
    lines = [(100.0, 500.0), (200.0, 500.1), (600.0, 600.2), (700.0, 701.0)]
    text = "".join(
        f"{datetime.fromtimestamp(1_794_852_000 + arrived, UTC):%Y-%m-%dT%H:%M:%S.%f}Z stdout F [{stamp:12.6f}] {LOCKUP.format(n)}\n"
        for n, (stamp, arrived) in enumerate(lines)
    )
    path = tmp_path / "0.log"
    at, said = read(path, text.encode())
    assert at == ["2026-11-16 18:01:40", "2026-11-16 18:03:20", "2026-11-16 18:10:00", "2026-11-16 18:11:40"]
    assert said == (
        "when the machine booted was taken from the time at which a container's runtime got its lines; if it slept since, times are off",
    )


def test_zones_by_name(tmp_path: Path) -> None:
    known = f"Mon 2026-11-16 18:03:22 CET node7 kernel: {LOCKUP.format(1)}\n".encode()
    assert read(tmp_path / "log", known) == (["2026-11-16 17:03:22"], ())
    # Central Standard Time, or China's.
    assert read(tmp_path / "log", known.replace(b"CET", b"CST")) == (["2026-11-16 18:03:22"], (LOCAL,))


def test_no_name_is_two_months() -> None:
    numbers: dict[str, set[int]] = {}
    for names in NAMES:
        assert len(names.split()) == 12, names
        for number, name in enumerate(names.split(), 1):
            numbers.setdefault(name, set()).add(number)
    assert [name for name, found in numbers.items() if len(found) > 1] == []
    assert Counter(month_of(name.encode()) for names in NAMES for name in names.split()) == {
        n: len(NAMES) for n in range(1, 13)
    }
    assert [month_of(name.encode()) for name in ("Nov", "nov.", "11月", "1월", "MÄR", "13月", "sij", "")] == [
        11,
        11,
        11,
        1,
        3,
        None,
        None,
        None,
    ]


def test_what_stands_around_lines() -> None:
    assert unwrap(b"\xef\xbb\xbf\x1b[32m[1.000000] \x1b[0mx").line == b"[1.000000] x"
    docker = unwrap(b'{"log":"[1.000000] x\\r\\n","stream":"stdout","time":"2026-11-16T18:03:22.5Z"}')
    assert (docker.line, docker.arrived_ns) == (b"[1.000000] x", 1_794_852_202_500_000_000)
    for broken in (
        b'{"log":',
        b'{"log":3}',
        b'{"log":"x","time":5}',
        b'{"log":"x","time":"noon"}',
        b"2026-13-45T18:03:22Z stdout F x",
    ):
        assert unwrap(broken).arrived_ns is None
    assert unquote(b"> > [1.000000] x") == b"[1.000000] x"


@given(st.binary(max_size=120))
def test_any_line_is_stamped_or_not(line: bytes) -> None:
    parse_line(line)
    looks_dated(line)
    list(_rows(line))


@given(
    st.sampled_from(
        [
            b"[Mon Nov 16 18:03:22 2026] ",
            b"Nov 16 18:03:22 node7 kernel: ",
            b"[  +0.1] ",
            b"<4>1 2026-11-16T18:03:22Z h k - - [",
            b'{"log":"',
        ]
    ),
    st.integers(0, 60),
    st.binary(max_size=20),
)
def test_broken_stamps(head: bytes, at: int, noise: bytes) -> None:
    list(_rows(head[:at] + noise + head[at:] + LOCKUP.encode()))


def _rows(line: bytes) -> list[object]:
    try:
        return list(Dmesg(io.BytesIO(line + b"\n"), Placing(at_ns=0)).rows())
    except BadInput:
        return []


BERLIN = Placing(zone_ns=3600 * S)


def test_a_zone_that_is_given_counts_for_local_times_only(tmp_path: Path) -> None:
    text = syslog("Nov 16 18:03:22") + f"2026-11-16T18:10:00+0000 node7 kernel: {LOCKUP.format(9)}\n".encode()
    assert read(tmp_path / "kern.log-20261117", text, placing=BERLIN) == (
        ["2026-11-16 17:03:22", "2026-11-16 18:10:00"],
        ("the log names no year: 2026 is taken, from the file's name, 2026-11-17",),
    )
    load = {"cpu": "0", "usr": 50.0, "idle": 50.0}
    stamps: list[tuple[object, object, int]] = [
        ("18:03:22", "18:03:23", 17), ({"date": "2026-11-16", "time": "18:03:22", "utc": 0, "interval": 1}, None, 17),
        ({"date": "2026-11-16", "time": "18:03:22", "utc": 1, "interval": 1}, None, 18),
    ]  # fmt: skip
    for first, second, hour in stamps:
        entries = [{"timestamp": one, "cpu-load": [load]} for one in (first, second) if one is not None]
        file = io.BytesIO(json.dumps({"sysstat": {"hosts": [{"date": "2026-11-16", "statistics": entries}]}}).encode())
        rows = list(Mpstat(file, BERLIN).rows())
        assert datetime.fromtimestamp(rows[1].at_ns / S, UTC) == datetime(2026, 11, 16, hour, 3, 22, tzinfo=UTC)
    ray = RayLogs(io.BytesIO(b"2026-11-16 18:03:22,000\tINFO jobs.py:11 -- Job 'raysubmit_1' failed\n"), BERLIN)
    assert [event.at_ns for event in ray.rows()] == [1_794_848_602 * S]
    assert ray.notes() == ()


def test_lines_since_boot_among_lines_with_dates(tmp_path: Path) -> None:
    """Somebody pasted two logs into one file: what cannot be placed is counted, the rest is read."""
    dated = f"2026-11-16T18:03:22+0000 node7 kernel: {LOCKUP.format(1)}\n".encode()
    since = f"[  100.000000] {LOCKUP.format(2)}\n[  200.000000] {LOCKUP.format(3)}\n".encode()
    at, said = read(tmp_path / "log", dated + since)
    assert at == ["2026-11-16 18:03:22"]
    assert said == ("2 lines were left out: they count from boot, whose time nothing tells",)
    anchor = b"[   90.000000] audit: type=1400 audit(1794852190.000:2): apparmor\n"
    assert read(tmp_path / "log", dated + anchor + since)[0] == [
        "2026-11-16 18:03:22",
        "2026-11-16 18:03:20",
        "2026-11-16 18:05:00",
    ]
