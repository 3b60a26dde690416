"""SQL reads only what was sealed: files are verified before DuckDB sees them, those of a question and no others."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from necroscope.query.sql.engine import Engine
from necroscope.query.sql.files import SqlFiles, tables_of
from necroscope.store.read.catalog import all_segments
from necroscope.store.read.reader import Store
from stage.everything import fill


@pytest.fixture
def store(tmp_path: Path) -> Path:
    fill(tmp_path).close(merge=False)
    return tmp_path


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("select 1", set()),
        ("select * from events", {"events"}),
        ('select count(*) from "EVENTS"', {"events"}),
        ("select * from cgroups", {"events"}),
        ("select * from seconds", {"seconds"}),
        ("select * from SAMPLES join stacks using (stack_id)", {"samples", "stacks"}),
        ("from signals", {"series", "ticks", "changes"}),
        ("select * from store.flames", {"flames"}),
        ("with e as (from events) select * from e, cores", {"events", "cores"}),
    ],
)
def test_the_tables_that_a_query_reads(sql: str, tables: set[str]) -> None:
    assert tables_of(sql) == tables


def test_duckdb_alone_takes_a_flipped_id_for_right(store: Path) -> None:
    """Why files are verified: the reason may go away with a later version of DuckDB, the test tells then."""
    path = all_segments(store)[0].file("events")
    before = duckdb.sql(f"select id from '{path}'").fetchall()
    data = path.read_bytes()
    place = data.index(before[0][0].to_bytes(8, "little"))
    path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    assert duckdb.sql(f"select id from '{path}'").fetchall() != before


@pytest.mark.parametrize("place", [0.2, 0.5, 0.8, -40, -3])
def test_a_flipped_bit_is_found_before_it_is_read(store: Path, place: float) -> None:
    segment = all_segments(store)[1]
    path = segment.file("events")
    with Engine(Store(store)) as engine:
        whole = {row["id"] for row in engine.ask("select id from events").rows()}
        assert engine.notes == ()
    data = path.read_bytes()
    at = int(place) if place < 0 else int(len(data) * place)
    at %= len(data)
    path.write_bytes(data[:at] + bytes([data[at] ^ 8]) + data[at + 1 :])
    with Engine(Store(store)) as engine:
        rows = {row["id"] for row in engine.ask("select id from events").rows()}
        assert engine.notes == (f"{path} is damaged and left out",)
        assert rows < whole


def test_a_lost_file_is_damage(store: Path) -> None:
    path = all_segments(store)[1].file("zombies")
    path.unlink()
    with Engine(Store(store)) as engine:
        assert len(engine.ask("select * from zombies").rows()) == 6
        assert engine.notes == (f"{path} is damaged and left out",)


def test_files_that_nobody_asks_for_are_not_read(store: Path) -> None:
    path = all_segments(store)[1].file("samples")
    data = path.read_bytes()
    path.write_bytes(data[:50] + b"x" + data[51:])
    files = SqlFiles(Store(store).snapshot())
    assert files.check({"events", "cores"})
    assert not files.check({"samples"})
    assert files.damaged == {path}
    assert files.check({"samples"}), "it is told once"
