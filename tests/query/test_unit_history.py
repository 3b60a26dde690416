"""How often units started and ended, over recorders that begin to count anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from necroscope.query.unit_history import read_history, runs_of
from stage.changed_node import LEAKER, ChangedNode


def row(starts: int | None, successes: int | None, failures: int | None, restarts: int) -> dict[str, Any]:
    ends = {"successes": successes, "failures": failures}
    return {"at_ns": 0, "name": "a.service", "starts": starts, "restarts": restarts, **ends}


def test_counts_that_begin_anew_go_on() -> None:
    rows = [row(1, 0, 1, 100), row(4, 1, 3, 103), row(2, 0, 2, 105), row(3, 1, 2, 2)]
    runs = runs_of(rows, 3600.0)["a.service"]
    assert (runs.starts, runs.successes, runs.failures, runs.restarts) == (7, 2, 5, 7)
    assert runs.success_rate == pytest.approx(2 / 7)
    assert runs.restarts_per_hour == 7


def test_what_nobody_counted_is_unknown_and_not_zero() -> None:
    runs = runs_of([row(None, None, None, 3)], 60.0)["a.service"]
    assert (runs.starts, runs.success_rate, runs.restarts) == (None, None, 0)


def test_a_recording_tells_runs_and_leaks(tmp_path: Path) -> None:
    found = read_history(ChangedNode().write(tmp_path / "store"), [])
    assert found is not None
    assert found.units[LEAKER].restarts == 25
    assert found.leaks.zombies.left_total == 30


def test_an_empty_store_has_no_history(tmp_path: Path) -> None:
    from necroscope.store.write.writer import Writer

    Writer(tmp_path / "store").close()
    from necroscope.store.read.reader import Store

    assert read_history(Store(tmp_path / "store"), []) is None
