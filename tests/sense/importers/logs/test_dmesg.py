"""Kernel logs as other tools print them: every form of time, and the same symptoms as the live log."""

# ruff: noqa: E501 - lines of logs stand as they were written

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import BadInput
from necroscope.sense.importers.logs.dmesg import Dmesg
from necroscope.sense.importers.logs.stamps import parse_line
from necroscope.sense.importers.rows import LogEvent
from necroscope.sense.importers.source import Placing

S = 10**9
AT = 1_794_852_202 * S  # 2026-11-16 18:03:22 UTC
BOOT = AT - 12_345 * S
LINES = (
    (0.0, "ena 0000:20:03.0 eth0: TX q 5 is paused for too long (threshold 5000000). Time since last napi 6596000 usec. "
          "napi scheduled: 1"),
    (0.1, "ena 0000:20:03.0 eth0: napi handler hasn't been called for a long time but is scheduled"),
    (0.5, "ena 0000:20:03.0: Device reset completed successfully, Driver info: Elastic Network Adapter (ENA) v2.11.0g"),
    (40.0, "mlx5_core 0000:3b:00.0 ens3f0: TX timeout detected"),
    (40.1, "mlx5_core 0000:3b:00.0 ens3f0: TX timeout on queue: 12, SQ: 0x1a2b, CQ: 0x4c5, SQ Cons: 0x2f SQ Prod: 0x5e, "
           "usecs since last trans: 15412000"),
    (90.0, "watchdog: BUG: soft lockup - CPU#39 stuck for 22s! [kubelet:4711]"),
    (90.1, "CPU: 39 PID: 4711 Comm: kubelet Not tainted 5.4.0-1103-aws #111~18.04.1-Ubuntu"),
    (90.2, "RIP: 0010:mem_cgroup_nr_lru_pages+0x5a/0x70"),
    (150.0, "usb 1-1: new high-speed USB device number 2"),
)  # fmt: skip
EXPECTED = [("nic-reset", "eth0", 0.5), ("nic-tx-timeout", "ens3f0", 40.1), ("soft-lockup", "cpu39", 90.0)]


def _date(at_s: float, form: str) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(AT // S + at_s, UTC).strftime(form)


FORMS = {
    "boot": lambda at, text: f"[{12345 + at:12.6f}] {text}",
    "caller": lambda at, text: f"[{12345 + at:12.6f}][   C39] {text}",
    "level": lambda at, text: f"kern  :warn  : [{12345 + at:12.6f}] {text}",
    "raw": lambda at, text: f"<4>[{12345 + at:12.6f}] {text}",
    "delta": lambda at, text: f"[{12345 + at:12.6f} <    0.000123>] {text}",
    "kmsg": lambda at, text: f"4,77,{round((12345 + at) * 1e6)},-;{text}",
    "ctime": lambda at, text: _date(at, "[%a %b %e %H:%M:%S %Y] ") + text,
    "level-ctime": lambda at, text: _date(at, "kern  :warn  : [%a %b %e %H:%M:%S %Y] ") + text,
    "iso": lambda at, text: _date(at, "%Y-%m-%dT%H:%M:%S,%f+00:00 ") + text,
    "journal": lambda at, text: _date(at, "%b %d %H:%M:%S node7 kernel: ") + text,
    "journal-iso": lambda at, text: _date(at, "%Y-%m-%dT%H:%M:%S+0000 node7 kernel: ") + text,
    "journal-precise": lambda at, text: _date(at, "%b %d %H:%M:%S.%f node7 kernel: ") + text,
    "journal-full": lambda at, text: _date(at, "%a %Y-%m-%d %H:%M:%S UTC node7 kernel: ") + text,
    "journal-unix": lambda at, text: f"{AT // S + at:.6f} node7 kernel: {text}",
    "journal-monotonic": lambda at, text: f"[{12345 + at:12.6f}] node7 kernel: {text}",
    "kern.log": lambda at, text: _date(at, "%b %e %H:%M:%S node7 kernel: ") + f"[{12345 + at:12.6f}] {text}",
    "rsyslog": lambda at, text: _date(at, "%Y-%m-%dT%H:%M:%S.%f+00:00 node7 kernel: ") + f"[{12345 + at:12.6f}] {text}",
}


def log(form: str, lines: tuple[tuple[float, str], ...] = LINES) -> bytes:
    return "".join(FORMS[form](at, text) + "\n" for at, text in lines).encode()


def read(path: Path, text: bytes, placing: Placing | None = None) -> list[LogEvent]:
    path.write_bytes(text)
    os.utime(path, ns=(AT + 3600 * S, AT + 3600 * S))
    return list(Dmesg(path, placing or Placing(clock_offset_ns=None)).rows())


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_symptoms_of_the_live_log(tmp_path: Path, form: str) -> None:
    counts_from_boot = parse_line(log(form).split(b"\n")[0]).clock == "boot"  # type: ignore[union-attr]
    events = read(tmp_path / "log", log(form), Placing(clock_offset_ns=BOOT) if counts_from_boot else None)
    assert [(event.kind, event.subject) for event in events] == [(kind, subject) for kind, subject, _ in EXPECTED]
    for event, (_, _, at) in zip(events, EXPECTED, strict=True):
        assert abs(event.at_ns - (AT + round(at * S))) <= S
        assert event.uncertainty_ns >= 1_000_000
        assert event.source == "dmesg"
    symptom = events[2].symptom
    assert symptom is not None
    assert (symptom.cpu, symptom.task, symptom.pid, symptom.function) == (
        39,
        "kubelet",
        4711,
        "mem_cgroup_nr_lru_pages",
    )
    assert dict(events[0].symptom.details)["reason"] == "poll-starvation"  # type: ignore[union-attr]


def test_each_reset_has_its_own_time(tmp_path: Path) -> None:
    resets = tuple((hour * 3600.0 + at, text) for hour in range(12) for at, text in LINES[:3])
    events = read(tmp_path / "log", log("iso", resets))
    assert [event.at_ns for event in events] == [AT + hour * 3600 * S + S // 2 for hour in range(12)]


def test_stamps_since_boot_need_a_date(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with pytest.raises(BadInput, match="counts from boot"):
        read(path, log("boot"))
    (first, *_) = read(path, log("boot"), Placing(at_ns=AT))
    assert first.at_ns == AT + S // 2
    audit = ((-100.0, f"audit: type=1400 audit({AT // S - 100}.000:2): apparmor"),)
    (first, *_) = read(path, log("boot", audit + LINES))
    assert first.at_ns == AT + S // 2
    assert first.uncertainty_ns >= S
    with pytest.raises(BadInput, match="counts from boot"):
        list(Dmesg(io.BytesIO(log("boot"))).rows())


def test_the_year_of_a_syslog_line(tmp_path: Path) -> None:
    line = b"%b 23:59:58 node7 kernel: watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [x:4]\n"
    text = line % b"Dec 31" + b"Jan  1 00:10:00 node7 kernel: watchdog: BUG: soft lockup - CPU#4 stuck for 22s! [x:4]\n"
    year_2026, year_2025 = 1_767_225_600 * S, 1_735_689_600 * S
    path = tmp_path / "log"
    path.write_bytes(text)
    os.utime(path, ns=(year_2026 + 86400 * S, year_2026 + 86400 * S))
    reader = Dmesg(path)
    assert [event.at_ns for event in reader.rows()] == [year_2026 - 2 * S, year_2026 + 600 * S]
    assert "no year" in reader.notes()[0]
    placed = Dmesg(path, Placing(at_ns=year_2025))
    assert [event.at_ns for event in placed.rows()] == [year_2025 - 2 * S, year_2025 + 600 * S]


def test_zones_and_other_senders(tmp_path: Path) -> None:
    lockup = b"watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [x:4]\n"
    text = b"2026-11-16T10:03:22-08:00 a kernel: " + lockup + b"2026-11-16T18:03:23+0000 a app[77]: " + lockup
    text += b"2026-11-16T18:05:00+0000 b kernel: " + lockup
    path = tmp_path / "log"
    assert [event.at_ns for event in read(path, text)] == [AT, AT + 98 * S]
    assert [event.at_ns for event in read(path, text, Placing(host="b"))] == [AT + 98 * S]
    local = log("ctime", ((0.0, lockup.decode().strip()),))
    assert read(path, local, Placing(clock_offset_ns=8 * 3600 * S))[0].at_ns == AT + 8 * 3600 * S


def test_packed_logs_and_logs_that_go_back(tmp_path: Path) -> None:
    assert len(read(tmp_path / "log", gzip.compress(log("iso") + log("iso")))) == 6


@pytest.mark.parametrize("text", [b"", b"\0" * 100, b"hello\n", b"[] ena: x\n", b"\xff\xfe" * 5000, b"[" * 200_000])
def test_what_has_no_time_is_refused(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(BadInput, match="no line with a time"):
        read(tmp_path / "log", text)


@given(st.one_of(st.binary(max_size=80), st.from_regex(rb"(\[ ?[0-9.]{1,20}\]|[A-Z][a-z]{2} [0-9 :-]{5,30}).{0,20}")))
def test_a_line_is_stamped_or_not_and_never_crashes(line: bytes) -> None:
    found = parse_line(line)
    assert found is None or found.stamp_ns >= -(10**15)


@pytest.mark.root
@pytest.mark.skipif(not shutil.which("dmesg"), reason="needs dmesg")
@pytest.mark.parametrize("options", [(), ("-T",), ("-x",), ("--time-format", "iso"), ("-x", "-T"), ("-r",)])
def test_lines_of_the_real_dmesg_have_times(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = subprocess.run(["dmesg", *options], capture_output=True)
    lines = done.stdout.splitlines()
    if not lines and not done.returncode:
        pytest.skip("the kernel's log is empty")
    assert done.returncode == 0, done.stderr
    assert sum(parse_line(line) is not None for line in lines) >= 0.95 * len(lines)
    path = tmp_path / "log"
    path.write_bytes(done.stdout)
    reader = Dmesg(path, Placing(clock_offset_ns=0))
    list(reader.rows())
    assert reader.lines >= 0.95 * len(lines)
