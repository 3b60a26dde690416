"""Cleaning ends only what was written down, and touches nothing that is not the lab's."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from necroscope.lab import cleaning, undo_log
from necroscope.lab.undo_log import Entry, UndoLog


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UndoLog:
    monkeypatch.setattr(undo_log, "place", lambda: tmp_path / "undo-logs")
    monkeypatch.setattr(cleaning, "place", lambda: tmp_path / "undo-logs")
    (tmp_path / "undo-logs").mkdir()
    return UndoLog(tmp_path / "undo-logs" / "calm.jsonl")


def test_a_process_is_ended_by_pid_and_start(book: UndoLog) -> None:
    with subprocess.Popen(["sleep", "60"]) as mine, subprocess.Popen(["sleep", "60"]) as other:
        try:
            book.add(undo_log.process_entry("process", mine.pid))
            # the number of another process, which began at another time
            book.add(Entry("process", pid=other.pid, start=undo_log.start_of(other.pid) + 1))
            assert cleaning.clean_run(book) == []
            assert mine.wait(5) == -9
            assert other.poll() is None
        finally:
            mine.kill()
            other.kill()


def test_folders_go_and_settings_come_back(book: UndoLog, tmp_path: Path) -> None:
    folder, setting = tmp_path / "necroscope-lab-calm", tmp_path / "setting"
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "file").write_text("x")
    setting.write_text("3")
    book.add(Entry("folder", path=str(folder)))
    book.add(Entry("folder", path=str(tmp_path / "necroscope-lab-never-made")))
    book.add(Entry("setting", path=str(setting), old="1"))
    book.add(Entry("setting", path=str(setting), old="2"))
    assert cleaning.clean_run(book) == []
    assert not folder.exists()
    assert setting.read_text() == "1"
    assert not book.path.exists()
    assert not book.path.parent.exists()


def test_recordings_whose_maker_is_gone_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with subprocess.Popen(["true"]) as gone:
        pass
    stale, mine, odd = (tmp_path / f"shown-{who}-x" for who in (gone.pid, os.getpid(), "word"))
    for folder in (stale, mine, odd):
        folder.mkdir()
    cleaning.remove_stale_recordings("shown-")
    assert [folder.exists() for folder in (stale, mine, odd)] == [False, True, True]


def test_what_is_not_the_labs_stays(book: UndoLog, tmp_path: Path) -> None:
    foreign = tmp_path / "home"
    foreign.mkdir()
    book.add(Entry("folder", path=str(foreign)))
    book.add(Entry("cgroup", path="system.slice"))
    book.add(Entry("cgroup", path="necroscope-lab-x/../system.slice"))
    assert cleaning.clean_run(book) == []
    assert foreign.is_dir()
    assert cleaning.in_all_hierarchies("system.slice") == []
    assert cleaning.in_all_hierarchies("necroscope-lab-x/../..") == []
