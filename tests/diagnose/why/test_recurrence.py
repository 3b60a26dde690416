"""The same again, over symptoms and over boots."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.diagnose.why import explain, explain_all
from necroscope.diagnose.why.recurrence import ALONE, Boot, Recurrence, over_boots
from stage.incident import SMAPS, WALK, Played, at, nic_reset, zombie_incident


def _episodes(*names: str) -> Played:
    node = Played(2, 60 * len(names) + 30)
    node.usual()
    for number, name in enumerate(names):
        begin = 60 * number + 40
        node.does(1, begin, begin + 6, 1.0, name, 50 + number, frames=SMAPS, mode="system", cgroup=f"/{name}")
        nic_reset(node, begin + 9)
    return node


def test_before_every_symptom(tmp_path: Path) -> None:
    verdict = explain(_episodes("one", "one", "one").write(tmp_path))
    (claim,) = (one for one in verdict.chain if one.kind == "recurrence")
    assert claim.claim == "the same before 3 of 3 symptoms"
    assert verdict.cause is not None
    assert verdict.cause.confidence > 0.95


def test_another_symptom_of_the_same_hold_is_no_other_time(tmp_path: Path) -> None:
    node = Played(2, 120)
    node.usual()
    node.does(1, 60, 66, 1.0, "one", 50, frames=SMAPS, mode="system", cgroup="/one")
    node.happens(64, "stall", "one core stalled", "victim", "mark")
    nic_reset(node, 78)
    verdict = explain(node.write(tmp_path))
    assert verdict.cause is not None
    assert not [one for one in verdict.chain if one.kind == "recurrence"]


def test_the_walker_again_and_again_says_nothing_of_the_leaker(tmp_path: Path) -> None:
    node = zombie_incident(150)
    once = explain(node.write(tmp_path / "once"))
    node.does(2, 110, 117, 1.0, "quiet-harbor", 900, frames=WALK, cgroup="/pods/job", mode="system")
    nic_reset(node, 120)
    again = explain(node.write(tmp_path / "again"))
    assert once.cause is not None
    assert again.cause is not None
    assert again.cause.subject == once.cause.subject
    assert once.cause.confidence < again.cause.confidence <= 0.97  # the most that is believed of a leaker


def test_symptoms_that_share_a_cause_are_grouped(tmp_path: Path) -> None:
    groups = explain_all(_episodes("one", "two", "one").write(tmp_path))
    assert [[(symptom.at_ns - at(0)) // NS for symptom in group.symptoms] for group in groups] == [[49, 169], [109]]
    names = [
        group.verdict.cause.subject.name for group in groups if group.verdict.cause and group.verdict.cause.subject
    ]
    assert names == ["one", "two"]


def test_confidence_rises_with_every_time_and_falls_when_alone() -> None:
    assert Recurrence(4, (1, 2, 3, 4)).raised(0.8) == pytest.approx(1 - 0.2 * 0.67**4, abs=1e-3)
    assert Recurrence(3, ()).raised(0.8) == pytest.approx(0.74)
    assert ALONE.raised(0.8) == 0.8
    assert Recurrence(4, (1, 2, 3, 4)).raised(0.4) == 0.4
    assert ALONE.claim is None


def test_growth_since_each_boot_and_when_it_is_back() -> None:
    hour = 3600 * NS
    first = Boot(0, (0, 0), (100 * hour, 40_000), 36_000, 90 * hour)
    second = Boot(200 * hour, (200 * hour, 0), (210 * hour, 4_000), None, None)
    claim = over_boots([first, second])
    assert claim is not None
    assert claim.claim == "zombies grew by 400 an hour; after a reboot they are as many again in about 3 d 18 h"
    assert [one.value for one in claim.evidence] == [400.0, 400.0, 90.0]


def test_a_short_look_projects_nothing() -> None:
    assert over_boots([Boot(0, (0, 10), (60 * NS, 20), None, None)]) is None


def test_boots_of_a_recording(tmp_path: Path) -> None:
    node = zombie_incident()
    day = 86_400
    node.happens(-2 * day, "boot", "the kernel started", "host", "recorder")
    node.happens(-8 * day, "nic-reset", "an earlier one", "eth0")
    for hour in range(-240, 0, 8):
        grown = 80 * (hour + 240) if hour < -48 else 80 * (hour + 48)
        node.zombies.append((3600 * hour, "/system.slice", grown))
    verdict = explain(node.write(tmp_path))
    (claim,) = (one for one in verdict.chain if one.kind == "projection")
    assert len(claim.evidence) >= 2
    assert "from 0 to" in claim.evidence[0].text
    assert ", 80 an hour" in claim.evidence[0].text
    assert "after a reboot they are as many again in about" in claim.claim
