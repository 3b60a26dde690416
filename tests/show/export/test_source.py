"""Samples on their way into an export: counted, idle ones left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.query.select import Select
from necroscope.sense.perf.event_names import is_clock
from stage.exported import END_NS, rows, source, working
from stage.recorded import START_NS


def test_idle_samples_are_left_out_and_counted(store: Path) -> None:
    found = source(store)
    got = sum(len(chunk) for chunk in found.chunks())
    assert got == found.samples == len(working())
    assert found.idle == len(rows()) - len(working()) > 0


def test_idle_samples_on_demand(store: Path) -> None:
    found = source(store, idle=True)
    assert sum(len(chunk) for chunk in found.chunks()) == found.samples == len(rows())
    assert found.idle == 0


def test_the_core_is_known_when_one_was_chosen(store: Path) -> None:
    window = (START_NS, END_NS)
    assert source(store).cpu is None
    assert source(store, Select(window, cpus=frozenset({0, 1}))).cpu is None
    one = source(store, Select(window, cpus=frozenset({1})))
    assert one.cpu == 1
    assert sum(len(chunk) for chunk in one.chunks()) == sum(row.cpu == 1 for row in working())


@pytest.mark.parametrize(
    ("event", "clock"),
    [("cpu-clock", True), ("task-clock:u", True), ("cycles:P", False), ("", False), ("cpu-clock-x", False)],
)
def test_which_weights_are_nanoseconds(event: str, clock: bool) -> None:
    assert is_clock(event) is clock
