"""Formats of tracepoints and the fields they describe."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.sense.perf.format.columns import RawFields
from necroscope.sense.perf.format.tracepoints import cgroup_event, parse_format, parse_tracing_data

MKDIR = """name: cgroup_mkdir
ID: 544
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int root;	offset:8;	size:4;	signed:1;
	field:int level;	offset:12;	size:4;	signed:1;
	field:u64 id;	offset:16;	size:8;	signed:0;
	field:__data_loc char[] path;	offset:24;	size:4;	signed:0;

print fmt: "root=%d"
"""
OTHER = """name: sched_x
ID: 3
format:
	field:char comm[16];	offset:8;	size:16;	signed:0;
	field:__rel_loc char[] text;	offset:24;	size:4;	signed:0;
"""


def made(path: bytes, root: int = 4) -> bytes:
    return struct.pack("<HBBiiiQI", 544, 0, 0, -7, root, 2, 99, 28 | len(path) << 16) + path


def test_fields_are_read() -> None:
    one = parse_format(MKDIR, "cgroup")
    assert one is not None
    assert one.decode(made(b"/a/b\0")) == {
        "common_type": 544, "common_pid": -7, "root": 4, "level": 2, "id": 99, "path": "/a/b"
    }  # fmt: skip


def test_texts_of_other_kinds_are_read() -> None:
    one = parse_format(OTHER)
    assert one is not None
    data = bytes(8) + b"swapper/0".ljust(16, b"\0") + struct.pack("<I", 2 | 3 << 16) + b"..abc"
    assert one.decode(data) == {"comm": "swapper/0", "text": "abc"}


def test_a_cgroup_is_born() -> None:
    one = parse_format(MKDIR, "cgroup")
    assert one is not None
    event = cgroup_event(one, RawFields(time=5, event=0, pid=31, data=made(b"/a\0")))
    assert event is not None
    assert (event.at_ns, event.kind, event.root, event.id, event.level, event.path, event.pid) == (
        5,
        "mkdir",
        4,
        99,
        2,
        "/a",
        31,
    )


@given(st.binary(max_size=60))
def test_any_bytes_give_an_event_or_none(data: bytes) -> None:
    one = parse_format(MKDIR, "cgroup")
    assert one is not None
    event = cgroup_event(one, RawFields(0, 0, 0, data))
    assert event is None or isinstance(event.path, str)


@pytest.mark.parametrize("text", ["", "name: x", "ID: 4", "format:"])
def test_what_is_no_format_is_none(text: str) -> None:
    assert parse_format(text) is None


def blob(*systems: tuple[str, list[str]]) -> bytes:
    data = b"\x17\x08\x44tracing0.6\0" + b"\0\x08" + struct.pack("<I", 4096)
    data += b"header_page\0" + struct.pack("<Q", 3) + b"abc" + b"header_event\0" + struct.pack("<Q", 0)
    data += struct.pack("<I", 0) + struct.pack("<I", len(systems))
    for name, formats in systems:
        data += name.encode() + b"\0" + struct.pack("<I", len(formats))
        data += b"".join(struct.pack("<Q", len(one)) + one.encode() for one in formats)
    return data


def test_tracing_data_holds_formats_by_id() -> None:
    formats = parse_tracing_data(blob(("cgroup", [MKDIR]), ("sched", [OTHER])))
    assert {number: (one.system, one.name) for number, one in formats.items()} == {
        544: ("cgroup", "cgroup_mkdir"),
        3: ("sched", "sched_x"),
    }


@given(st.integers(0, 900), st.binary(max_size=20))
def test_cut_or_changed_tracing_data_is_empty_or_less(cut: int, garbage: bytes) -> None:
    data = blob(("cgroup", [MKDIR]), ("sched", [OTHER]))
    found = parse_tracing_data(data[:cut] + garbage).values()
    assert {one.system for one in found} <= {"cgroup", "sched"}  # a number may be changed by what follows a cut
    assert len(found) <= 2
