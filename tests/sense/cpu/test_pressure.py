"""/proc/pressure."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from procfiles import captured, mangled, real, undeclared

from necroscope.errors import Unavailable
from necroscope.sense.cpu.pressure import Pressure, ResourcePressure, Stall, parse_pressure

SOME = b"some avg10=0.77 avg60=0.59 avg300=0.27 total=4007763\n"
FULL = b"full avg10=100.00 avg60=0.00 avg300=1.10 total=8257319\n"


def test_both_lines_and_either() -> None:
    some, full = Stall(0.77, 0.59, 0.27, 4007763), Stall(100.0, 0.0, 1.1, 8257319)
    assert parse_pressure(SOME + FULL) == ResourcePressure(some, full)
    assert parse_pressure(SOME) == ResourcePressure(some, None)
    assert parse_pressure(FULL) == ResourcePressure(None, full)


def test_a_real_quiet_file() -> None:
    assert parse_pressure(real("pressure_memory")) == ResourcePressure(Stall(0, 0, 0, 0), Stall(0, 0, 0, 0))


def test_a_cut_line_is_left_out() -> None:
    assert parse_pressure(SOME + FULL[:-4]).full is None


@pytest.mark.parametrize(
    "text",
    [
        b"",
        SOME[:-1],
        b"\0\n",
        SOME.replace(b"0.77", b"-0.77"),
        SOME.replace(b"0.77", b"0.7.7"),
        SOME.replace(b"0.77", b"nan"),
        SOME.replace(b"4007763", b"9" * 6000),
        SOME.replace(b"0.77", b"9" * 6000),
    ],
)
def test_neither_line_is_unavailable(text: bytes) -> None:
    with pytest.raises(Unavailable, match="neither"):
        parse_pressure(text)


@given(mangled(SOME + FULL))
def test_no_bytes_break_it(text: bytes) -> None:
    with contextlib.suppress(Unavailable):
        seen = parse_pressure(text)
        assert seen.some or seen.full


def test_the_sensor_speaks_seconds_and_misses_no_irq(tmp_path: Path) -> None:
    files = {f"/proc/pressure/{name}": SOME + FULL for name in ("cpu", "memory", "io")}
    reading = Pressure().read(captured(tmp_path, files))
    values = {(sample.signal, *sample.labels): sample.value for sample in reading.samples}
    assert values["pressure_stalled_seconds", "io", "some"] == 4.007763
    assert values["pressure_avg10_percent", "cpu", "full"] == 100.0
    assert len(values) == 24
    assert reading.unseen == ()
    assert undeclared(Pressure(), reading) == []


def test_a_missing_resource_is_said(tmp_path: Path) -> None:
    reading = Pressure().read(captured(tmp_path, {"/proc/pressure/cpu": SOME, "/proc/pressure/io": b"x\n"}))
    assert [unseen.reason.partition(":")[0] for unseen in reading.unseen] == ["no memory pressure", "no io pressure"]


def test_no_psi_is_unavailable_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no PSI") as caught:
        Pressure().read(captured(tmp_path, {}))
    assert "psi=1" in caught.value.hint
