"""Timelines, spaces and recordings' own words, piece by piece."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import BadInput
from necroscope.sense.perf.decode.interning import recoded
from necroscope.sense.perf.format.attrs import EventAttr, Events, default_name, parse_attr, plain_name
from necroscope.sense.perf.format.header import parse_header
from necroscope.sense.perf.format.layout import Sample
from necroscope.sense.perf.format.recording import Recording
from necroscope.sense.perf.tasks.address_spaces import locate, overlapping
from necroscope.sense.perf.tasks.timeline import Timeline

rows = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20), st.integers(0, 9)), max_size=8)


@given(st.lists(rows, min_size=1, max_size=4), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 80)), max_size=20))
def test_an_address_is_found_in_the_latest_mapping_that_holds_it(
    spaces: list[list[tuple[int, int, int]]], asked: list[tuple[int, int]]
) -> None:
    tables = [
        np.array([(start, start + size, 100, file) for start, size, file in one], np.uint64).reshape(-1, 4)
        for one in spaces
    ]
    asked = [(owner % len(spaces), address) for owner, address in asked]
    owner = np.array([one[0] for one in asked], np.int32)
    addresses = np.array([one[1] for one in asked], np.uint64)
    files, offsets = locate(tables, owner, addresses)
    for (space, address), file, offset in zip(asked, files.tolist(), offsets.tolist(), strict=True):
        inside = [row for row in spaces[space] if row[0] <= address < row[0] + row[1]]
        assert file == (inside[-1][2] if inside else -1)
        if inside:
            assert offset == address - inside[-1][0] + 100


@given(rows)
def test_overlaps_are_seen(one: list[tuple[int, int, int]]) -> None:
    table = np.array([(start, start + size, 0, 0) for start, size, _ in one], np.uint64).reshape(-1, 4)
    pairs = [(a, b) for place, a in enumerate(one) for b in one[place + 1 :]]
    assert overlapping(table) == any(a[0] < b[0] + b[1] and b[0] < a[0] + a[1] for a, b in pairs)


changes = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 9)), max_size=10)


@given(changes, st.lists(st.tuples(st.integers(1, 6), st.integers(1, 30)), min_size=1, max_size=12))
def test_a_timeline_knows_what_held_when(changed: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    line = Timeline(lambda task: 100 + task, keep=False)
    for rank, (task, value) in enumerate(changed, 1):
        line.set(task, rank * 2, value)
    tasks = np.array([task for task, _ in asked], np.uint32)
    ranks = np.array([rank for _, rank in asked], np.int64)
    for (task, rank), found in zip(asked, line.at(tasks, ranks).tolist(), strict=True):
        past = [value for turn, (who, value) in enumerate(changed, 1) if who == task and turn * 2 <= rank]
        assert found == (past[-1] if past else 100 + task)
    line.settle()
    assert line.at(np.array([1], np.uint32), np.array([1])).tolist() == [line.get(1)]


def test_a_timeline_forgets_the_oldest() -> None:
    line = Timeline(lambda task: 0)
    for task in range(100):
        line.set(task, 1, 7)
    line.shrink(40)
    assert sorted(line.now) == list(range(80, 100))


def test_codes_are_made_small() -> None:
    codes, texts = recoded(np.array([9, 3, 9], np.int32), [f"t{n}" for n in range(20)])
    assert (codes.tolist(), texts) == ([1, 0, 1], ("t3", "t9"))


# -- events -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_name", "plain"),
    [
        ("cpu-clock:ppp", "cpu-clock"), ("cycles:P", "cycles"), ("cgroup:cgroup_mkdir", "cgroup:cgroup_mkdir"),
        ("x", "x"), ("dummy:HG", "dummy"),
    ],
)  # fmt: skip
def test_modifiers_are_left_out(given_name: str, plain: str) -> None:
    assert plain_name(given_name) == plain


def test_events_have_names_by_default() -> None:
    def named(kind: int, config: int) -> str:
        return default_name(EventAttr(kind, config, 0, 0, 0))

    assert [named(0, 0), named(1, 0), named(2, 544), named(4, 0x3C), named(1, 999)] == [
        "cycles", "cpu-clock", "tracepoint:544", "event-4:0x3c", "event-1:0x3e7"
    ]  # fmt: skip


def test_an_old_short_attr_is_read_and_a_shorter_one_refused() -> None:
    fields = struct.pack("<IIQQQQQ", 1, 64, 0, 97, Sample.IP | Sample.TIME, 0, 1 << 18)
    attr = parse_attr(fields.ljust(64, b"\0"), [4])
    assert (attr.name, attr.ids, attr.sample_id_all, attr.word_of(Sample.TIME), attr.clockid) == (
        "cpu-clock",
        (4,),
        True,
        2,
        None,
    )
    with pytest.raises(BadInput):
        parse_attr(fields[:40])


def test_no_recording_declares_events_without_end() -> None:
    events = Events()
    events.attrs = [EventAttr(1, 0, 0, 0, 0)] * 4096
    with pytest.raises(BadInput):
        events.add(EventAttr(1, 0, 0, 0, 0))


# -- headers and features ----------------------------------------------------------------------------------------


@given(st.binary(max_size=140), st.integers(0, 1 << 40))
def test_any_header_is_read_or_refused(head: bytes, size: int) -> None:
    for data in (head, b"PERFILE2" + struct.pack("<Q", 104) + head):
        try:
            header = parse_header(data, size)
        except BadInput:
            continue
        assert header.pipe or header.data.size >= 0


@given(st.integers(0, 40), st.binary(max_size=200))
def test_any_feature_is_taken_or_passed_over(number: int, data: bytes) -> None:
    events = Events()
    events.add(EventAttr(1, 0, 0, 0, 0))
    recording = Recording()
    recording.feature(number, data, events)
    assert len(recording.build_ids) <= 10


def test_build_ids_are_kept_by_path() -> None:
    recording = Recording()

    def event(path: bytes, misc: int, identity: bytes, size: int) -> bytes:
        name = path + bytes(-len(path) % 8)
        return struct.pack("<IHHi20sBBH", 67, misc, 36 + len(name), -1, identity, size, 0, 0) + name

    data = event(b"[kernel.kallsyms]\0", 0x8001, b"\x01" * 20, 20) + event(b"/bin/x\0", 0x8002, b"\x02" * 16, 16)
    recording.feature(2, data, Events())
    assert recording.kernel_build_id == "01" * 20
    assert recording.build_ids == {"/bin/x": "02" * 16}
