"""Lines of tracks: rates and gauges second by second, and nothing where nobody looked."""

from __future__ import annotations

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.query.series import Series
from necroscope.query.tracks.by_second import _by_second, _line
from necroscope.query.tracks.catalogue import BY_ID, SIGNALS, TRACKS, Line
from necroscope.vocabulary.model import Signal

AT_S = 1_767_323_045


def _series(points: list[tuple[float, float]], **labels: str) -> Series:
    at_ns = np.array([(AT_S + at) * NS for at, _ in points], np.int64)
    return Series("it", tuple(labels.items()), at_ns, np.array([value for _, value in points]))


def test_a_rate_belongs_to_the_time_between_two_looks() -> None:
    found = _by_second(_series([(0, 10), (2, 30), (4, 30)]), True, AT_S, 5)
    assert found[:4].tolist() == [10, 10, 0, 0]
    assert np.isnan(found[4])


def test_a_counter_that_begins_anew_counts_from_there() -> None:
    found = _by_second(_series([(0, 1000), (1, 3), (2, 8)]), True, AT_S, 2)
    assert found.tolist() == [0, 5]


def test_a_gauge_is_that_of_the_look_at_the_end() -> None:
    found = _by_second(_series([(0, 1), (1, 7), (2, 9)]), False, AT_S, 3)
    assert found[:2].tolist() == [7, 9]


def test_a_long_pause_is_not_bridged() -> None:
    assert np.isnan(_by_second(_series([(0, 0), (200, 10)]), True, AT_S, 200)).all()
    assert not np.isnan(_by_second(_series([(0, 0), (140, 10)]), True, AT_S, 140)).any()


def test_series_become_one_line_by_sum_or_by_the_highest() -> None:
    series = [_series([(0, 0), (1, 1)], cpu="0"), _series([(0, 0), (1, 3)], cpu="1")]
    total = _line(series, Line("a", ("it",)), AT_S, 2)
    most = _line(series, Line("a", ("it",), how="most"), AT_S, 2)
    mean = _line(series, Line("a", ("it",), how="mean", scale=100.0), AT_S, 2)
    assert total is not None
    assert most is not None
    assert mean is not None
    assert [total[0], most[0], mean[0]] == [4, 3, 200]
    assert np.isnan(total[1])


def test_only_series_with_the_labels_count() -> None:
    series = [
        _series([(0, 0), (1, 1)], resource="cpu", who="some"),
        _series([(0, 0), (1, 9)], resource="io", who="some"),
    ]
    line = Line("cpu", ("it",), labels=(("resource", "cpu"),))
    found = _line(series, line, AT_S, 1)
    assert found is not None
    assert found[0] == 1
    assert _line(series, Line("x", ("it",), labels=(("resource", "memory"),)), AT_S, 1) is None


def test_every_signal_of_a_track_exists_and_rates_are_of_counters(signals: dict[str, Signal]) -> None:
    for track in TRACKS:
        assert BY_ID[track.id] is track
        for line in track.lines:
            for name in line.signals:
                assert signals[name].kind == ("counter" if line.rate else "gauge"), name
                assert {label for label, _ in line.labels} <= set(signals[name].labels)
    assert set(SIGNALS) <= set(signals)


@pytest.fixture
def signals() -> dict[str, Signal]:
    """Every signal of the sensors, by name."""
    import subprocess
    import sys
    from pathlib import Path

    root = Path(__file__).parents[3]
    page = subprocess.run([sys.executable, root / "tools/signals-page"], capture_output=True, text=True, check=True)
    found = {}
    for line in page.stdout.splitlines():
        if line.startswith("| `"):
            name, kind, unit, labels, text = (part.strip() for part in line.strip("|").split("|", 4))
            words = tuple(filter(None, (label.strip() for label in labels.split(","))))
            found[name.strip("`")] = Signal(name.strip("`"), unit, kind, text, words)  # type: ignore[arg-type]
    return found
