"""Records of the kernel's log: parsing what /dev/kmsg yields, and reading the ring with its ways to end."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.log import kmsg
from necroscope.sense.log.kmsg import KernelRing, LogRecord, drain, parse_record, parse_records, raw_records


def test_a_record_of_a_driver() -> None:
    data = b"3,1021,3816544225424,-;ena 0000:20:03.0 eth0: Trigger reset is on\n"
    data += b" SUBSYSTEM=pci\n DEVICE=+pci:0000:20:03.0\n"
    assert parse_record(data) == LogRecord(
        seq=1021,
        usec=3816544225424,
        priority=3,
        facility=0,
        text="ena 0000:20:03.0 eth0: Trigger reset is on",
        fields=(("SUBSYSTEM", "pci"), ("DEVICE", "+pci:0000:20:03.0")),
    )


def test_facility_is_kept_and_not_judged() -> None:
    record = parse_record(b"12,7,99,-;injected")
    assert record is not None
    assert (record.priority, record.facility) == (4, 1)


@pytest.mark.parametrize(("flags", "caller"), [("-", ""), ("-,caller=T4711", "T4711"), ("c,caller=C39", "C39")])
def test_who_printed_it(flags: str, caller: str) -> None:
    record = parse_record(f"4,1,2,{flags};x".encode())
    assert record is not None
    assert record.caller == caller


def test_escapes_are_undone() -> None:
    record = parse_record(rb"4,1,2,-;a\x09b\x0ac\x5cd \xe2\x82\xac \xff \xg1")
    assert record is not None
    assert record.text == "a\tb\nc\\d € � \\xg1"


def test_a_semicolon_in_the_text_stays() -> None:
    record = parse_record(b"4,1,2,-;controller is down; will reset")
    assert record is not None
    assert record.text == "controller is down; will reset"


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"4,1,2", b"4,1,2,-", b"x,1,2,-;t", b" KEY=value", b"\x00\xff;\n", b"4,,2,-;t"]
)
def test_no_record(data: bytes) -> None:
    assert parse_record(data) is None


def test_a_captured_log_keeps_what_is_whole() -> None:
    data = b"4,1,10,-;first\n KEY=a=b\ngarbage\n4,2,20,-;second\n4,3,3"
    assert [(record.seq, record.text, record.fields) for record in parse_records(data)] == [
        (1, "first", (("KEY", "a=b"),)),
        (2, "second", ()),
    ]


def test_an_empty_log_is_no_fault_but_another_file_is() -> None:
    assert parse_records(b"") == []
    with pytest.raises(Unavailable, match="holds no record"):
        parse_records(b"\x7fELF\x02\x01\x01")


@given(st.binary(max_size=400))
def test_arbitrary_bytes_never_raise(data: bytes) -> None:
    one = parse_record(data)
    with suppress(Unavailable):
        assert one is None or parse_records(data)[0].seq == one.seq


@given(
    st.integers(0, 191),
    st.integers(0, 2**63),
    st.integers(0, 2**62),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=80),
)
def test_a_written_record_is_read_back(number: int, seq: int, usec: int, text: str) -> None:
    escaped = b"".join(
        bytes((byte,)) if 32 <= byte < 127 and byte != 0x5C else b"\\x%02x" % byte for byte in text.encode()
    )
    record = parse_record(b"%d,%d,%d,-;%s\n" % (number, seq, usec, escaped))
    assert record == LogRecord(seq, usec, number & 7, number >> 3, text)


# -- reading -----------------------------------------------------------------------------------------


class FakeRead:
    """Hands out what a read of /dev/kmsg would return or raise."""

    def __init__(self, *results: bytes | int) -> None:
        self.results = list(results)

    def __call__(self, size: int) -> bytes:
        assert size >= 8192, "the kernel refuses a buffer smaller than a record"
        if not self.results:
            raise BlockingIOError(errno.EAGAIN, "again")
        result = self.results.pop(0)
        if isinstance(result, int):
            raise OSError(result, os.strerror(result))
        return result


def test_draining_ends_at_eagain() -> None:
    assert drain(FakeRead(b"a", b"b")) == ([b"a", b"b"], 0, True)


def test_being_overtaken_is_counted_and_reading_goes_on() -> None:
    assert drain(FakeRead(b"a", errno.EPIPE, b"b", errno.EINVAL, b"c")) == ([b"a", b"b", b"c"], 2, True)


def test_another_error_ends_it_unfinished() -> None:
    assert drain(FakeRead(b"a", errno.EIO, b"b")) == ([b"a"], 1, False)


def test_draining_is_bounded_by_bytes_and_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kmsg, "BYTES_LIMIT", 25)
    assert drain(FakeRead(*[b"0123456789"] * 10)) == ([b"0123456789"] * 3, 0, False)
    monkeypatch.setattr(kmsg, "RECORDS_LIMIT", 2)
    assert drain(FakeRead(*[b"x"] * 10)) == ([b"x"] * 2, 0, False)


def test_draining_is_bounded_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kmsg, "SECONDS_LIMIT", -1.0)
    assert drain(FakeRead(b"x")) == ([], 0, False)


def _captured(tmp_path: Path, data: bytes) -> Host:
    (tmp_path / "dev").mkdir(exist_ok=True)
    (tmp_path / "dev" / "kmsg").write_bytes(data)
    return Host(tmp_path)


def test_each_look_goes_on_where_the_last_stopped(tmp_path: Path) -> None:
    ring = KernelRing()
    host = _captured(tmp_path, b"4,5,10,-;a\n4,6,20,-;b\n")
    first = ring.read(host)
    assert [record.text for record in first.records] == ["a", "b"]
    assert (first.missing_before, first.lost) == (5, 0)
    assert ring.read(host).records == ()
    third = ring.read(_captured(tmp_path, b"4,6,20,-;b\n4,9,30,-;c\n4,12,40,-;d\n"))
    assert [record.text for record in third.records] == ["c", "d"]
    assert (third.missing_before, third.lost) == (0, 4)


def test_a_capture_without_a_log(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="/dev/kmsg"):
        KernelRing().read(Host(tmp_path))


@pytest.mark.parametrize(
    ("error", "words", "hint"),
    [
        (PermissionError(errno.EPERM, "no"), "may not be read", "dmesg_restrict"),
        (FileNotFoundError(2, "none"), "none", "mount"),
    ],
)
def test_a_log_that_may_not_be_opened(monkeypatch: pytest.MonkeyPatch, error: OSError, words: str, hint: str) -> None:
    def refuse(*_: object) -> int:
        raise error

    monkeypatch.setattr(kmsg.os, "open", refuse)
    with pytest.raises(Unavailable, match=words) as caught:
        KernelRing().read(Host())
    assert hint in caught.value.hint


@pytest.mark.root
def test_the_live_ring_is_read_once() -> None:
    ring = KernelRing()
    first = ring.read(Host())
    assert first.whole
    assert len(first.records) > 10
    assert [record.seq for record in first.records] == sorted({record.seq for record in first.records})
    assert len(ring.read(Host()).records) < len(first.records)


def test_a_captured_log_is_captured_again_as_it_is(tmp_path: Path) -> None:
    assert raw_records(_captured(tmp_path, b"4,5,10,-;a\n")) == b"4,5,10,-;a\n"


@pytest.mark.root
def test_the_live_ring_as_a_capture_reads_back_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    live = KernelRing().read(Host()).records
    captured = KernelRing().read(_captured(tmp_path, raw_records(Host()))).records
    assert captured[: len(live)] == live
    monkeypatch.setattr(kmsg, "RAW_LIMIT_BYTES", 1000)
    tail = raw_records(Host())
    assert 500 < len(tail) <= 1000
    assert parse_records(tail)[-1].seq >= live[-1].seq, "the newest are kept"
