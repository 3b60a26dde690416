"""The questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from necroscope.clock import NS
from necroscope.diagnose.hypotheses import Catalogue
from necroscope.diagnose.judge import judge
from necroscope.errors import BadInput
from necroscope.explain import case_of, explain, explain_all, symptoms_of
from necroscope.explain.mechanism_files import hypotheses_of
from necroscope.query.case import others
from stage.incident import SMAPS, Played, at, nic_reset, zombie_incident


def test_an_empty_store(tmp_path: Path) -> None:
    store = Played(1, 0, counted=False).write(tmp_path)
    with pytest.raises(BadInput, match="empty"):
        explain(store)
    with pytest.raises(BadInput, match="empty"):
        explain_all(store)
    assert symptoms_of(store) == []


def test_what_is_said_of_one_incident_is_one_group(tmp_path: Path) -> None:
    node = Played(2, 90)
    node.usual()
    node.does(1, 50, 57, 1.0, "reader", 77, frames=SMAPS, mode="system")
    nic_reset(node, 59)
    node.happens(61, "netdev-watchdog", "transmit queue 1 timed out", "eth0")
    node.happens(62, "oom-kill", "no symptom")
    store = node.write(tmp_path)
    assert [(one.at_ns - at(0)) // NS for one in symptoms_of(store)] == [59, 61]
    (group,) = explain_all(store)
    assert [one.kind for one in group.symptoms] == ["nic-reset", "netdev-watchdog"]
    assert group.verdict.cause is not None
    assert group.verdict.cause.kind == "smaps-walk"


def test_the_mechanisms_are_the_callers_choice(tmp_path: Path) -> None:
    node = Played(2, 90)
    node.usual()
    node.does(1, 50, 57, 1.0, "reader", 77, frames=SMAPS, mode="system")
    nic_reset(node, 59)
    store = node.write(tmp_path)
    assert explain(store, known=Catalogue(())).cause is None
    assert explain(store).cause is not None


def test_the_case_of_a_question_gives_its_verdict(tmp_path: Path) -> None:
    node = zombie_incident(150)
    node.does(3, 110, 117, 1.0, "reader", 77, frames=SMAPS, mode="system")
    nic_reset(node, 120)
    store = node.write(tmp_path)
    for wish in ({}, {"at_ns": at(71)}, {"event": "nic-reset"}):
        case = case_of(store, **wish)  # type: ignore[arg-type]
        verdict = explain(store, **wish)  # type: ignore[arg-type]
        assert verdict.cause is not None
        assert judge(case, hypotheses_of()) == verdict
    assert case_of(store, at_ns=at(71)).symptom.at_ns == at(70)
    assert case_of(store).symptom.at_ns == at(120)


def test_without_a_symptom_there_is_no_case(tmp_path: Path) -> None:
    node = Played(2, 90)
    node.usual()
    store = node.write(tmp_path)
    assert explain(store).verdict == "no-symptom"
    with pytest.raises(BadInput, match="no symptom"):
        case_of(store)
    assert case_of(store, at_ns=at(50)).symptom.kind == "moment"


def test_what_cannot_be_read_is_in_the_case_as_well(tmp_path: Path) -> None:
    store = zombie_incident().write(tmp_path)
    for segment in store.snapshot().segments:
        path = segment.file("series")
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert set(case_of(store).notes) == set(explain(store).notes)
    assert len(case_of(store).notes) == 2


def test_symptoms_that_share_a_cause_are_grouped(tmp_path: Path) -> None:
    node = Played(2, 210)
    node.usual()
    for number, name in enumerate(("one", "two", "one")):
        begin = 60 * number + 40
        node.does(1, begin, begin + 6, 1.0, name, 50 + number, frames=SMAPS, mode="system", cgroup=f"/{name}")
        nic_reset(node, begin + 9)
    groups = explain_all(node.write(tmp_path))
    assert [[(symptom.at_ns - at(0)) // NS for symptom in group.symptoms] for group in groups] == [[49, 169], [109]]
    names = [
        group.verdict.cause.subject.name for group in groups if group.verdict.cause and group.verdict.cause.subject
    ]
    assert names == ["one", "two"]


def test_all_of_them_are_read_without_looking_at_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = zombie_incident(150)
    nic_reset(node, 120)
    read: list[int] = []
    real = others.look_around

    def counted(*given: Any) -> Any:
        read.append(given[1].at_ns)
        return real(*given)

    monkeypatch.setattr(others, "look_around", counted)
    store = node.write(tmp_path)
    explain(store)
    assert read == [at(70)]
    explain_all(store)
    assert read == [at(70)]
