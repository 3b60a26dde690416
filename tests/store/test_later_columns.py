"""Stores that were written before a table got its last columns still read, alone and beside new ones."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from necroscope.query.rows import rows_of
from necroscope.query.sql.engine import Engine
from necroscope.store.bundle.recording import _suits
from necroscope.store.format import frames
from necroscope.store.format.arrow import from_columns, schema
from necroscope.store.format.rows import unit_rows
from necroscope.store.format.segment import read_segment
from necroscope.store.format.tables import JOURNAL, SEGMENT, UNITS
from necroscope.store.read.reader import Store
from necroscope.store.write.compaction import merge
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.model import UnitState
from stage.older import without_manifest
from stage.recorded import START_NS

LATER = ["wanted_by", "triggered_by", "preset"]
UNIT = UnitState("x.service", "active", "running", "success", 3, preset="enabled", wanted_by=("multi-user.target",))
ASKED = ["at_ns", "name", "restarts", *LATER]
OLD = {"at_ns": START_NS, "name": "x.service", "restarts": 3, "wanted_by": None, "triggered_by": None, "preset": None}
NEW = {**OLD, "at_ns": START_NS + 5, "wanted_by": "multi-user.target", "triggered_by": "", "preset": "enabled"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two segments; the first is as an older version wrote it."""
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    writer.add_units(START_NS, [UNIT])
    writer.seal()
    writer.add_units(START_NS + 5, [UNIT])
    writer.close(merge=False)
    path = without_manifest(Store(tmp_path).snapshot().segments[0]).file("units")
    pq.write_table(pq.read_table(path, partitioning=None).drop_columns(LATER), path, store_schema=False)
    return Store(tmp_path)


def test_columns_that_came_later_are_last_and_may_be_null() -> None:
    assert UNITS.later == set(LATER)
    for table in (*JOURNAL, *SEGMENT):
        late = [column.later for column in table.columns]
        assert late == sorted(late)
        assert all(column.optional for column in table.columns if column.later)


def test_rows_of_both(store: Store) -> None:
    assert rows_of(store.snapshot(), "units", (0, START_NS + 9), ASKED) == [OLD, NEW]


def test_sql_over_both(store: Store) -> None:
    with Engine(store) as engine:
        rows = list(engine.ask(f"select {', '.join(ASKED)} from units order by at_ns").rows())
    assert rows == [OLD, NEW]


def test_sql_over_old_ones_alone(store: Store) -> None:
    with Engine(store, (START_NS, START_NS + 1)) as engine:
        assert list(engine.ask(f"select {', '.join(ASKED)} from units").rows()) == [OLD]


def test_both_are_merged(store: Store) -> None:
    made = merge(store.folder / "segments", store.snapshot().segments)
    assert made is not None
    assert read_segment(made)["units"].select(ASKED).to_pylist() == [OLD, NEW]


def test_a_journal_of_before() -> None:
    rows = unit_rows(START_NS, [UNIT])
    plain = {name: rows[name].cast(schema(UNITS, plain=True).field(name).type) for name in UNITS.as_it_began.names}
    arrays = [column.combine_chunks() for column in plain.values()]
    body = pa.RecordBatch.from_arrays(arrays, schema=schema(UNITS.as_it_began, plain=True)).serialize().to_pybytes()
    section = b"\x05units" + len(body).to_bytes(4, "little") + body
    packed = len(section).to_bytes(4, "little") + pa.Codec("zstd").compress(section, asbytes=True)
    assert frames.decode(packed)["units"].select(ASKED).to_pylist() == [OLD]
    assert frames.decode(frames.encode({"units": rows}))["units"].equals(rows)


def test_a_bundle_of_before_suits_and_one_without_names_does_not() -> None:
    whole = schema(UNITS, plain=True)
    assert _suits(whole, UNITS)
    assert _suits(schema(UNITS.as_it_began, plain=True), UNITS)
    assert not _suits(whole.remove(whole.get_field_index("name")), UNITS)
    assert not _suits(whole.set(whole.get_field_index("preset"), pa.field("preset", pa.int64())), UNITS)


def test_a_column_that_always_was_must_be_there() -> None:
    with pytest.raises(KeyError):
        from_columns(UNITS, {"at_ns": [START_NS]})
