"""Storms of cgroups: what is told one by one, what only as sums, and that who leaks within a storm is still seen."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from necroscope.sense.perf.cgroups.churn import CgroupChurn, few_of_each
from necroscope.sense.perf.format.columns import RawRows
from necroscope.sense.perf.format.tracepoints import Format, cgroup_event, parse_format
from necroscope.sense.perf.rows import CgroupSum

NS = 10**9
LIFE = """name: cgroup_{kind}
ID: {id}
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int root;	offset:8;	size:4;	signed:1;
	field:int level;	offset:12;	size:4;	signed:1;
	field:u64 id;	offset:16;	size:8;	signed:0;
	field:__data_loc char[] path;	offset:24;	size:4;	signed:0;
"""
ATTACH = """name: cgroup_attach_task
ID: 4
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int dst_root;	offset:8;	size:4;	signed:1;
	field:int dst_level;	offset:12;	size:4;	signed:1;
	field:u64 dst_id;	offset:16;	size:8;	signed:0;
	field:int pid;	offset:24;	size:4;	signed:1;
	field:__data_loc char[] dst_path;	offset:28;	size:4;	signed:0;
	field:__data_loc char[] comm;	offset:32;	size:4;	signed:0;
"""
TEXTS = [LIFE.format(kind=kind, id=number) for number, kind in enumerate(("mkdir", "rmdir", "release"))] + [ATTACH]
FORMATS: dict[int, Format] = {
    number: found for number, text in enumerate(TEXTS) if (found := parse_format(text, "cgroup")) is not None
}
Record = tuple[int, str, int, str, int]
"""When (ns), what, which cgroup, its path, by which process."""


def data_of(kind: str, number: int, path: str, moved: int = 0) -> bytes:
    text = path.encode() + b"\0"
    if kind == "attach_task":
        return struct.pack("<8xiiQiII", 4, 1, number, moved, 36 | len(text) << 16, 36 + len(text)) + text + b"sh\0"
    return struct.pack("<8xiiQI", 4, 1, number, 28 | len(text) << 16) + text


def rows_of(records: Sequence[Record]) -> RawRows:
    kinds = ("mkdir", "rmdir", "release", "attach_task")
    parts = []
    for _, kind, number, path, pid in records:
        raw = data_of(kind, number, path, pid)
        parts.append((struct.pack("<I", len(raw)) + raw).ljust((len(raw) + 11) // 8 * 8, b"\0"))
    return RawRows(
        time=np.array([one[0] for one in records], np.uint64),
        event=np.array([kinds.index(one[1]) for one in records], np.int32),
        pid=np.array([one[4] for one in records], np.uint32),
        words=np.array([len(part) // 8 for part in parts], np.int64),
        data=np.frombuffer(b"".join(parts), np.uint64),
    )


def lives(first: int, count: int, at_ns: int, parent: str = "/batch", pid: int = 50) -> list[Record]:
    """Cgroups that are made, removed and released within a millisecond each."""
    found: list[Record] = []
    for number in range(first, first + count):
        path, begin = f"{parent}/job-{number}", at_ns + (number - first) * 20_000
        found += [(begin, "mkdir", number, path, pid), (begin + 5_000, "rmdir", number, path, pid)]
        found.append((begin + 900_000, "release", number, path, 2))
    return sorted(found)


def sorted_by(
    churn: CgroupChurn, records: Sequence[Record], now_ns: int
) -> tuple[list[tuple[str, str]], list[CgroupSum]]:
    found = churn.sort(rows_of(records) if records else None, FORMATS, now_ns)
    raws = list(found.single.fields()) if found.single is not None else []
    events = [event for raw in raws if (event := cgroup_event(FORMATS[raw.event], raw)) is not None]
    return [(event.kind, event.path) for event in events], list(found.sums)


def test_what_the_budget_pays_for_is_recorded_one_by_one() -> None:
    calm = lives(1, 20, NS)
    events, sums = sorted_by(CgroupChurn(budget=60), calm, NS)
    assert events == [(kind, path) for _, kind, _, path, _ in calm]
    assert sums == []


def test_in_a_storm_lives_that_are_over_become_a_sum() -> None:
    churn = CgroupChurn(budget=10, refill_per_s=0)
    assert sorted_by(churn, lives(1, 3000, NS), NS) == ([], [])
    events, (one,) = sorted_by(churn, [], 2 * NS)
    assert events == []
    assert (one.root, one.parent, one.made, one.removed, one.released, one.whole) == (
        4,
        "/batch",
        3000,
        3000,
        3000,
        3000,
    )
    assert NS <= one.at_ns <= NS + 5_000
    assert one.pid == 50
    assert len(one.examples) == 3
    assert one.examples[0] == "/batch/job-1"


def test_who_leaks_within_a_storm_is_recorded_one_by_one() -> None:
    churn = CgroupChurn(budget=40, refill_per_s=20)
    leaked: list[Record] = [
        (NS + 7, "mkdir", 90_001, "/app/leaky", 77),
        (NS + 8, "rmdir", 90_001, "/app/leaky", 77),
    ]
    assert sorted_by(churn, sorted([*lives(1, 3000, NS), *leaked]), NS + NS // 2)[0] == []
    events: list[tuple[str, str]] = []
    for turn in range(1, 5):
        now = NS + turn * NS
        found, _ = sorted_by(churn, lives(10_000 * turn, 3000, now), now)
        events += found
    assert events == [("mkdir", "/app/leaky"), ("rmdir", "/app/leaky")]


def test_nothing_is_recorded_halfway() -> None:
    """A cgroup whose making was told is told to its end, or it would look like a leak; and the other way round."""
    churn = CgroupChurn(budget=3, refill_per_s=0)
    assert sorted_by(churn, [(NS, "mkdir", 7, "/a/kept", 9)], NS)[0] == [("mkdir", "/a/kept")]
    later = [*lives(1000, 500, NS + 10), (NS + 20, "rmdir", 7, "/a/kept", 9), (NS + 30, "release", 7, "/a/kept", 2)]
    assert sorted_by(churn, sorted(later), NS + 10**6)[0] == [("rmdir", "/a/kept"), ("release", "/a/kept")]
    made = [(2 * NS + number, "mkdir", number, f"/b/{number}", 9) for number in range(500)]
    ended = [
        (9 * NS + number, kind, number, f"/b/{number}", 9) for number in range(500) for kind in ("rmdir", "release")
    ]
    assert sorted_by(churn, made, 2 * NS)[0] == []
    assert sorted_by(churn, [], 3 * NS)[0] == []
    # The budget is empty: their making went into a sum, so their end does.
    (summed,) = [
        one
        for _, sums in (sorted_by(churn, [], 6 * NS), sorted_by(churn, [], 8 * NS))
        for one in sums
        if one.made > 400
    ]
    assert (summed.parent, summed.made, summed.removed) == ("/b", 500, 0)
    assert sorted_by(churn, sorted(ended), 9 * NS)[0] == []
    assert [(one.made, one.removed, one.whole) for one in sorted_by(churn, [], 11 * NS)[1]] == [(0, 500, 0)]


def test_leaks_beyond_the_budget_are_recorded_in_part_and_evenly() -> None:
    churn = CgroupChurn(budget=200, refill_per_s=0)
    leaks: list[Record] = []
    for number in range(3000):
        parent = "/big" if number % 3 else "/small"
        path = f"{parent}/{number}"
        leaks += [(NS + 2 * number, "mkdir", number, path, 5), (NS + 2 * number + 1, "rmdir", number, path, 5)]
    assert sorted_by(churn, leaks, NS + 10**6)[0] == []
    events, _ = sorted_by(churn, [], 4 * NS)
    assert len(events) == 200
    small = sum(path.startswith("/small/") for _, path in events)
    assert 50 <= small <= 84
    paths = [path for kind, path in events if kind == "mkdir"]
    assert sorted(paths) == sorted(path for kind, path in events if kind == "rmdir")
    sums = {one.parent: (one.made, one.removed, one.released) for one in sorted_by(churn, [], 6 * NS)[1]}
    assert sums == {"/big": (2000 - (200 - small) // 2,) * 2 + (0,), "/small": (1000 - small // 2,) * 2 + (0,)}


def test_of_many_parents_the_largest_are_named_and_nothing_is_left_out() -> None:
    churn = CgroupChurn(budget=1, refill_per_s=0)
    storm = [one for number in range(40) for one in lives(1000 * number + 1, 10 + number, NS, f"/p{number}")]
    sorted_by(churn, sorted(storm), NS + 10**6)
    sums = sorted_by(churn, [], 3 * NS)[1]
    assert [one.parent for one in sums] == [*(f"/p{number}" for number in range(39, 31, -1)), ""]
    assert sum(one.made for one in sums) == sum(10 + number for number in range(40))


def test_of_moves_the_last_of_each_process_stays() -> None:
    churn = CgroupChurn(4, budget=1, refill_per_s=0)
    moves: list[Record] = [(NS + number, "attach_task", 5, f"/m/{number}", 100 + number % 2) for number in range(1000)]
    assert sorted(sorted_by(churn, moves, NS + 2000)[0]) == [("attach_task", "/m/998"), ("attach_task", "/m/999")]


def test_long_and_strange_paths_have_a_parent() -> None:
    churn = CgroupChurn(budget=1, refill_per_s=0)
    long = "/" + "x" * 100 + "/" + "y" * 100 + "/" + "z" * 100
    sorted_by(churn, sorted([*lives(1, 5, NS, long), *lives(100, 7, NS, ""), *lives(200, 3, NS, "/a/ü b")]), NS + 10**6)
    parents = {one.parent: one.made for one in sorted_by(churn, [], 3 * NS)[1]}
    assert parents == {"/": 7, "/a/ü b": 3, "/" + "x" * 100 + "/" + "y" * 100: 5}


def test_records_that_are_cut_are_neither_counted_nor_fatal() -> None:
    rows = rows_of(lives(1, 4, NS))
    cut = RawRows(rows.time, rows.event, rows.pid, np.ones(len(rows), np.int64), np.full(len(rows), 4, np.uint64))
    churn = CgroupChurn(budget=1, refill_per_s=0)
    found = churn.sort(cut, FORMATS, NS)
    assert found.single is None or len(found.single) == 0
    assert found.sums == ()


def test_memory_is_bounded_whatever_stays_open() -> None:
    churn = CgroupChurn(budget=1, refill_per_s=0)
    for turn in range(12):
        begin = NS + turn * 10**8
        made: list[Record] = [(begin + n, "mkdir", turn * 10_000 + n, f"/o/{turn}-{n}", 5) for n in range(10_000)]
        churn.sort(rows_of(made), FORMATS, begin + 10_000)
    assert churn._held is not None
    assert len(churn._held) <= 1 << 16


def test_few_samples_of_each_process_tell_who_it_was() -> None:
    pids = np.array([5] * 1000 + [9] + [5] * 1000, np.uint32)
    assert few_of_each(pids).tolist() == [0, 1, 1000]
    assert few_of_each(np.arange(5000, dtype=np.uint32)).size == 200
