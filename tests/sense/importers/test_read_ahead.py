"""Reading ahead: the same bytes as ever, also when the child fails, and no child is left."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.importers.read_ahead import ReadAhead
from stage.own_children import own_children


def test_the_file_is_what_it_is_and_nobody_is_left(tmp_path: Path) -> None:
    path = tmp_path / "symbols"
    path.write_bytes(os.urandom(300_000))
    children = own_children()
    host = ReadAhead(str(path))
    before = path.read_bytes()
    assert host.read(str(path)) == before
    path.write_bytes(b"changed")
    assert host.read(str(path)) == b"changed", "only the first read is answered from ahead"
    assert own_children() <= children


def test_other_files_are_read_as_ever(tmp_path: Path) -> None:
    path, other = tmp_path / "symbols", tmp_path / "other"
    path.write_bytes(b"a")
    other.write_bytes(b"b")
    host = ReadAhead(str(path))
    assert host.read(str(other)) == b"b"
    assert host.take() == b"a"
    assert host.take() == b""


def test_what_cannot_be_read_is_reported_as_ever(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent")
    with pytest.raises(Unavailable) as ahead:
        ReadAhead(absent).read(absent)
    with pytest.raises(Unavailable) as plain:
        Host().read(absent)
    assert ahead.value.message == plain.value.message


def test_a_file_that_is_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "symbols"
    path.write_bytes(b"x" * 100)
    with pytest.raises(Unavailable, match="larger than 10 bytes"):
        ReadAhead(str(path)).read(str(path), 10)
