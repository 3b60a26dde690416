"""Events of format versions 1 and 2: every reader finds their fields, and they stay the events that they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from necroscope.clock import NS
from necroscope.query.cgroup_lifetimes import lives_of
from necroscope.query.events.landmarks import events, symptoms
from necroscope.query.rows import rows_of
from necroscope.query.sql.engine import Engine
from necroscope.store.bundle.excerpt import excerpt
from necroscope.store.format import frames, manifest
from necroscope.store.format.arrow import from_columns, schema
from necroscope.store.format.sealed_file import open_sealed
from necroscope.store.format.segment import read_segment, stage
from necroscope.store.format.tables import EVENTS
from necroscope.store.read.catalog import Segment, create
from necroscope.store.read.older_events import filled, lacking, needed
from necroscope.store.read.reader import Store
from necroscope.store.read.rollups import roll_up
from necroscope.store.write.compaction import merge
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event, event_of
from necroscope.vocabulary.event_sentence import sentence
from stage.incidents import INCIDENTS, unpacked
from stage.recorded import START_NS as AT

EVER = (0, (1 << 62))
LINE = "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [trainer:77]"
OLD = (
    Event(AT, "cgroup-mkdir", "perf", "/docker/a", "hierarchy 4, cgroup 71, level 2, by pid 16"),
    Event(AT + 1, "cgroup-rmdir", "perf", "/docker/a", "hierarchy 4, cgroup 71, level 2, by runc 17"),
    Event(AT + 2, "soft-lockup", "kmsg", "cpu1", f"{LINE} (×3)"),
    Event(
        AT + 3, "unit-restart", "systemd", "a.service", "3 more, 17 in all: exit-code, status 1, now failed (failed)"
    ),
    Event(AT + 4, "mark", "mark", "job", "hierarchy 4, cgroup 99, level 2, by pid 1"),
)
NEW = Event(AT + 9, "cgroup-release", "perf", "/docker/a", pid=0, cgroup=71, hierarchy=4)
BEGAN = EVENTS.as_it_began


def _old_table(events: tuple[Event, ...]) -> pa.Table:
    rows = [(one.id, one.at_ns, one.kind, one.source, one.subject, one.text, one.uncertainty_ns) for one in events]
    return from_columns(BEGAN, dict(zip(BEGAN.names, zip(*rows, strict=True), strict=True)))


def _sealed(store: Path, events: tuple[Event, ...], number: int, monkeypatch: pytest.MonkeyPatch) -> Segment:
    """A segment as format version 2 has it."""
    with monkeypatch.context() as patched:
        patched.setattr(manifest, "FORMAT_VERSION", 2)
        span = events[0].at_ns, events[-1].at_ns
        what = Segment(number, number, *span, store / "segments")
        made = stage(store / "segments", [("events", _old_table(events), 1000)], what).publish()
    assert made is not None
    return made


def _journal(store: Path, events: tuple[Event, ...], number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal as format version 2 has it."""
    with monkeypatch.context() as patched:
        patched.setitem(frames._TABLES, "events", BEGAN)
        payload = frames.encode({"events": _old_table(events)})
    data = frames.header(number) + frames.frame(number, 0, payload)
    (store / "journal" / f"{number:08d}.journal").write_bytes(data)


@pytest.fixture(params=["sealed", "journal"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store whose older rows are sealed, or still in a journal."""
    create(tmp_path / "store")
    for name in ("segments", "journal"):
        (tmp_path / "store" / name).mkdir(exist_ok=True)
    (_sealed if request.param == "sealed" else _journal)(tmp_path / "store", OLD, 1, monkeypatch)
    return tmp_path / "store"


def _check(found: list[Event]) -> None:
    made, removed, stuck, restarted, marked = sorted(found, key=lambda one: one.at_ns)[: len(OLD)]
    assert [one.id for one in (made, removed, stuck, restarted, marked)] == [one.id for one in OLD]
    assert (made.hierarchy, made.cgroup, made.pid, made.task, made.text) == (4, 71, 16, "", "")
    assert (removed.pid, removed.task) == (17, "runc")
    assert (stuck.text, stuck.count, stuck.cpu, stuck.stall_s) == (LINE, 3, 1, 22.0)
    assert (stuck.task, stuck.pid) == ("trainer", 77)
    assert (restarted.count, restarted.reason) == (3, "exit-code, status 1, now failed (failed)")
    assert marked == OLD[-1], "what somebody marked is nobody's sentence but theirs"


def test_events_have_their_fields(store: Path) -> None:
    snapshot = Store(store).snapshot()
    _check(events(snapshot, EVER))
    _check([event_of(row) for row in rows_of(snapshot, "events", EVER, list(EVENTS.names))])
    assert [one.kind for one in symptoms(snapshot, EVER)] == ["soft-lockup", "mark"]
    (life,) = lives_of(snapshot, EVER)
    assert (life.cgroup, life.maker, life.remover) == (71, 16, 17)


def test_sql_has_their_fields(store: Path) -> None:
    with Engine(Store(store)) as engine:
        _check([event_of(row) for row in engine.ask("select * exclude (at) from events").rows()])
        (life,) = engine.ask("select hierarchy, cgroup, made_ns, removed_ns from cgroups").rows()
        assert tuple(life.values()) == (4, 71, AT, AT + 1)
    with Engine(Store(store), (AT + 1, AT + 3)) as engine:
        assert engine.ask("select count(*) n, count(cgroup) c from events").rows() == [{"n": 3, "c": 1}]


def test_old_and_new_rows_together(store: Path) -> None:
    """A later recorder writes on, seals what was left behind, and merges it."""
    writer = Writer(store, flush_s=1e9)
    writer.add_events([NEW])
    writer.seal()
    for when in ("while it runs", "afterwards"):
        if when == "afterwards":
            writer.close()
        found = events(Store(store).snapshot(), EVER)
        _check(found)
        assert found[-1] == NEW
        with Engine(Store(store)) as engine:
            (life,) = engine.ask("select made_ns, removed_ns, released_ns from cgroups").rows()
            assert tuple(life.values()) == (AT, AT + 1, AT + 9)


def test_what_is_written_again_keeps_its_fields(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = _sealed(store, OLD, 11, monkeypatch)
    other = _sealed(store, (Event(AT + 9, "mark", "mark", "", "x"),), 12, monkeypatch)
    merged = merge(store / "segments", [one, other])
    assert merged is not None
    assert manifest.format_of(merged) == 3
    _check([event_of(row) for row in read_segment(merged)["events"].to_pylist()])
    excerpt(Store(store), EVER, tmp_path / "cut")
    _check(events(Store(tmp_path / "cut").snapshot(), EVER))
    rolled = roll_up(store, [one, other])
    assert rolled is not None
    with open_sealed(rolled, "symptoms") as file:  # type: ignore[union-attr]
        assert file.read(columns=["stall_s", "cpu"]).to_pylist()[0] == {"stall_s": 22.0, "cpu": 1}


def test_few_columns_of_an_older_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(tmp_path)
    (tmp_path / "segments").mkdir(exist_ok=True)
    with open_sealed(_sealed(tmp_path, OLD, 1, monkeypatch), "events") as file:  # type: ignore[union-attr]
        assert file.schema_arrow.names == list(EVENTS.names)
        assert file.read(columns=["at_ns", "kind"]).num_columns == 2
        assert file.read_row_group(0, columns=["pid"]).column_names == ["pid"]
        assert file.read_row_groups([0], columns=["pid"])["pid"].to_pylist() == [16, 17, 77, None, None]
    assert lacking("events", BEGAN.names)
    assert not lacking("events", EVENTS.names)
    assert not lacking("units", BEGAN.names)
    assert needed(["at_ns", "source"]) == ["at_ns", "source"]
    assert filled(_old_table(OLD)).schema == schema(EVENTS)


KEPT = sorted(INCIDENTS.glob("*.ncb"))
_ALIKE = frozenset({"recorder-gap", "unit-start", "unit-failure", "sensor-sees"})


@pytest.mark.parametrize("bundle", KEPT, ids=lambda path: path.stem)
def test_kept_incidents_have_fields(bundle: Path, tmp_path: Path) -> None:
    """Whoever blanks the text of our own events loses nothing."""
    store = Store(unpacked(bundle, tmp_path))
    raw = {row["id"]: row["text"] for row in _as_written(store)}
    found = events(store.snapshot(), EVER)
    assert {one.id for one in found} == set(raw)
    for event in found:
        before = raw[event.id]
        if event.kind.startswith("cgroup-"):
            assert sentence(event) == before.replace(f", level {before.split('level ')[1].split(',')[0]}", "")
        elif event.kind in _ALIKE:
            assert _without_text(event) == before.replace("name-54c5", "taken").replace("name-3668", "look")
        elif event.kind in ("recorder-started", "recorder-stopped"):
            assert _without_text(event) == before
        elif event.source == "kmsg":
            assert event.device
            assert event.device == event.subject
            assert event.driver
            assert (event.stall_s or 5.0) >= 5.0


def _without_text(event: Event) -> str:
    fields = event.fields
    del fields["text"]
    return sentence(Event(**fields))


def _as_written(store: Store) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    found: list[dict[str, Any]] = []
    for segment in store.snapshot().segments:
        if segment.file("events").exists():
            found += pq.read_table(segment.file("events")).to_pylist()
    return found


def test_a_storm_of_old_cgroups_is_read_in_time() -> None:
    import time

    events = [
        Event(AT + n, "cgroup-mkdir", "perf", f"/docker/{n}", f"hierarchy 4, cgroup {n}, level 2, by pid {n}")
        for n in range(20_000)
    ]
    began = time.process_time()
    table = filled(_old_table(tuple(events)), ["cgroup"])
    assert table["cgroup"].to_pylist()[-1] == 19_999
    assert time.process_time() - began < 2 * NS / NS, "some microseconds a row"
