"""What an import could not use is told with counts, and hostile numbers weigh nothing."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from perf.stream_builder import HEADER, Maker, attr, record, round_end

from necroscope.query.sql.engine import Engine
from necroscope.record.imports.file_importers import How, import_file
from necroscope.record.imports.perf_recordings import ODD_WEIGHTS, Imported
from necroscope.sense.host import Host
from necroscope.sense.perf.format.layout import Type
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer

PERIOD_AT = 8 + 5 * 8  # behind the header, id, ip, tid, time, cpu


def put(store: Path, path: Path) -> Imported:
    writer = Writer(store)
    try:
        return import_file(writer, path, How(Host()))[1]
    finally:
        writer.close(merge=False)


def ask(store: Path, question: str) -> list[dict[str, object]]:
    with Engine(Store(store)) as engine:
        return list(engine.ask(question).rows())


def test_records_that_nobody_asks_for_are_counted(tmp_path: Path) -> None:
    maker = Maker()
    switches = [record(kind, maker.trailer(9)) for kind in (Type.SWITCH, Type.SWITCH, Type.SWITCH_CPU_WIDE)]
    path = tmp_path / "perf.data"
    path.write_bytes(HEADER + attr() + maker.sample(9, 5) + b"".join(switches) + round_end())
    done = put(tmp_path / "store", path)
    assert done.samples == 1
    assert any(note.startswith("3 records are of kinds that are not used") for note in done.notes)
    path.write_bytes(HEADER + attr() + maker.sample(9, 5) + maker.comm(8, 5, "x") + round_end())
    assert not any("not used" in note for note in put(tmp_path / "other", path).notes)


@pytest.mark.parametrize("period", [2**64 - 1, 2**63, 2**63 - 1, 2**43])
def test_a_period_that_no_event_has_counts_as_one(tmp_path: Path, period: int) -> None:
    maker = Maker()
    hostile = bytearray(maker.sample(9, 5))
    assert struct.unpack_from("<Q", hostile, PERIOD_AT) == (1_000_000,)
    struct.pack_into("<Q", hostile, PERIOD_AT, period)
    path = tmp_path / "perf.data"
    path.write_bytes(HEADER + attr() + bytes(hostile) * 3 + maker.sample(10, 5) + round_end())
    done = put(tmp_path / "store", path)
    assert f"3 {ODD_WEIGHTS}" in done.notes
    assert ask(tmp_path / "store", "select sum(weight) as s from samples") == [{"s": 1_000_003}]


@pytest.mark.parametrize("name", ["cpu_core/cycles:P/", "cpu_atom/cycles/P", "cpu_core/cycles/"])
def test_events_of_hybrid_cpus_stay_events(tmp_path: Path, name: str) -> None:
    path = tmp_path / "perf.txt"
    line = f"x 7/7 [001] 1767323045.000001: 50000 {name}: \n\t  12ab f+0x1 (/bin/x)\n\n"
    path.write_text(line * 3)
    assert put(tmp_path / "store", path).samples == 3
    (row,) = ask(tmp_path / "store", "select distinct event as e from samples")
    assert row["e"] == name
    assert ask(tmp_path / "store", "select distinct weight as w from samples") == [{"w": 50_000}]


def test_lines_about_tasks_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "perf.txt"
    path.write_text(
        "x 7/7 [001] 1767323045.000001: PERF_RECORD_COMM: x:7/7\n"
        "x 7/7 [001] 1767323045.000001: PERF_RECORD_COMM exec: x:7/7\n"
        "x 7/7 [001] 1767323045.000001: PERF_RECORD_FORK(7:7):(1:1)\n\n"
        "x 7/7 [001] 1767323045.000002: 5 cycles: \n\t  12ab f+0x1 (/bin/x)\n\n"
    )
    done = put(tmp_path / "store", path)
    assert done.samples == 1
    assert "3 lines tell of tasks and mappings, which are not used" in done.notes
