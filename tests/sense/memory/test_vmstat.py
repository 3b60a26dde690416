"""/proc/vmstat."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from procfiles import captured, mangled, real, undeclared

from necroscope.errors import Unavailable
from necroscope.sense.memory.vmstat import FIELDS, Vmstat, parse_vmstat


def test_a_real_file() -> None:
    stat = parse_vmstat(real("vmstat"))
    assert (stat.get("pgfault"), stat.get("oom_kill"), stat.get("workingset_refault")) == (8287948, 0, None)
    assert stat.stalls == {"dma": 0, "dma32": 0, "normal": 0, "movable": 0, "device": 0}


def test_stalls_of_a_kernel_without_zones() -> None:
    assert parse_vmstat(b"allocstall 5\nallocstalled 7\n").stalls == {"all": 5}


def test_broken_lines_are_left_out() -> None:
    text = b"pgfault -1\npgmajfault " + b"9" * 6000 + b"\n\0\noom_kill 3\npgscan_direct 12"
    assert dict(parse_vmstat(text).fields) == {"oom_kill": 3}


@pytest.mark.parametrize("text", [b"", b"pgfault 5", b"\0\n", b"pgfault\n"])
def test_no_field_is_unavailable(text: bytes) -> None:
    with pytest.raises(Unavailable, match="no field"):
        parse_vmstat(text)


@given(mangled(real("vmstat")))
def test_no_bytes_break_it(text: bytes) -> None:
    with contextlib.suppress(Unavailable):
        assert parse_vmstat(text).fields


def test_absent_fields_are_not_emitted(tmp_path: Path) -> None:
    text = b"pgscan_direct 100\nnr_free_pages 5\nallocstall_normal 7\n"
    reading = Vmstat().read(captured(tmp_path, {"/proc/vmstat": text}))
    assert {(sample.signal, *sample.labels): sample.value for sample in reading.samples} == {
        ("vmstat_pgscan_direct",): 100,
        ("vmstat_allocstall", "normal"): 7,
    }
    assert undeclared(Vmstat(), reading) == []


def test_nearly_every_declared_field_exists_on_a_real_kernel() -> None:
    absent = {field for field in FIELDS if parse_vmstat(real("vmstat")).get(field) is None}
    assert absent == {"workingset_refault", "workingset_activate", "workingset_restore"}
