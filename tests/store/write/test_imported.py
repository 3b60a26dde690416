"""Notes of imports: the same contents, the same name; what was merged is still there; what retention took is not."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from necroscope.store.read.catalog import Segment
from necroscope.store.write.imported import (
    Note,
    fingerprint,
    fingerprint_of_stream,
    merged,
    note_of,
    still_there,
    take_note,
)

NAME = "1767323045000000000-1767323049000000000-00000003-00000003"
NOTE = Note("perf.data", 20, (NAME,), whole=True)


def segment(first: int, last: int, from_s: int = 1767323045, to_s: int = 1767323049) -> Segment:
    return Segment(first, last, from_s * 10**9, to_s * 10**9, Path(f"{first}"))


def test_a_fingerprint_is_of_the_contents(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    contents = bytes(range(256)) * 8192
    one.write_bytes(contents)
    two.write_bytes(contents)
    assert fingerprint(one) == fingerprint(two)
    for changed in (contents[:-1], b"x" + contents[1:], contents[:-1] + b"x", contents + b"x"):
        two.write_bytes(changed)
        assert fingerprint(one) != fingerprint(two)
    two.write_bytes(b"")
    assert len(fingerprint(two)) == 32


def test_a_note_comes_back(tmp_path: Path) -> None:
    assert note_of(tmp_path, "abc") is None
    take_note(tmp_path, "abc", NOTE)
    assert note_of(tmp_path, "abc") == NOTE
    assert note_of(tmp_path, "abd") is None


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b'{"file": 1}', b"\xff\xfe", b"[" * 100_000])
def test_a_note_that_cannot_be_read_is_none(tmp_path: Path, broken: bytes) -> None:
    take_note(tmp_path, "abc", NOTE)
    (tmp_path / "imported" / "abc.json").write_bytes(broken)
    assert note_of(tmp_path, "abc") is None


def test_an_import_is_still_there_when_its_segment_or_what_it_was_merged_into_is() -> None:
    assert still_there(NOTE, [segment(1, 2), segment(3, 3)])
    assert still_there(NOTE, [segment(1, 4)])
    assert not still_there(NOTE, [segment(1, 2), segment(4, 4)])
    assert not still_there(NOTE, [])
    assert not still_there(NOTE, [segment(3, 3, 1767329999, 1767339999)]), "the number was given anew"


def test_what_the_user_said_is_part_of_the_note(tmp_path: Path) -> None:
    take_note(tmp_path, "abc", replace(NOTE, options='{"at_ns": 5}'))
    found = note_of(tmp_path, "abc")
    assert found is not None
    assert found.options == '{"at_ns": 5}'
    written = json.loads((tmp_path / "imported" / "abc.json").read_text())
    names = ["file", "samples", "segments", "whole", "told"]
    assert (list(written), written["told"]) == (names, '{"at_ns": 5}'), "as every version wrote it"
    (tmp_path / "imported" / "old.json").write_text('{"file": "x", "samples": 1, "segments": [], "whole": true}')
    assert note_of(tmp_path, "old") == Note("x", 1, (), whole=True)


def test_an_import_is_merged_when_another_segment_holds_its_numbers() -> None:
    own = replace(segment(3, 3), path=Path(NAME))
    assert not merged(NOTE, [segment(1, 2), own])
    assert merged(NOTE, [segment(1, 4)])
    assert not merged(NOTE, [])


@pytest.mark.parametrize("size", [0, 1, 4095, 300_000, 3_000_001])
@pytest.mark.parametrize("block", [1000, 1 << 20])
def test_bytes_that_come_one_after_the_other_have_the_same_fingerprint(tmp_path: Path, size: int, block: int) -> None:
    data = random.Random(size).randbytes(size)
    (tmp_path / "file").write_bytes(data)

    def read() -> list[bytes]:
        return [data[at : at + block] for at in range(0, size, block)]

    assert fingerprint_of_stream(read) == fingerprint(tmp_path / "file")
