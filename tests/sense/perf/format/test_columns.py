"""Samples with any combination of fields: encoded here, field by field as the ABI orders them, and read back."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from necroscope.sense.perf.format.attrs import EventAttr, Events
from necroscope.sense.perf.format.columns import events_of_samples, extracted
from necroscope.sense.perf.format.layout import BRANCH_COUNTERS, BRANCH_HW_INDEX, Read, Sample, Type
from necroscope.sense.perf.format.walk import walk

pytestmark = pytest.mark.slow

u64 = st.integers(0, 2**64 - 1)
u32 = st.integers(0, 2**32 - 1)
masks = st.integers(0, (1 << 25) - 1).map(lambda bits: bits | Sample.TIME | Sample.TID)


@st.composite
def cases(draw: Any) -> tuple[EventAttr, list[dict[str, Any]]]:
    attr = EventAttr(
        1,
        0,
        draw(masks),
        draw(st.integers(0, 31)),
        1 << 18,
        draw(st.sampled_from([0, BRANCH_HW_INDEX, BRANCH_COUNTERS, BRANCH_HW_INDEX | BRANCH_COUNTERS])),
        draw(st.integers(0, 255)),
        draw(st.integers(0, 255)),
    )
    one = st.fixed_dictionaries(
        {
            "ip": u64, "pid": u32, "tid": u32, "time": u64, "cpu": u32, "period": st.integers(0, 2**62), "id": u64,
            "read": st.integers(0, 3), "chain": st.lists(u64, max_size=5),
            "raw": st.binary(max_size=3).map(lambda some: some * 8 + bytes(4)),
            "branches": st.integers(0, 3), "abi": st.integers(0, 2), "stack": st.integers(0, 3), "cgroup": u64,
        }
    )  # fmt: skip
    return attr, draw(st.lists(one, min_size=1, max_size=6))


def encode(attr: EventAttr, one: dict[str, Any]) -> bytes:
    parts: list[bytes] = []

    def put(field: int, data: bytes) -> None:
        if attr.sample_type & field:
            parts.append(data)

    def words(*numbers: int) -> bytes:
        return struct.pack(f"<{len(numbers)}Q", *numbers)

    put(Sample.IDENTIFIER, words(one["id"]))
    put(Sample.IP, words(one["ip"]))
    put(Sample.TID, struct.pack("<II", one["pid"], one["tid"]))
    put(Sample.TIME, words(one["time"]))
    put(Sample.ADDR, words(1))
    put(Sample.ID, words(one["id"]))
    put(Sample.STREAM_ID, words(2))
    put(Sample.CPU, struct.pack("<II", one["cpu"], 0))
    put(Sample.PERIOD, words(one["period"]))
    put(Sample.READ, read_values(attr.read_format, one["read"]))
    put(Sample.CALLCHAIN, words(len(one["chain"]), *one["chain"]))
    raw = one["raw"]
    put(Sample.RAW, struct.pack("<I", len(raw)) + raw)
    entry = 4 if attr.branch_sample_type & BRANCH_COUNTERS else 3
    extra = 1 if attr.branch_sample_type & BRANCH_HW_INDEX else 0
    put(Sample.BRANCH_STACK, words(one["branches"], *[3] * (extra + entry * one["branches"])))
    put(Sample.REGS_USER, words(one["abi"], *[4] * (attr.regs_user.bit_count() if one["abi"] else 0)))
    put(Sample.STACK_USER, words(8 * one["stack"], *[5] * (one["stack"] + 1 if one["stack"] else 0)))
    put(Sample.WEIGHT | Sample.WEIGHT_STRUCT, words(6))
    put(Sample.DATA_SRC, words(7))
    put(Sample.TRANSACTION, words(8))
    put(Sample.REGS_INTR, words(one["abi"], *[9] * (attr.regs_intr.bit_count() if one["abi"] else 0)))
    put(Sample.PHYS_ADDR, words(10))
    put(Sample.CGROUP, words(one["cgroup"]))
    put(Sample.DATA_PAGE_SIZE, words(11))
    put(Sample.CODE_PAGE_SIZE, words(12))
    put(Sample.AUX, words(8, 13))
    payload = b"".join(parts)
    return struct.pack("<IHH", Type.SAMPLE, 1, 8 + len(payload)) + payload


def read_values(how: int, count: int) -> bytes:
    each = 1 + bool(how & Read.ID) + bool(how & Read.LOST)
    times = bool(how & Read.TOTAL_TIME_ENABLED) + bool(how & Read.TOTAL_TIME_RUNNING)
    numbers = [count, *[21] * (times + each * count)] if how & Read.GROUP else [22] * (times + each)
    return struct.pack(f"<{len(numbers)}Q", *numbers)


@settings(max_examples=300, deadline=None)
@given(cases())
def test_every_combination_of_fields_is_read_back(case: tuple[EventAttr, list[dict[str, Any]]]) -> None:
    attr, wanted = case
    data = b"".join(encode(attr, one) for one in wanted)
    block, used = walk(memoryview(data), 1 << 20)
    assert used == len(data)
    found = extracted(block, np.arange(len(wanted)), attr, np.full(len(wanted), 3, np.int32), want_raw=True)
    rows, raws = found.rows, found.raws
    assert found.broken == 0
    assert found.whole.tolist() == list(range(len(wanted)))
    assert rows.time.tolist() == [one["time"] for one in wanted]
    assert list(zip(rows.pid.tolist(), rows.tid.tolist(), strict=True)) == [(one["pid"], one["tid"]) for one in wanted]
    assert rows.event.tolist() == [3] * len(wanted)
    if attr.has(Sample.CPU):
        assert rows.cpu.view(np.uint32).tolist() == [one["cpu"] for one in wanted]
    if attr.has(Sample.PERIOD):
        assert rows.weight.tolist() == [one["period"] for one in wanted]
    if attr.has(Sample.CGROUP):
        assert rows.cgroup.tolist() == [one["cgroup"] for one in wanted]
    if attr.has(Sample.RAW):
        assert raws is not None
        assert [raw.data for raw in raws.fields()] == [one["raw"] for one in wanted]
    assert split(rows.chain.tolist(), rows.depth.tolist()) == [chain_of(attr, one) for one in wanted]


def chain_of(attr: EventAttr, one: dict[str, Any]) -> list[int]:
    if attr.has(Sample.CALLCHAIN) and one["chain"]:
        return list(one["chain"])
    return [one["ip"]] if attr.has(Sample.IP) else []


def split(flat: list[int], depths: list[int]) -> list[list[int]]:
    ends = np.cumsum(depths).tolist()
    return [flat[end - depth : end] for end, depth in zip(ends, depths, strict=True)]


@settings(max_examples=200, deadline=None)
@given(cases(), st.data())
def test_a_sample_whose_fields_do_not_fit_is_left_out_alone(
    case: tuple[EventAttr, list[dict[str, Any]]], data: Any
) -> None:
    attr, wanted = case
    whole = encode(attr, wanted[0])
    size = data.draw(st.integers(1, len(whole) // 8)) * 8
    cut = whole[:6] + struct.pack("<H", size) + whole[8:size]
    block, _ = walk(memoryview(cut + whole), 1 << 20)
    found = extracted(block, np.arange(2), attr, np.zeros(2, np.int32))
    assert found.rows.time.tolist()[-1] == wanted[0]["time"]
    assert len(found.rows) + found.broken == 2
    assert found.whole.tolist() == list(range(2 - len(found.rows), 2))


def test_a_depth_that_cannot_be_is_broken() -> None:
    attr = EventAttr(1, 0, Sample.TIME | Sample.TID | Sample.CALLCHAIN, 0, 0)
    payload = struct.pack("<IIQQQ", 1, 1, 5, 2**64 - 1, 7)
    block, _ = walk(memoryview(struct.pack("<IHH", 9, 0, 8 + len(payload)) + payload), 1 << 20)
    found = extracted(block, np.array([0]), attr, np.zeros(1, np.int32))
    assert (len(found.rows), found.broken) == (0, 1)


def test_samples_find_their_event_by_id() -> None:
    events = Events()
    sample_type = Sample.IDENTIFIER | Sample.TID | Sample.TIME
    for ids in ((5, 6), (9,)):
        events.add(EventAttr(1, 0, sample_type, 0, 0, ids=ids))
    data = b"".join(struct.pack("<IHHQIIQ", 9, 0, 32, number, 1, 1, 2) for number in (6, 9, 4, 5))
    block, _ = walk(memoryview(data), 1 << 20)
    assert events_of_samples(block, np.arange(4), events).tolist() == [0, 1, -1, 0]
