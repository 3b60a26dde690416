"""Events of a window, symptoms, and events by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from necroscope.query.events.landmarks import events, in_short, symptoms
from necroscope.store.read.catalog import segments
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from query.timeline import ALL, BORN, LATER, LIVE, MARK, RESET, written


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    made = written(tmp_path)
    yield made
    made.close()


def test_events_of_a_window_by_time(writer: Writer, tmp_path: Path) -> None:
    snapshot = Store(tmp_path).snapshot()
    assert events(snapshot, ALL) == [RESET, BORN, MARK, LATER, LIVE]
    assert events(snapshot, (RESET.at_ns, MARK.at_ns)) == [RESET, BORN, MARK]
    assert events(snapshot, (RESET.at_ns + 1, MARK.at_ns - 1)) == [BORN]


def test_symptoms_are_what_logs_and_people_tell(writer: Writer, tmp_path: Path) -> None:
    assert symptoms(Store(tmp_path).snapshot(), ALL) == [RESET, MARK, LATER, LIVE]


def test_damage_is_told_to_whom_asks(writer: Writer, tmp_path: Path) -> None:
    one, other = segments(tmp_path)
    one.file("events").write_bytes(b"PAR1")
    other.file("samples").write_bytes(b"nonsense")
    snapshot = Store(tmp_path).snapshot()
    notes: list[str] = []
    assert symptoms(snapshot, ALL, notes) == [MARK, LATER, LIVE]
    assert notes == [f"{one.file('events')} is damaged and left out"]


def test_events_in_short_are_those_that_one_source_told(writer: Writer, tmp_path: Path) -> None:
    found = in_short(Store(tmp_path).snapshot(), frozenset({"nic-reset", "mark"}), "kmsg")
    assert [(one.at_ns, one.kind, one.text) for one in found] == [(one.at_ns, one.kind, "") for one in (RESET, LATER)]
    assert in_short(Store(tmp_path).snapshot(), frozenset({"nic-reset"}), "mark") == []
