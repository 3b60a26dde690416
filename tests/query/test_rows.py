"""Rows of small tables, sealed and live."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from necroscope.clock import NS
from necroscope.query.rows import rows_of
from necroscope.store.read.catalog import all_segments
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.model import ParentCount
from stage.everything import fill
from stage.older import without_manifest
from stage.recorded import START_NS

COLUMNS = ["at_ns", "parent", "zombies"]
EVER = (0, 1 << 62)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    for number in range(6):
        writer.add_zombies(START_NS + number * NS, [ParentCount("/a", number), ParentCount("/b", 10 * number)])
        if number in (1, 3):
            writer.seal()
    writer.flush()
    writer.disown()
    return Store(tmp_path)


def test_sealed_and_live_rows_by_time(store: Store) -> None:
    rows = rows_of(store.snapshot(), "zombies", EVER, COLUMNS, lambda row: row["parent"] == "/a")
    assert [row["zombies"] for row in rows] == [0, 1, 2, 3, 4, 5]


def test_a_window(store: Store) -> None:
    rows = rows_of(store.snapshot(), "zombies", (START_NS + NS, START_NS + 2 * NS), COLUMNS)
    assert [(row["parent"], row["zombies"]) for row in rows] == [("/a", 1), ("/b", 10), ("/a", 2), ("/b", 20)]


def test_of_too_many_the_latest(store: Store) -> None:
    notes: list[str] = []
    rows = rows_of(store.snapshot(), "zombies", EVER, COLUMNS, most=3, notes=notes)
    assert [row["zombies"] for row in rows] == [40, 5, 50]
    assert notes == ["of zombies, only the latest 3 rows were looked at"]


def test_a_table_without_rows(store: Store) -> None:
    assert rows_of(store.snapshot(), "units", EVER, ["at_ns", "name"]) == []


def test_damage_is_noted(store: Store) -> None:
    path = store.snapshot().holding("zombies")[0].file("zombies")
    path.write_bytes(b"PAR1 and nothing more")
    notes: list[str] = []
    rows = rows_of(store.snapshot(), "zombies", EVER, COLUMNS, notes=notes)
    assert len(rows) == 8
    assert notes == [f"{path} is damaged and left out"]


def test_a_column_that_was_not_written_is_unknown(store: Store) -> None:
    rows = rows_of(store.snapshot(), "zombies", EVER, [*COLUMNS, "later"])
    assert len(rows) == 12
    assert {row["later"] for row in rows} == {None}


def test_a_column_that_is_lost_is_damage_and_not_null(tmp_path: Path) -> None:
    """In a file without a manifest, a flipped bit may change the name of a column."""
    fill(tmp_path).close()
    segment = without_manifest(all_segments(tmp_path)[0])
    path = segment.file("processes")
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.rename_columns([name.replace("user_ms", "user_mr") for name in table.column_names]), path)
    notes: list[str] = []
    window = (START_NS, START_NS + 100 * NS)
    assert rows_of(Store(tmp_path).snapshot(), "processes", window, ["at_ns", "user_ms"], notes=notes) == []
    assert notes == [f"{path} is damaged and left out"]
