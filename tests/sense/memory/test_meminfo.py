"""/proc/meminfo."""

from __future__ import annotations

import contextlib
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from procfiles import captured, mangled, real, undeclared

from necroscope.errors import Unavailable
from necroscope.sense.memory.meminfo import Meminfo, MemorySizes, parse_meminfo


def test_a_real_file_in_bytes() -> None:
    seen = parse_meminfo(real("meminfo"))
    assert (seen.memtotal_bytes, seen.shmem_bytes) == (24684100 * 1024, 12772 * 1024)
    assert (seen.percpu_bytes, seen.sunreclaim_bytes) == (1600 * 1024, 30568 * 1024)
    assert (seen.hugepages_total, seen.hugepagesize_bytes) == (0, 2 << 20)
    assert None not in [getattr(seen, field.name) for field in fields(seen)]


def test_absent_is_unknown() -> None:
    assert parse_meminfo(b"MemTotal: 5 kB\n") == MemorySizes(memtotal_bytes=5120)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"MemTotal:       24684100 kB",  # cut
        b"MemTotal: 24684100\n",  # a size without its unit
        b"HugePages_Total: 5 kB\n",
        b"MemTotal: -5 kB\n",
        b"MemTotal: " + b"9" * 6000 + b" kB\n",
        b"MemTotal: kB\n",
        b"MemTotal: 5 kB kB\n",
        b"\0\n",
    ],
)
def test_no_known_line_is_unavailable(text: bytes) -> None:
    with pytest.raises(Unavailable, match="no line"):
        parse_meminfo(text)


@given(mangled(real("meminfo")))
def test_no_bytes_break_it(text: bytes) -> None:
    with contextlib.suppress(Unavailable):
        assert parse_meminfo(text) != MemorySizes()


def test_the_sensor(tmp_path: Path) -> None:
    text = b"Percpu: 2 kB\nHugePages_Free: 3\nUnheardOf: 4 kB\n"
    reading = Meminfo().read(captured(tmp_path, {"/proc/meminfo": text}))
    assert {sample.signal: sample.value for sample in reading.samples} == {
        "meminfo_percpu_bytes": 2048,
        "meminfo_hugepages_free": 3,
    }
    assert undeclared(Meminfo(), reading) == []


def test_every_field_is_a_signal() -> None:
    assert [signal.name for signal in Meminfo.signals] == [f"meminfo_{field.name}" for field in fields(MemorySizes)]
