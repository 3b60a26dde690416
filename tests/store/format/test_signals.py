"""Signals come back as they were given: every value at every look, nothing where nothing was read."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from necroscope.store.format.signals import SignalLog
from necroscope.vocabulary.model import Sample

Looks = list[tuple[str, dict[tuple[str, tuple[str, ...]], float]]]


def replayed(looks: Looks, chunk: int = 7) -> tuple[list[tuple[int, str, str, float]], dict[str, Any]]:
    """What a reader of the documented tables makes of them, in plain Python."""
    log = SignalLog(chunk, {"cpu": ("cpu",)}, {})
    tables: dict[str, list[dict[str, Any]]] = {"series": [], "ticks": [], "changes": []}
    for at_ns, (source, values) in enumerate(looks):
        log.add(at_ns, [Sample(name, value, labels) for (name, labels), value in values.items()], source)
        for name, table in log.take().items():
            tables[name] += table.to_pylist()
    rows = []
    for series in tables["series"]:
        changes = {row["tick"]: row for row in tables["changes"] if row["series"] == series["series"]}
        units, value = 0, None
        for tick in tables["ticks"]:
            if tick["source"] != series["source"]:
                continue
            if row := changes.get(tick["tick"]):
                units += row["step"] or 0
                value = row["value"] if row["step"] is None else units / series["scale"]
            if value is not None:
                rows.append((tick["at_ns"], series["name"], series["labels"], value))
    return sorted(rows), tables


def expected(looks: Looks) -> list[tuple[int, str, str, float]]:
    labels = {(): "{}", ("0",): '{"cpu":"0"}', ("1",): '{"cpu":"1"}'}
    return sorted(
        (at_ns, name, labels[values], value)
        for at_ns, (_, look) in enumerate(looks)
        for (name, values), value in look.items()
    )


numbers = st.one_of(
    st.integers(-5, 5).map(float),
    st.integers(0, 10**7).map(lambda ticks: ticks / 100),
    st.integers(0, 10**12).map(lambda micros: micros / 1e6),
    st.floats(allow_nan=False),
)
keys = st.sampled_from([("up", ()), ("cpu", ("0",)), ("cpu", ("1",))])
looks = st.lists(st.tuples(st.sampled_from(["a", "b"]), st.dictionaries(keys, numbers)), max_size=12)


@settings(max_examples=300)
@given(looks)
def test_every_value_comes_back_to_the_last_bit(given_looks: Looks) -> None:
    assert replayed(given_looks)[0] == expected(given_looks)


def test_what_stands_still_is_written_once() -> None:
    rows, tables = replayed([("", {("up", ()): 3.0})] * 50)
    assert len(rows) == 50
    assert len(tables["changes"]) == 1


def test_counters_are_written_as_small_steps() -> None:
    _, tables = replayed([("", {("up", ()): 1_000_000 + tick / 100}) for tick in range(5)])
    assert [row["step"] for row in tables["changes"] if row["step"] is not None][-3:] == [1, 1, 1]
    assert {series["scale"] for series in tables["series"]} == {1, 100}


def test_what_is_no_longer_reported_is_absent_and_may_come_back() -> None:
    here, gone = {("up", ()): 3.0}, {}
    rows, _ = replayed([("", here), ("", gone), ("", here)])  # type: ignore[list-item]
    assert [at_ns for at_ns, *_ in rows] == [0, 2]


def test_precision_learnt_is_carried_on() -> None:
    scales: dict[tuple[str, str, tuple[str, ...]], int] = {}
    first = SignalLog(1, {}, scales)
    first.add(0, [Sample("x", 1.0)], "")
    first.add(1, [Sample("x", 1.25)], "")
    second = SignalLog(2, {}, scales)
    second.add(2, [Sample("x", 1.0)], "")
    assert second.take()["series"]["scale"].to_pylist() == [100]


@pytest.mark.parametrize("value", [math.inf, -math.inf, 1e300, 2.0**70, 0.1 + 0.2])
def test_values_that_no_step_can_hold(value: float) -> None:
    rows, tables = replayed([("", {("up", ()): 1.0}), ("", {("up", ()): value}), ("", {("up", ()): 2.0})])
    assert [row[-1] for row in rows] == [1.0, value, 2.0]
    assert tables["changes"][1]["value"] == value


def test_not_a_number_is_kept() -> None:
    rows, _ = replayed([("", {("up", ()): math.nan})])
    assert math.isnan(rows[0][-1])


def test_a_signal_reported_twice_in_one_look_counts_once() -> None:
    log = SignalLog(1, {}, {})
    log.add(0, [Sample("x", 1.0), Sample("x", 2.0)], "")
    assert log.take()["changes"]["step"].to_pylist() == [1]
