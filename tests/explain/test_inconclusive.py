"""What a recording cannot tell: it was not made then, or cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.explain import explain, explain_all
from necroscope.store.read.catalog import segments
from necroscope.store.read.reader import Store
from necroscope.vocabulary.verdict import Verdict
from stage.incident import SMAPS, Played, at, nic_reset


def _quiet(folder: Path) -> Store:
    node = Played(2, 90)
    node.usual()
    node.happens(3, "unit-start", "started", "a.service", "systemd")
    return node.write(folder)


def _incident(folder: Path) -> Store:
    node = Played(2, 90)
    node.usual()
    node.does(1, 50, 57, 1.0, "reader", 77, frames=SMAPS, mode="system")
    nic_reset(node, 59)
    return node.write(folder)


def _spoiled(folder: Path, table: str) -> list[str]:
    """Cut a table off in every segment, and say what has to be told of it."""
    files = [path for one in segments(folder) if (path := one.file(table)).exists()]
    for path in files:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert files
    return [f"{path} is damaged and left out" for path in files]


def _tested(verdict: Verdict) -> dict[str, bool]:
    return {one.hypothesis: one.outcome != "untested" for one in verdict.tested}


@pytest.mark.parametrize("table", ["events", "cores", "samples"])
def test_nobody_can_say_that_nothing_happened_in_a_damaged_recording(tmp_path: Path, table: str) -> None:
    store = _quiet(tmp_path)
    assert (explain(store).verdict, explain(store).notes) == ("no-symptom", ())
    spoiled = _spoiled(tmp_path, table)
    verdict = explain(store)
    assert (verdict.verdict, verdict.symptom, verdict.inconclusive) == ("unexplained", None, True)
    assert sorted(verdict.notes) == sorted(spoiled)
    assert verdict.missing[0].what.startswith("part of the recording, which cannot be read")


@pytest.mark.parametrize(
    ("events", "missing"),
    [
        ((("sensor-blind", "kmsg"),), ["symptoms, which come from the kernel's log: may not be read"]),
        ((("perf-unavailable", "perf"),), ["who was on the cores: may not be read"]),
        ((("sensor-blind", "kmsg"), ("sensor-sees", "kmsg")), None),
        (
            (("sensor-sees", "kmsg"), ("sensor-blind", "kmsg")),
            ["symptoms, which come from the kernel's log: may not be read"],
        ),
        ((("perf-unavailable", "perf"), ("perf-started", "perf")), None),
        ((("sensor-blind", "gpu"),), None),
    ],
)
def test_who_could_not_watch_cannot_say_that_nothing_happened(
    tmp_path: Path, events: tuple[tuple[str, str], ...], missing: list[str] | None
) -> None:
    node = Played(2, 90)
    node.usual()
    for number, (kind, subject) in enumerate(events):
        node.happens(1 + number, kind, "may not be read", subject, "recorder")
    verdict = explain(node.write(tmp_path))
    assert verdict.inconclusive is (missing is not None)
    assert [one.what for one in verdict.missing] == (missing or [])


def test_symptoms_that_cannot_be_read_are_told_of(tmp_path: Path) -> None:
    store = _incident(tmp_path)
    spoiled = _spoiled(tmp_path, "events")
    notes: list[str] = []
    assert explain_all(store, notes=notes) == ()
    assert notes == spoiled
    with pytest.raises(Unavailable, match=r"No event nic-reset .*events\.parquet is damaged"):
        explain(store, event="nic-reset")


@pytest.mark.parametrize("table", ["samples", "stacks"])
def test_damaged_samples_are_not_called_samples_that_nobody_took(tmp_path: Path, table: str) -> None:
    store = _incident(tmp_path)
    assert explain(store).cause is not None
    spoiled = _spoiled(tmp_path, table)
    verdict = explain(store)
    assert (verdict.verdict, verdict.inconclusive) == ("unexplained", False)
    assert sorted(verdict.notes) == sorted(spoiled)
    assert "who was on core 1: the samples are damaged, as the notes say" in [one.what for one in verdict.missing]
    # A core was taken, whoever it was.
    assert "starved-core" in [one.kind for one in verdict.links]
    assert "starved-core" not in _tested(verdict)


def test_damaged_counters_are_not_called_missing(tmp_path: Path) -> None:
    store = _incident(tmp_path)
    spoiled = _spoiled(tmp_path, "cores")
    verdict = explain(store)
    assert set(spoiled) <= set(verdict.notes)
    assert any("counters, which are damaged" in one.what for one in verdict.missing)


@pytest.mark.parametrize("second", [-3600, -20, 90 + 60, 90 + 86400])
def test_a_moment_that_was_not_recorded(tmp_path: Path, second: int) -> None:
    verdict = explain(_quiet(tmp_path), at_ns=at(second))
    assert (verdict.inconclusive, verdict.tested, verdict.links) == (True, (), ())
    assert "the recording holds 2" in verdict.missing[0].what


@pytest.mark.parametrize("second", [1, 60, 90, 92])
def test_a_moment_of_the_recording_is_asked_about_itself(tmp_path: Path, second: int) -> None:
    verdict = explain(_quiet(tmp_path), at_ns=at(second))
    assert verdict.symptom is not None
    assert (verdict.symptom.kind, verdict.inconclusive) == ("moment", False)


@pytest.mark.parametrize(("second", "tested"), [(80, True), (45, True), (20, False), (1, False)])
def test_a_core_is_ruled_out_only_where_the_time_before_was_recorded(tmp_path: Path, second: int, tested: bool) -> None:
    verdict = explain(_quiet(tmp_path), at_ns=at(second))
    assert _tested(verdict) == {"starved-core": tested}
    (rival,) = verdict.tested
    assert ("no core was at least 97 % busy" in rival.because) == tested
