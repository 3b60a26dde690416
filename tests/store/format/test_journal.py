"""A journal is right up to its last whole frame, wherever it is cut and whatever is flipped."""

from __future__ import annotations

import errno
import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from necroscope.store.format import frames
from necroscope.store.format.arrow import Tables
from necroscope.store.format.frames import MAGIC, read
from necroscope.store.format.journal import Journal
from necroscope.store.format.rows import event_rows, sample_rows
from necroscope.vocabulary.event import Event
from stage.recorded import START_NS, second

pytestmark = pytest.mark.slow

FRAMES = 6


def events(number: int) -> Tables:
    return {"events": event_rows([Event(START_NS + number, "mark", "mark", f"s{number}", "é" * number)])}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[int]]:
    """A journal's bytes, and where each of its frames ends."""
    journal = Journal(tmp_path_factory.mktemp("journal"), 3)
    ends = []
    for number in range(FRAMES):
        journal.append(events(number))
        ends.append(journal.path.stat().st_size)
    return journal.path.read_bytes(), ends


def subjects(data: bytes) -> list[str]:
    tables = read(data).tables
    return tables["events"]["subject"].to_pylist() if "events" in tables else []


def test_rows_come_back(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 12)
    given_tables = {"samples": sample_rows(second(0)), **events(1)}
    journal.append(given_tables)
    journal.append(events(2))
    contents = journal.contents()
    assert journal.path.name == "00000012.journal"
    assert (contents.number, contents.frames, contents.note) == (12, 2, "")
    assert contents.tables["samples"].to_pylist() == given_tables["samples"].to_pylist()
    assert contents.tables["events"]["subject"].to_pylist() == ["s1", "s2"]


def test_a_cut_at_every_byte_leaves_the_frames_before_it(written: tuple[bytes, list[int]]) -> None:
    data, ends = written
    for cut in range(len(data)):
        whole = sum(end <= cut for end in ends)
        assert subjects(data[:cut]) == [f"s{number}" for number in range(whole)], cut
        clean = cut in (0, len(MAGIC) + 8, *ends)
        assert bool(read(data[:cut]).note) != clean, cut


def test_a_flipped_bit_at_every_byte_cuts_there(written: tuple[bytes, list[int]]) -> None:
    data, ends = written
    chance = random.Random(1)
    for place in range(len(data)):
        broken = bytearray(data)
        broken[place] ^= 1 << chance.randrange(8)
        whole = 0 if place < 16 else sum(end <= place for end in ends)
        assert subjects(bytes(broken)) == [f"s{number}" for number in range(whole)], place
        assert read(bytes(broken)).note


@settings(max_examples=150)
@given(places=st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 255)), min_size=1, max_size=8))
def test_any_damage_leaves_a_prefix(written: tuple[bytes, list[int]], places: list[tuple[int, int]]) -> None:
    data, _ = written
    broken = bytearray(data)
    for place, bits in places:
        broken[place % len(data)] ^= bits
    seen = subjects(bytes(broken))
    assert seen == [f"s{number}" for number in range(len(seen))]


@given(st.binary(max_size=300), st.booleans())
def test_no_bytes_raise(noise: bytes, headed: bool) -> None:
    data = frames.header(1) + noise if headed else noise
    assert read(data).frames == 0 or not noise


@given(st.binary(max_size=200))
def test_a_checked_payload_of_nonsense_is_cut_with_a_note(payload: bytes) -> None:
    contents = read(frames.header(1) + frames.frame(1, 0, payload))
    assert contents.frames == 0
    assert "cannot be read" in contents.note


def test_a_frame_is_believed_in_its_own_place_only(written: tuple[bytes, list[int]]) -> None:
    data, ends = written
    first = data[16 : ends[0]]
    assert read(data[:16] + first + first).frames == 1
    assert read(frames.header(4) + data[16:]).frames == 0


def test_nothing_is_created_before_the_first_row(tmp_path: Path) -> None:
    journal = Journal(tmp_path, 1)
    assert journal.contents().tables == {}
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_no_half_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path, 1)
    journal.append(events(0))
    size = journal.path.stat().st_size
    write = os.pwrite

    def half_then_full(fd: int, data: bytes, offset: int) -> int:
        if len(data) < 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(fd, data[:-10], offset)

    monkeypatch.setattr(os, "pwrite", half_then_full)
    with pytest.raises(OSError, match="No space"):
        journal.append(events(1))
    assert journal.path.stat().st_size == size
    assert journal.unwritten_bytes > 0
    monkeypatch.undo()
    journal.drain()
    journal.append(events(2))
    assert journal.contents().tables["events"]["subject"].to_pylist() == ["s0", "s1", "s2"]
    assert journal.unwritten_bytes == 0


def test_what_is_dropped_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "absent", 1)
    with pytest.raises(FileNotFoundError):
        journal.append({"samples": sample_rows(second(5))})
    lost = journal.drop()
    assert lost.samples == 20
    assert START_NS + 5 * 10**9 == lost.from_ns < lost.to_ns < START_NS + 6 * 10**9
    assert journal.unwritten_bytes == 0
