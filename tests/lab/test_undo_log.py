"""What a run writes down can be read by whoever comes later, whatever the run came to."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.lab import undo_log
from necroscope.lab.undo_log import Entry, UndoLog


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "undo-logs"
    monkeypatch.setattr(undo_log, "place", lambda: folder)
    return folder


def test_entries_come_back_in_order(place: Path) -> None:
    made = undo_log.open_undo_log("calm")
    entries = [
        Entry("cgroup", path="necroscope-lab-calm"),
        Entry("process", pid=7, start=9),
        Entry("setting", "/x", old="1"),
    ]
    for entry in entries:
        made.add(entry)
    assert made.run == "calm"
    assert UndoLog(made.path).entries() == [undo_log.process_entry("owner", os.getpid()), *entries]


def test_a_run_whose_owner_lives_is_not_abandoned(place: Path) -> None:
    made = undo_log.open_undo_log("calm")
    assert made.owned()
    assert undo_log.abandoned() == []
    with subprocess.Popen(["sleep", "60"]) as other:
        gone = undo_log.process_entry("owner", other.pid)
        other.kill()
    left = UndoLog(place / "gone.jsonl")
    left.add(gone)
    reused = UndoLog(place / "reused.jsonl")
    reused.add(Entry("owner", pid=os.getpid(), start=gone.start + 1))
    assert [one.run for one in undo_log.abandoned()] == ["gone", "reused"]


@given(cut=st.integers(0, 200))
def test_a_torn_line_is_left_out(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    made = UndoLog(tmp_path_factory.mktemp("torn") / "one.jsonl")
    for number in range(3):
        made.add(Entry("process", pid=number + 1, start=5))
    whole = made.path.read_bytes()
    made.path.write_bytes(whole[:cut])
    assert made.entries() == [Entry("process", pid=n + 1, start=5) for n in range(whole[:cut].count(b"}"))]


def test_nonsense_is_no_entry(tmp_path: Path) -> None:
    made = UndoLog(tmp_path / "x.jsonl")
    made.path.write_bytes(b'\xff\xfe\n[]\n{"kind": "process", "pid": "a"}\n3\n{"kind": "folder", "path": "/x"}\n')
    assert made.entries() == [Entry("folder", path="/x")]
    assert UndoLog(tmp_path / "none.jsonl").entries() == []


def test_one_run_at_a_time(place: Path) -> None:
    waited: list[bool] = []
    with undo_log.one_at_a_time(lambda: waited.append(True)):
        assert waited == []
        done = threading.Event()

        def second() -> None:
            with undo_log.one_at_a_time(lambda: waited.append(True)):
                done.set()

        other = threading.Thread(target=second)
        other.start()
        assert not done.wait(0.3)
        assert waited == [True]
    assert done.wait(5)
    other.join(5)
    assert not place.exists()
