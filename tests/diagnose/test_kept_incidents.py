"""Kept incidents of several kernels, as they were recorded and as a machine with a hardware PMU would have recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from necroscope.explain import explain
from necroscope.store.read.reader import Store
from necroscope.vocabulary.verdict import Verdict
from stage.incidents import INCIDENTS, unpacked
from stage.pmu_machine import as_pmu_machine

pytestmark = pytest.mark.slow

KEPT = sorted(INCIDENTS.glob("*.ncb"))


def _truth(bundle: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(bundle.with_suffix(".json").read_text("utf-8"))
    return found


EXPLAINED = [path for path in KEPT if _truth(path)["cause"] is not None]
BLIND = [path for path in KEPT if _truth(path)["cause"] is None]


def _named(verdict: Verdict) -> tuple[object, ...]:
    cause = verdict.cause
    assert cause is not None, verdict.missing
    assert cause.subject is not None
    process = (cause.process.name, cause.process.pid) if cause.process else None
    return cause.kind, cause.cpu, cause.subject.kind, cause.subject.name, process


def _right(truth: dict[str, Any]) -> tuple[object, ...]:
    process = truth["process"]
    return (
        truth["cause"],
        truth["cpu"],
        truth["subject"]["kind"],
        truth["subject"]["name"],
        (process["name"], process["pid"]) if process else None,
    )


@pytest.mark.parametrize("bundle", EXPLAINED, ids=lambda path: path.stem)
def test_a_kept_incident_has_its_right_answer(bundle: Path, tmp_path: Path) -> None:
    assert _named(explain(Store(unpacked(bundle, tmp_path)))) == _right(_truth(bundle))


@pytest.mark.parametrize("event", ["cycles", "cycles/freq=97/", "cpu_core/cycles:P/"])
@pytest.mark.parametrize("bundle", EXPLAINED, ids=lambda path: path.stem)
def test_the_same_incident_on_a_large_machine_with_a_pmu_has_the_same_answer(
    bundle: Path, event: str, tmp_path: Path
) -> None:
    store = unpacked(bundle, tmp_path / "kept")
    before = explain(Store(store))
    after = explain(Store(as_pmu_machine(store, tmp_path / "pmu", event=event)))
    assert _named(after) == _right(_truth(bundle))
    assert before.cause is not None
    assert after.cause is not None
    assert after.cause.confidence == pytest.approx(before.cause.confidence, abs=0.06)


@pytest.mark.parametrize("bundle", BLIND, ids=lambda path: path.stem)
def test_where_the_time_before_was_not_recorded_nobody_is_named_and_the_gap_is(bundle: Path, tmp_path: Path) -> None:
    verdict = explain(Store(unpacked(bundle, tmp_path)))
    assert (verdict.verdict, verdict.cause) == ("unexplained", None)
    assert any("no samples were taken" in one.what for one in verdict.missing)
