"""Samples of windows: those that SQL counts, sealed or in the journal; damage costs a file, not the answer."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.errors import BadInput
from necroscope.query.samples.chunks import chunks
from necroscope.query.samples.counting import count_samples
from necroscope.query.select import Select
from necroscope.query.sql.engine import Engine
from necroscope.store.read.catalog import segments
from necroscope.store.read.reader import Store
from stage.looked import record, second, text
from stage.recorded import PERIOD_NS, START_NS

SECONDS = 8
EVERYTHING = (START_NS, START_NS + SECONDS * NS - 1)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("store")
    writer = record(folder, SECONDS)
    yield Store(folder)
    writer.close()


def _counted(store: Store, select: Select) -> int:
    return sum(len(chunk) for chunk in chunks(store.snapshot(select.window), select))


WINDOWS = [EVERYTHING, (START_NS + NS // 2, START_NS + 3 * NS + 1), (START_NS + 5 * NS, START_NS + 20 * NS), (0, 5)]
FILTERS = [
    ({}, "true"),
    ({"cpus": {1}}, "cpu = 1"),
    ({"cpus": {0, 1, 99}}, "true"),
    ({"pids": {101}}, "pid = 101"),
    ({"tids": {110, 102}}, "tid in (110, 102)"),
    ({"comms": {"my thread"}}, "comm = 'my thread'"),
    ({"cgroups": {"/a"}}, "(cgroup = '/a' or cgroup like '/a/%')"),
    ({"cgroups": {"/a/b"}, "cpus": {0}, "pids": {100, 102}}, "cgroup = '/a/b' and cpu = 0 and pid in (100, 102)"),
    ({"events": {"cycles"}}, "false"),
]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("given", "where"), FILTERS)
def test_windows_have_the_samples_that_sql_counts(
    store: Store, window: tuple[int, int], given: dict[str, set[str]], where: str
) -> None:
    select = replace(Select(window), **{name: frozenset(values) for name, values in given.items()})  # type: ignore[arg-type]
    with Engine(store) as engine:
        sql = f"select count(*) as n from samples where at_ns between {window[0]} and {window[1]} and {where}"
        expected = engine.ask(sql).rows()[0]["n"]
    assert _counted(store, select) == expected
    counts = count_samples([window], chunks(store.snapshot(window), select))
    assert (int(counts.total()[0][0]), float(counts.total()[1][0])) == (expected, expected * PERIOD_NS)


def test_rows_are_those_that_were_recorded(store: Store) -> None:
    found = []
    for chunk in chunks(store.snapshot(), Select(EVERYTHING)):
        frames = chunk.stacks.frames(chunk.stack)
        for row in range(len(chunk)):
            comm, cgroup = chunk.comm.names[chunk.comm.codes[row]], chunk.cgroup.names[chunk.cgroup.codes[row]]
            ids = int(chunk.cpu[row]), int(chunk.pid[row]), int(chunk.tid[row])
            found.append((int(chunk.at_ns[row]), *ids, comm, cgroup, frames[row]))
    ones = [one for number in range(SECONDS) for one in second(number)]
    expected = [(one.at_ns, one.cpu, one.pid, one.tid, one.comm, one.cgroup, text(one.frames)) for one in ones]
    assert sorted(found) == sorted(expected)


def test_several_windows_are_read_at_once_and_overlap_counts_once(store: Store) -> None:
    one, other = (START_NS, START_NS + NS - 1), (START_NS + 6 * NS, START_NS + 7 * NS - 1)
    overlapping = (START_NS + NS // 2, START_NS + 2 * NS - 1)
    found = chunks(store.snapshot(), Select(one), others=[other, overlapping])
    at = [at_ns for chunk in found for at_ns in chunk.at_ns.tolist()]
    expected = [sample.at_ns for number in (0, 1, 6) for sample in second(number)]
    assert sorted(at) == sorted(expected)


def test_progress_goes_up_to_nearly_all(store: Store) -> None:
    shares: list[float] = []
    list(chunks(store.snapshot(), Select(EVERYTHING), shares.append))
    assert shares == sorted(shares)
    assert len(shares) == 2
    assert 0 < shares[0] < shares[-1] < 1


def _spoil(path: Path, at: int | None = None) -> None:
    """Zeros in the middle of a file, or from a byte on."""
    data = bytearray(path.read_bytes())
    begin = len(data) // 2 if at is None else at
    data[begin:] = bytes(len(data) - begin)
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("table", ["samples", "stacks"])
@pytest.mark.parametrize("at", [None, 4, 0])
def test_a_damaged_file_is_left_out_and_told(tmp_path: Path, table: str, at: int | None) -> None:
    record(tmp_path, 4, sealed=(1, 3)).close(merge=False)
    damaged = segments(tmp_path)[0].file(table)
    _spoil(damaged, at)
    notes: list[str] = []
    found = chunks(Store(tmp_path).snapshot(), Select(EVERYTHING), notes=notes)
    assert sum(len(chunk) for chunk in found) == 120
    assert notes == [f"{damaged} is damaged and left out"]
    with pytest.raises(BadInput, match="is damaged"):
        list(chunks(Store(tmp_path).snapshot(), Select(EVERYTHING)))


def test_damaged_pages_are_found_when_they_are_read(tmp_path: Path) -> None:
    record(tmp_path, 2, sealed=(1,)).close(merge=False)
    path = segments(tmp_path)[0].file("samples")
    data = bytearray(path.read_bytes())
    for place in range(4, 600):
        data[place] ^= 0xFF
    path.write_bytes(bytes(data))
    notes: list[str] = []
    assert list(chunks(Store(tmp_path).snapshot(), Select(EVERYTHING), notes=notes)) == []
    assert notes == [f"{path} is damaged and left out"]


def test_a_segment_whose_stacks_are_missing_is_damaged(tmp_path: Path) -> None:
    record(tmp_path, 2, sealed=(1,)).close(merge=False)
    segments(tmp_path)[0].file("stacks").unlink()
    notes: list[str] = []
    assert list(chunks(Store(tmp_path).snapshot(), Select(EVERYTHING), notes=notes)) == []
    assert len(notes) == 1


def test_a_segment_that_is_gone_is_no_damage(tmp_path: Path) -> None:
    record(tmp_path, 2, sealed=(1,)).close(merge=False)
    snapshot = Store(tmp_path).snapshot()
    shutil.rmtree(snapshot.segments[0].path)
    with pytest.raises(FileNotFoundError):
        list(chunks(snapshot, Select(EVERYTHING), notes=[]))


def test_a_segment_without_samples_is_none(tmp_path: Path) -> None:
    record(tmp_path, 0, sealed=()).close()
    assert list(chunks(Store(tmp_path).snapshot(), Select(EVERYTHING))) == []
