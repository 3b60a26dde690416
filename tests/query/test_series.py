"""Values of signals over time, as they were read."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.query.series import series_of
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.model import Sample
from stage.recorded import START_NS

EVER = (0, 1 << 62)


def _write(folder: Path, looks: list[list[Sample]], sealed: int = -1) -> Store:
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    for number, samples in enumerate(looks):
        writer.add_signals(START_NS + number * NS, samples, "here")
        if number == sealed:
            writer.seal()
    writer.flush()
    writer.disown()
    return Store(folder)


@pytest.mark.parametrize("sealed", [-1, 2, 5])
def test_what_did_not_change_is_filled_in(tmp_path: Path, sealed: int) -> None:
    values = [5.0, 5.0, 7.0, 7.25, 7.25, 9.0]
    store = _write(tmp_path, [[Sample("vmstat_pgfault", value), Sample("other", 1.0)] for value in values], sealed)
    (found,) = series_of(store.snapshot(), ["vmstat_pgfault"], EVER)["vmstat_pgfault"]
    assert found.value.tolist() == values
    assert ((found.at_ns - START_NS) // NS).tolist() == list(range(6))
    assert found.at(START_NS + 2 * NS + 1) == 7.0
    assert found.at(START_NS - 1) is None


def test_a_series_that_ends_has_no_values_after(tmp_path: Path) -> None:
    looks = [[Sample("a", 1.0), Sample("b", 2.0)], [Sample("a", 1.0)], [Sample("a", 1.0), Sample("b", 4.0)]]
    (found,) = series_of(_write(tmp_path, looks).snapshot(), ["b"], EVER)["b"]
    assert found.value.tolist() == [2.0, 4.0]


def test_stars_and_labels(tmp_path: Path) -> None:
    looks = [[Sample("softnet_dropped_packets", float(cpu), (str(cpu),)) for cpu in range(3)]]
    found = series_of(_write(tmp_path, looks).snapshot(), ["softnet_*", "absent"], EVER)
    assert list(found) == ["softnet_dropped_packets"]
    assert sorted(one.value[0] for one in found["softnet_dropped_packets"]) == [0.0, 1.0, 2.0]
    assert {label for one in found["softnet_dropped_packets"] for _, label in one.labels} == {"0", "1", "2"}


def test_rates_count_what_grew_and_not_what_began_anew(tmp_path: Path) -> None:
    values = [0.0, 10.0, 30.0, 5.0, 6.0]
    (found,) = series_of(_write(tmp_path, [[Sample("n", one)] for one in values]).snapshot(), ["n"], EVER)["n"]
    assert found.rate((START_NS, START_NS + 2 * NS)) == pytest.approx(15.0)
    assert found.rate((START_NS + 2 * NS, START_NS + 4 * NS)) == pytest.approx(0.5)
    assert found.rate((START_NS + 60 * NS, START_NS + 70 * NS)) is None


def test_a_window_leaves_the_rest_out(tmp_path: Path) -> None:
    store = _write(tmp_path, [[Sample("n", float(one))] for one in range(6)], sealed=3)
    (found,) = series_of(store.snapshot(), ["n"], (START_NS + 2 * NS, START_NS + 4 * NS))["n"]
    assert found.value.tolist() == [2.0, 3.0, 4.0]


def test_the_mean_of_a_gauge_in_a_window_or_the_nearest_look(tmp_path: Path) -> None:
    values = [10.0, 20.0, 30.0, 50.0]
    (found,) = series_of(_write(tmp_path, [[Sample("n", one)] for one in values]).snapshot(), ["n"], EVER)["n"]
    assert found.mean((START_NS, START_NS + 2 * NS)) == pytest.approx(20.0)
    assert found.mean((START_NS + NS + 1, START_NS + NS + 2)) == 20.0
    assert found.mean((START_NS + 8 * NS, START_NS + 9 * NS)) == 50.0
    assert found.mean((START_NS - 9 * NS, START_NS - 8 * NS)) == 10.0
    assert found.mean((START_NS + 14 * NS, START_NS + 15 * NS)) is None
    assert [found.mean((START_NS + low * NS, START_NS + high * NS)) for low, high in ((2, 2), (3, 3))] == [30.0, 50.0]


@pytest.mark.parametrize("sealed", [-1, 1])
def test_a_signal_that_nobody_asked_for_costs_no_look_at_the_values(
    tmp_path: Path, sealed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = _write(tmp_path, [[Sample("a", 1.0)], [Sample("a", 2.0)]], sealed)

    def never(table: object) -> None:
        raise AssertionError(table)

    monkeypatch.setattr("necroscope.query.series._ticks", never)
    assert series_of(store.snapshot(), ["b"], EVER) == {}
    with pytest.raises(AssertionError):
        series_of(store.snapshot(), ["a"], EVER)
