"""Following files: rotation, cutting, bounds, and what is no file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from necroscope.sense.log import follow
from necroscope.sense.log.follow import LONGEST_LINE, Followed


@pytest.fixture(autouse=True)
def _search_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "SEARCH_S", 0.0)


def _read(followed: Followed) -> list[bytes]:
    return [line for _, line in followed.lines()]


def test_only_what_is_new_and_only_whole_lines(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"old\n")
    followed = Followed([f"{tmp_path}/*.log"])
    assert _read(followed) == []
    with log.open("ab", buffering=0) as file:
        file.write(b"one\r\ntw")
        assert _read(followed) == [b"one"]
        file.write(b"o\n")
        assert _read(followed) == [b"two"]
    followed.close()


def test_a_file_that_comes_later_is_read_from_its_beginning(tmp_path: Path) -> None:
    followed = Followed([f"{tmp_path}/*.log"])
    assert _read(followed) == []
    (tmp_path / "b.log").write_bytes(b"first\n")
    assert list(followed.lines()) == [(f"{tmp_path}/b.log", b"first")]
    followed.close()


def test_a_rotated_file_is_read_to_its_end_and_then_the_new_one(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.touch()
    followed = Followed([f"{tmp_path}/a.log"])
    _read(followed)
    log.write_bytes(b"before\n")
    log.rename(tmp_path / "a.log.1")
    log.write_bytes(b"after\n")
    assert _read(followed) + _read(followed) + _read(followed) == [b"before", b"after"]
    log.write_bytes(b"cut\n")
    assert _read(followed) == [b"cut"]
    followed.close()


def test_links_pipes_and_folders_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"")
    followed = Followed([f"{tmp_path}/*.log"])
    _read(followed)
    (tmp_path / "secret").write_bytes(b"secret\n")
    (tmp_path / "link.log").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe.log")
    (tmp_path / "folder.log").mkdir()
    assert _read(followed) == []
    followed.close()


def test_very_many_files_and_very_long_lines_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "MOST_FILES", 8)
    followed = Followed([f"{tmp_path}/*.log"])
    _read(followed)
    for number in range(20):
        (tmp_path / f"{number}.log").write_bytes(b"x" * (3 * LONGEST_LINE) + b"\nshort\n")
    assert _read(followed) == [b"short"] * 8
    assert followed.left_out == 12
    followed.close()


def test_a_flood_is_read_bit_by_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "MOST_BYTES_A_FILE", 1_000)
    followed = Followed([f"{tmp_path}/*.log"])
    _read(followed)
    (tmp_path / "a.log").write_bytes(b"line of ten\n" * 500)
    counts = [len(_read(followed)) for _ in range(8)]
    assert max(counts) <= 84
    assert sum(counts) == 500
    followed.close()
