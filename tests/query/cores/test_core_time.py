"""What cores did in windows, by their own counters."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.errors import BadInput
from necroscope.query.cores.core_time import CoreTime, core_time
from necroscope.store.read.catalog import segments
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.model import MODES, Sample
from stage.looked import look, record
from stage.recorded import START_NS


def times(rows: Sequence[tuple[float, int, int, int]]) -> CoreTime:
    """Rows of: seconds after the start, core, milliseconds passed, of these idle; the rest is in the kernel."""
    spent = np.zeros((len(rows), len(MODES)), np.int64)
    for place, (_, _, passed, idle) in enumerate(rows):
        spent[place, MODES.index("system")], spent[place, MODES.index("idle")] = passed - idle, idle
    return CoreTime(
        np.array([START_NS + round(at * NS) for at, *_ in rows], np.int64),
        np.array([row[1] for row in rows], np.int32),
        np.array([row[2] for row in rows], np.int64),
        spent,
    )


def _window(begin: float, end: float) -> tuple[int, int]:
    return START_NS + round(begin * NS), START_NS + round(end * NS) - 1


def test_core_seconds_of_whole_and_cut_rows() -> None:
    made = times([(1, 0, 1000, 1000), (1, 1, 1000, 0), (2, 0, 1000, 500), (2, 1, 1000, 0), (3, 0, 1000, 0)])
    whole = made.spent_in(_window(0, 2))
    assert (whole.core_s, whole.busy_s, whole.covered_s) == pytest.approx((4.0, 2.5, 2.0))
    cut = made.spent_in(_window(0.5, 1.25))
    assert (cut.core_s, cut.busy_s, cut.covered_s) == pytest.approx((1.5, 0.875, 0.75))
    assert made.spent_in(_window(2, 3)).core_s == pytest.approx(1.0)
    assert made.spent_in(_window(50, 60)).core_s == 0.0


def test_a_core_that_was_offline_for_a_while() -> None:
    made = times([(1, 0, 1000, 0), (1, 1, 1000, 0), (2, 0, 1000, 0), (3, 0, 1000, 0), (3, 1, 1000, 0)])
    found = made.spent_in(_window(0, 3))
    assert (found.core_s, found.covered_s) == pytest.approx((5.0, 3.0))


def test_some_cores_only() -> None:
    made = times([(1, 0, 1000, 0), (1, 1, 1000, 1000)])
    assert made.of(frozenset({1})).spent_in(_window(0, 1)).busy_s == 0.0
    assert made.of(frozenset()) is made
    assert made.of(frozenset({9})).spent_in(_window(0, 1)).core_s == 0.0


def test_segments_and_journal_together(tmp_path: Path) -> None:
    writer = record(tmp_path, 8, sealed=(2, 5))
    try:
        made = core_time(Store(tmp_path).snapshot(), [_window(0, 8)])
    finally:
        writer.close()
    assert made.at_ns.tolist() == [START_NS + n * NS for n in range(1, 9) for _ in range(2)]
    found = made.spent_in(_window(0, 8))
    assert (found.core_s, found.busy_s) == pytest.approx((16.0, 6.4))


def test_only_rows_near_the_windows_are_kept(tmp_path: Path) -> None:
    record(tmp_path, 8, sealed=(2, 5)).close(merge=False)
    made = core_time(Store(tmp_path).snapshot(), [_window(1, 2), _window(6.5, 7)])
    assert sorted({int(at - START_NS) // NS for at in made.at_ns}) == [1, 2, 7]
    assert made.spent_in(_window(6.5, 7)).core_s == pytest.approx(1.0)


def test_counters_that_step_back_make_no_time(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    for number, busy in enumerate((10, 11, 3, 4)):
        writer.add_signals(START_NS + number * NS, look(busy, cpus=[0]), "cpu")
    writer.close()
    found = core_time(Store(tmp_path).snapshot(), [_window(0, 3)]).spent_in(_window(0, 3))
    assert (found.core_s, found.covered_s) == pytest.approx((2.0, 2.0))


def test_an_old_kernel_tells_fewer_modes(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    for number in range(2):
        writer.add_signals(START_NS + number * NS, [Sample("cpu_time_seconds", 5.0 + number, ("0", "user"))], "cpu")
    writer.close()
    made = core_time(Store(tmp_path).snapshot(), [_window(0, 1)])
    assert made.spent.tolist() == [[1000, 0, 0, 0, 0, 0]]
    assert made.spent_in(_window(0, 1)).busy_s == pytest.approx(1.0)


def test_a_store_without_counters(tmp_path: Path) -> None:
    record(tmp_path, 2, looked=False).close()
    made = core_time(Store(tmp_path).snapshot(), [_window(0, 2)])
    assert made.at_ns.size == 0
    assert made.spent_in(_window(0, 2)).core_s == 0.0


def test_a_damaged_file_is_told_and_left_out(tmp_path: Path) -> None:
    record(tmp_path, 4, sealed=(1, 3)).close(merge=False)
    damaged = segments(tmp_path)[0].file("cores")
    damaged.write_bytes(b"PAR1 nonsense PAR1")
    notes: list[str] = []
    assert core_time(Store(tmp_path).snapshot(), [_window(0, 4)], notes).spent_in(_window(0, 4)).covered_s == 2.0
    assert notes == [f"{damaged} is damaged and left out"]
    with pytest.raises(BadInput, match="is damaged"):
        core_time(Store(tmp_path).snapshot(), [_window(0, 4)])


def test_a_segment_that_is_gone_is_looked_for_again(tmp_path: Path) -> None:
    record(tmp_path, 2, sealed=(1,)).close(merge=False)
    snapshot = Store(tmp_path).snapshot()
    shutil.rmtree(snapshot.segments[0].path)
    with pytest.raises(FileNotFoundError):
        core_time(snapshot, [_window(0, 2)])
