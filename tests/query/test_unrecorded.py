"""Recordings that miss their end, or most of their time, say so; those that were stopped, or cut, do not."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from necroscope.query.unrecorded import STARTED, STOPPED, nothing_written, unrecorded
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.verdict import Missing
from stage.incident import Played, at


def _missing(store: Store) -> list[Missing]:
    return unrecorded(store.folder, store.snapshot(), [])


def _played(folder: Path, *ran: tuple[float, str], hole: tuple[int, int] = (0, 0)) -> Store:
    node = Played(2, 90, hole=hole)
    node.usual()
    for at_s, kind in ran:
        node.happens(at_s, kind, "pid 1, boot x", "recorder", "recorder")
    return node.write(folder)


@pytest.mark.parametrize(
    "ran",
    [
        (),
        ((0.5, STARTED), (90.0, STOPPED)),
        ((0.5, STARTED), (40.0, STARTED), (90.0, STOPPED)),
    ],
)
def test_what_was_stopped_or_never_written_by_a_recorder_misses_nothing(
    tmp_path: Path, ran: tuple[tuple[float, str], ...]
) -> None:
    assert _missing(_played(tmp_path, *ran)) == []


def test_without_a_clean_end_nobody_knows_what_came_after(tmp_path: Path) -> None:
    (missing,) = _missing(_played(tmp_path, (0.5, STARTED)))
    assert missing.what.startswith("what happened after 2026-01-02T03:05:35.000Z: ")
    assert missing.what.endswith("the recorder ended without a clean shutdown, and nothing later is in the recording")


def test_one_that_was_stopped_once_and_then_killed_misses_its_end(tmp_path: Path) -> None:
    (missing,) = _missing(_played(tmp_path, (0.5, STARTED), (30.0, STOPPED), (60.0, STARTED)))
    assert "ended without a clean shutdown" in missing.what


def test_part_of_a_store_has_no_lock_and_may_end_anywhere(tmp_path: Path) -> None:
    store = _played(tmp_path, (0.5, STARTED))
    (tmp_path / "lock").unlink()
    assert _missing(store) == []


def test_a_recorder_at_work_may_go_on_but_not_long_without_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = _played(tmp_path, (0.5, STARTED))
    fd = os.open(tmp_path / "lock", os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX)
    try:
        for later_s, number in ((15.0, 0), (60.0, 1)):
            now = type("Now", (), {"realtime_ns": at(90.0 + later_s)})()
            monkeypatch.setattr("necroscope.query.unrecorded.clock.now", lambda now=now: now)
            found = _missing(store)
            assert len(found) == number
        assert "the recorder writes nothing" in found[0].what
    finally:
        os.close(fd)


def test_without_samples_and_counters_for_most_of_its_time_it_was_blind(tmp_path: Path) -> None:
    (missing,) = _missing(_played(tmp_path, (0.5, STARTED), (90.0, STOPPED), hole=(20, 85)))
    assert missing.what.startswith("what the cores did for 1 min 5 s of 1 min 30 s")


def test_less_than_half_of_its_time_is_a_gap(tmp_path: Path) -> None:
    assert _missing(_played(tmp_path, (0.5, STARTED), (90.0, STOPPED), hole=(20, 55))) == []


def test_the_time_after_a_clean_end_is_nobodys(tmp_path: Path) -> None:
    ran = (0.5, STARTED), (20.0, STOPPED), (85.0, STARTED), (90.0, STOPPED)
    assert _missing(_played(tmp_path, *ran, hole=(20, 85))) == []


def test_counters_alone_are_enough(tmp_path: Path) -> None:
    node = Played(2, 90)
    node.happens(0.5, STARTED, "", "recorder", "recorder")
    node.happens(90.0, STOPPED, "", "recorder", "recorder")
    assert _missing(node.write(tmp_path)) == []


def test_a_store_that_somebody_wrote_and_that_holds_nothing(tmp_path: Path) -> None:
    Writer(tmp_path).close()
    missing = nothing_written(tmp_path)
    assert missing is not None
    assert missing.what == f"nothing of what was to be written to {tmp_path} is there"
    (tmp_path / "lock").unlink()
    assert nothing_written(tmp_path) is None


def test_a_store_with_rows_holds_something(tmp_path: Path) -> None:
    assert nothing_written(_played(tmp_path).folder) is None
