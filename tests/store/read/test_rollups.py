"""Roll-ups over segments: the same worst seconds as from the segments, gone when these go, whole or not there."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.store.format.arrow import from_rows
from necroscope.store.format.rows import event_rows
from necroscope.store.format.segment import read_table, write_segment
from necroscope.store.format.tables import CORES
from necroscope.store.read import rollups
from necroscope.store.read.catalog import Segment, create, segments
from necroscope.store.read.core_peaks import PEAK_NS, peaks
from necroscope.store.read.reader import Store
from necroscope.store.write.housekeeping import Housekeeper
from necroscope.store.write.retention import Retention
from necroscope.vocabulary.event import Event

START_NS = 1_767_323_040 * NS
PART_S = 300
KEEP = Retention(max_bytes=1 << 40, max_age_s=1e9, free_bytes=0)
Row = tuple[int, int, int, int, int | None, int, int, int, int]


def row(second: int, cpu: int, system: int, idle: int, passed: int = 1000) -> Row:
    """A look at a core at the end of a second."""
    rest = passed - system - idle
    return (START_NS + (second + 1) * NS, cpu, passed, rest, system, 0, 0, 0, idle)


def seal(store: Path, number: int, rows: list[Row], events: list[Event] | None = None) -> Segment:
    """A segment with the cores' rows."""
    tables = {"cores": from_rows(CORES, rows)}
    if events:
        tables["events"] = event_rows(events)
    made = write_segment(store / "segments", tables, number, number)
    assert made is not None
    return made


def part(number: int) -> list[Row]:
    """Five minutes of two cores; core 1 has one bad second in each."""
    return [
        row(second, cpu, 900 if cpu == 1 and second % PART_S == 123 else 100, 50 if cpu == 1 else 500)
        for second in range((number - 1) * PART_S, number * PART_S)
        for cpu in (0, 1)
    ]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of twenty minutes in four segments, with a symptom in the second and cgroups everywhere."""
    create(tmp_path / "s")
    for number in range(1, 5):
        at_ns = START_NS + number * PART_S * NS - 9 * NS
        events = [Event(at_ns, "cgroup-mkdir", "perf", "/a", "")]
        if number == 2:
            events.append(Event(at_ns, "nic-reset", "kmsg", "eth0", "reset"))
        seal(tmp_path / "s", number, part(number), events)
    return tmp_path / "s"


def keeper(store: Path, retention: Retention = KEEP) -> Housekeeper:
    """The store's keeper, once it has tidied; nothing is small enough to be merged away under it."""
    made = Housekeeper(store, retention)
    made._alone.update(made.segments)
    made.tidy()
    return made


def names(store: Path) -> list[tuple[int, int]]:
    """Numbers of the roll-ups on disk."""
    return [(one.first, one.last) for one in rollups.rollups(store)]


def test_the_worst_second_of_ten_is_kept() -> None:
    rows = [row(0, 0, 100, 500), row(9, 0, 300, 600), row(10, 0, 50, 900), row(3, 1, 0, 1000)]
    found = peaks([from_rows(CORES, rows)]).to_pylist()
    assert [(one["at_ns"] - START_NS, one["cpu"]) for one in found] == [(0, 0), (PEAK_NS, 0), (0, 1)]
    assert [(one["system"], one["busy"], one["idle"]) for one in found] == [
        (0.3, 0.5, 0.6),
        (0.05, pytest.approx(0.1), 0.9),
        (0, 0, 1),
    ]


def test_interrupts_of_both_kinds_are_one_look_and_unknown_modes_are_none() -> None:
    rows = [(START_NS + NS, 0, 1000, 100, None, 20, 30, 0, 850)]
    (found,) = peaks([from_rows(CORES, rows)]).to_pylist()
    assert (found["irq"], found["system"], found["user"]) == (0.05, 0.0, 0.1)


def test_a_look_belongs_to_the_middle_of_its_time() -> None:
    at_ns = START_NS + PEAK_NS + 400_000_000
    (found,) = peaks([from_rows(CORES, [(at_ns, 0, 1000, 0, 500, 0, 0, 0, 500)])]).to_pylist()
    assert found["at_ns"] == START_NS


def test_what_spans_a_quarter_of_an_hour_is_rolled_up(store: Path) -> None:
    keeper(store)
    assert names(store) == [(1, 3)]
    (rolled,) = rollups.rollups(store)
    table = read_table(rolled, "core_peaks")
    assert table is not None
    cpu, system = table["cpu"].to_numpy(), table["system"].to_numpy()
    assert table.num_rows == 2 * 90
    assert system[cpu == 0].max() == 0.1
    assert np.flatnonzero(system[cpu == 1] > 0.5).tolist() == [12, 42, 72]
    symptoms = read_table(rolled, "symptoms")
    assert symptoms is not None
    assert symptoms["kind"].to_pylist() == ["nic-reset"]


def test_segments_without_cores_are_rolled_up_once_and_to_nothing(tmp_path: Path) -> None:
    create(tmp_path)
    for number in (1, 2):
        at_ns = START_NS + number * 1000 * NS
        write_segment(
            tmp_path / "segments", {"events": event_rows([Event(at_ns, "x", "perf", "", "")])}, number, number
        )
    keeper(tmp_path)
    assert names(tmp_path) == [(1, 2)]
    (rolled,) = rollups.rollups(tmp_path)
    assert [path.name for path in rolled.path.iterdir()] == ["manifest.json"]


def test_a_hole_in_the_numbers_is_not_rolled_over(store: Path) -> None:
    shutil.rmtree(segments(store)[1].path)
    keeper(store)
    assert names(store) == []


def test_leftovers_of_a_writer_that_died_are_swept_and_made_anew(store: Path) -> None:
    left = store / "rollups" / ".00000001-00000003"
    left.mkdir(parents=True)
    (left / "core_peaks.parquet").write_bytes(b"half")
    (store / "rollups" / "strange").write_bytes(b"")
    assert Store(store).snapshot().rollups == ()
    keeper(store)
    assert names(store) == [(1, 3)]
    assert not left.exists()


def test_what_a_dead_writer_had_removed_the_segments_of_does_not_count(store: Path) -> None:
    keeper(store)
    shutil.rmtree(segments(store)[0].path)
    assert names(store) == [(1, 3)]
    assert Store(store).snapshot().rollups == ()
    keeper(store)
    assert names(store) == [(2, 4)]


def test_retention_takes_it_with_its_segments(store: Path) -> None:
    keeper(store)
    old = Retention(max_bytes=1 << 40, max_age_s=PART_S * 2.5, free_bytes=0)
    kept = keeper(store, old)
    assert [one.first for one in kept.segments] == [2, 3, 4]
    assert names(store) == [(2, 4)]


def test_a_full_disk_takes_it_with_its_segments(store: Path) -> None:
    kept = keeper(store, Retention(max_bytes=1 << 40, max_age_s=1e9, free_bytes=0, least_bytes=0))
    assert kept.make_room()
    assert kept.make_room()
    assert [one.first for one in kept.segments] == [2, 3]
    assert names(store) == []


def test_merged_segments_are_still_rolled_up(store: Path) -> None:
    keeper(store)
    seal(store, 5, part(5))
    seal(store, 6, part(6))
    keeper(store)
    assert names(store) == [(1, 3), (4, 6)]
    merged = [Segment(1, 6, START_NS, START_NS + 1, store)]
    found = rollups.rollups(store)
    assert rollups.counting(found, merged) == found
    assert rollups.left_over(merged, found) == []
    assert rollups.left_over(merged, found[:1]) == merged


def test_a_recorder_that_finds_hours_does_not_do_them_at_once(tmp_path: Path) -> None:
    create(tmp_path)
    for number in range(1, 8):
        seal(tmp_path, number, [row(number * 1000 + second, 0, 1, 1) for second in (0, 950)])
    kept = keeper(tmp_path)
    assert len(names(tmp_path)) == 4
    kept.tidy()
    assert len(names(tmp_path)) == 7


def test_a_damaged_segment_is_left_alone(store: Path) -> None:
    segments(store)[1].file("cores").write_bytes(b"no parquet")
    kept = keeper(store)
    kept.tidy()
    assert names(store) == []
    assert list((store / "rollups").iterdir()) == []


def _entry(first: int, last: int) -> Segment:
    return Segment(first, last, first, last, Path(f"{first}-{last}"))


@pytest.mark.parametrize(
    ("rolled", "held", "exact"),
    [
        ([(1, 3), (4, 6)], [(1, 1), (2, 3), (4, 6), (7, 7)], [(1, 3), (4, 6)]),
        ([(1, 3), (4, 6)], [(1, 2), (3, 4), (5, 6)], []),
        ([(1, 3), (4, 6)], [(1, 3), (4, 4), (5, 8)], [(1, 3)]),
        ([(4, 6)], [(1, 9)], []),
        ([(1, 4), (3, 6)], [(1, 2), (3, 4), (5, 6)], [(1, 4)]),
    ],
    ids=["whole", "a merge across both", "a merge beyond the end", "inside a merge", "overlapping"],
)
def test_sums_stand_for_whole_segments_only(
    rolled: list[tuple[int, int]], held: list[tuple[int, int]], exact: list[tuple[int, int]]
) -> None:
    found = rollups.exact([_entry(*one) for one in rolled], [_entry(*one) for one in held])
    assert [(one.first, one.last) for one in found] == exact
