"""Real streams: equal to `perf script`, in pieces of any size; never a crash, whatever happens to them."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from perf import recorded

from necroscope.errors import BadInput
from necroscope.sense.perf.decode.stream import Decoder
from necroscope.sense.perf.rows import CgroupEvent, Row, TaskBatch
from necroscope.sense.perf.samples import SampleBatch


def decode(data: bytes, sizes: list[int] | None = None) -> tuple[list[Row], Decoder]:
    decoder = Decoder()
    rows: list[Row] = []
    sizes = sizes or [len(data) or 1]
    place = turn = 0
    while place < len(data):
        rows += decoder.feed(data[place : place + sizes[turn % len(sizes)]])
        place += sizes[turn % len(sizes)]
        turn += 1
    return rows + decoder.finish(), decoder


@pytest.mark.parametrize("name", recorded.STREAMS)
def test_a_stream_says_what_perf_script_says(name: str) -> None:
    rows, decoder = decode(recorded.data(name))
    assert recorded.samples(rows) == recorded.script(name)
    assert (decoder.stats.broken, decoder.stats.nameless, decoder.stats.skipped_bytes) == (0, 0, 0)


@pytest.mark.parametrize("name", recorded.STREAMS)
@pytest.mark.parametrize("size", [1 << 16, 4096, 1000, 333])
def test_pieces_of_any_size_give_the_same(name: str, size: int) -> None:
    whole, _ = decode(recorded.data(name))
    cut, _ = decode(recorded.data(name), [size, size // 3 + 1])
    assert recorded.samples(cut) == recorded.samples(whole)
    assert recorded.stacks(cut) == recorded.stacks(whole)


def test_the_life_of_a_cgroup_is_reported() -> None:
    rows, _ = decode(recorded.data("pipe"))
    events = [row for row in rows if isinstance(row, CgroupEvent)]
    assert [(one.kind, one.root, one.level, one.path) for one in events] == [
        ("mkdir", 4, 1, "/fixture-a"),
        ("attach_task", 4, 1, "/fixture-a"),
        ("attach_task", 4, 0, "/"),
        ("rmdir", 4, 1, "/fixture-a"),
    ]
    assert events[1].comm == "sh"
    assert events[0].id == events[1].id == events[3].id > 1
    assert events[0].at_ns < events[1].at_ns < events[2].at_ns < events[3].at_ns


def test_samples_carry_their_cgroup_and_their_event() -> None:
    rows, _ = decode(recorded.data("pipe"))
    batches = [row for row in rows if isinstance(row, SampleBatch)]
    assert {name for batch in batches for name in batch.cgroups} == {"/"}
    assert {name for batch in batches for name in batch.events} == {
        "cpu-clock", "cgroup:cgroup_mkdir", "cgroup:cgroup_rmdir", "cgroup:cgroup_attach_task"
    }  # fmt: skip


def test_tasks_are_reported_in_order() -> None:
    rows, _ = decode(recorded.data("pipe"))
    tasks = [
        (TaskBatch.KINDS[kind], pid, batch.comms[comm])
        for batch in rows
        if isinstance(batch, TaskBatch)
        for kind, pid, comm in zip(batch.kind.tolist(), batch.pid.tolist(), batch.comm.tolist(), strict=True)
    ]
    assert ("exec", 6, "mkdir") in tasks
    assert tasks.index(("fork", 6, "")) < tasks.index(("exec", 6, "mkdir")) < tasks.index(("exit", 6, ""))


def test_a_stream_tells_of_its_machine() -> None:
    _, decoder = decode(recorded.data("pipe"))
    recording = decoder.recording
    assert (recording.machine, recording.cpus_online, recording.perf_version) == ("x86_64", 2, "6.1.187")
    assert recording.realtime_offset_ns == 1_794_840_673_434_220_057
    assert recording.kernel_reference == ("_text", 0xFFFFFFFF81000000)


def test_batches_are_in_time_order() -> None:
    rows, _ = decode(recorded.data("pipez"), [5000])
    times = [at for row in rows if isinstance(row, SampleBatch) for at in row.at_ns.tolist()]
    assert times == sorted(times)


@pytest.mark.parametrize("data", [b"", b"P", b"PERFILE2", b"PERFILE2" + bytes(7)])
def test_a_stream_that_has_hardly_begun_is_empty(data: bytes) -> None:
    assert decode(data)[0] == []


@pytest.mark.parametrize(
    "data", [b"hello, world", b"PERFFILE" + bytes(8), b"2ELIFREP" + bytes(8), b"PERFILE2" + bytes(8)]
)
def test_what_is_no_stream_is_refused(data: bytes) -> None:
    with pytest.raises(BadInput):
        decode(data)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(recorded.STREAMS), st.integers(0, 2**32), st.integers(1, 40), st.integers(100, 70_000))
def test_flipped_bits_crash_nothing(name: str, seed: int, flips: int, size: int) -> None:
    dice = random.Random(seed)
    data = bytearray(recorded.data(name))
    for _ in range(flips):
        data[dice.randrange(16, len(data))] ^= 1 << dice.randrange(8)
    rows, decoder = decode(bytes(data), [size])
    assert len(recorded.samples(rows)) == decoder.stats.samples
    assert decoder.stats.samples <= len(recorded.script(name)) + decoder.stats.broken + 200


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(recorded.STREAMS), st.floats(0, 1), st.binary(max_size=300), st.floats(0, 1))
def test_cuts_and_garbage_crash_nothing(name: str, keep: float, garbage: bytes, where: float) -> None:
    data = recorded.data(name)
    data = data[: 16 + int(keep * (len(data) - 16))]
    place = 16 + int(where * (len(data) - 16))
    rows, decoder = decode(data[:place] + garbage + data[place:], [7001])
    assert len(recorded.samples(rows)) == decoder.stats.samples


@pytest.mark.parametrize("cut", range(0, 47_596, 2377))
def test_a_stream_cut_anywhere_gives_what_came_before(cut: int) -> None:
    whole = recorded.script("pipe")
    rows, _ = decode(recorded.data("pipe")[: 16 + cut])
    found = recorded.samples(rows)
    by_time = {line[4]: line for line in whole}
    assert all(by_time[line[4]] == line for line in found)
