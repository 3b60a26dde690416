"""Whose cache is dropped: that of regular files which are who they were, and of nothing else."""

from __future__ import annotations

import os
from pathlib import Path

from necroscope.act.node.drop_child import dropped
from necroscope.act.node.memory import LiveMemory


def _identity(path: Path) -> str:
    status = path.lstat()
    return f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}:{status.st_ino}"


def test_only_the_regular_file_that_is_meant(tmp_path: Path) -> None:
    file, link, pipe = tmp_path / "f", tmp_path / "l", tmp_path / "p"
    file.write_bytes(b"x")
    link.symlink_to("f")
    os.mkfifo(pipe)
    assert dropped(str(file), _identity(file))
    assert not dropped(str(file), _identity(file) + "0")
    assert not dropped(str(link), _identity(file))
    assert not dropped(str(pipe), _identity(pipe))
    assert not dropped(str(tmp_path / "absent"), "1:2:3")


def test_the_child_counts(tmp_path: Path) -> None:
    files = [tmp_path / str(number) for number in range(5)]
    for file in files:
        file.write_bytes(b"x")
    pairs = [(str(file), _identity(file)) for file in files]
    assert LiveMemory().drop_cache(pairs) == "dropped the cache of 5 files"
    files[0].unlink()
    assert LiveMemory().drop_cache(pairs) == "dropped the cache of 4 files; 1 are gone or are others now"
