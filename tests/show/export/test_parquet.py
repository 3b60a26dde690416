"""Samples as a Parquet table that others read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from necroscope.query.select import Select
from necroscope.show.export import parquet
from stage.exported import rows, source, total_ns, working


@pytest.fixture(scope="module")
def table(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("parquet") / "window.parquet"
    with path.open("wb") as file:
        parquet.write(source(store), file)
    return path


def test_a_row_for_each_sample(table: Path) -> None:
    read = pq.read_table(table)
    assert read["at"].cast("int64").to_pylist() == read["at_ns"].to_pylist()
    names = ("at_ns", "pid", "tid", "cpu", "comm", "cgroup")
    got = Counter(
        (*(row[name] for name in names), tuple(zip(row["frames"], row["modules"], strict=True)))
        for row in read.drop_columns(["at"]).to_pylist()
    )
    expected = Counter((r.at_ns, r.pid, r.tid, r.cpu, r.comm, r.cgroup, r.frames) for r in working())
    assert got == expected


def test_duckdb_reads_it(table: Path) -> None:
    found = duckdb.sql(f"""
        select count(*), sum(weight)::bigint, count(distinct stack_id), list_contains(frames, 'spin') as spins
        from '{table}' group by spins order by spins
    """).fetchall()
    assert sum(row[0] for row in found) == len(working())
    assert sum(row[1] for row in found) == total_ns(working())
    spins = sum(("spin", "worker") in row.frames for row in working())
    assert found[1] == (spins, spins * (total_ns(working()) // len(working())), 1, True)
    types = {name: str(kind) for name, kind, *_ in duckdb.sql(f"describe from '{table}'").fetchall()}
    assert types["frames"] == types["modules"] == "VARCHAR[]"
    assert types["at"].startswith("TIMESTAMP")


def test_written_as_it_comes(table: Path) -> None:
    metadata = pq.read_metadata(table)
    assert metadata.num_row_groups == 3
    assert pq.read_schema(table).field("frames").type.value_type == pa.string()


def test_idle_samples_on_demand(store: Path, tmp_path: Path) -> None:
    with (tmp_path / "all.parquet").open("wb") as file:
        parquet.write(source(store, idle=True), file)
    assert pq.read_metadata(tmp_path / "all.parquet").num_rows == len(rows())


def test_nothing_is_a_table_without_rows(store: Path, tmp_path: Path) -> None:
    with (tmp_path / "none.parquet").open("wb") as file:
        parquet.write(source(store, Select((0, 1))), file)
    assert pq.read_table(tmp_path / "none.parquet").num_rows == 0
