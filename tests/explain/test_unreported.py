"""Starvation that nobody reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.explain import case_of, explain
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import ProcessUse
from stage.incident import SMAPS, USER, Played, at


@pytest.mark.parametrize(
    ("seconds", "waited", "frames", "mode", "found"),
    [
        (7, 6.0, SMAPS, "system", True),
        (7, 1.0, SMAPS, "system", False),
        (3, 3.0, SMAPS, "system", False),
        (9, 8.0, USER, "user", False),
    ],
)
def test_only_the_worst_kind_counts(
    tmp_path: Path, seconds: int, waited: float, frames: tuple[tuple[str, str], ...], mode: str, found: bool
) -> None:
    node = Played(2, 90)
    node.does(1, 50, 50 + seconds, 0.95, "holder", 9, frames=frames, mode=mode, cgroup="/h")
    node.usual()
    node.uses.append((50 + seconds + 1, ProcessUse(501, 1, "victim", "/", 0.1, 0.0, waited, 1, 1)))
    verdict = explain(node.write(tmp_path))
    if not found:
        assert (verdict.verdict, verdict.cause) == ("no-symptom", None)
        return
    assert verdict.verdict == "explained"
    assert verdict.symptom is not None
    assert (verdict.symptom.kind, verdict.symptom.source, verdict.symptom.id) == ("starved-core", "found", None)
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.cpu) == ("smaps-walk", 1)
    named = case_of(node.write(tmp_path / "again")).named
    assert named is not None
    assert named.cpu == 1


def test_a_core_that_is_held_for_longer_than_is_looked_at(tmp_path: Path) -> None:
    node = Played(2, 150)
    node.does(1, 50, 110, 0.95, "holder", 9, frames=SMAPS, mode="system", cgroup="/h")
    node.usual()
    for second in range(61, 122, 10):
        node.uses.append((second, ProcessUse(501, 1, "victim", "/", 0.1, 0.0, 9.5, 1, 1)))
    verdict = explain(node.write(tmp_path))
    assert (verdict.verdict, verdict.cause and verdict.cause.kind) == ("explained", "smaps-walk")


def test_a_critical_complaint_that_no_core_causes_is_not_nothing(tmp_path: Path) -> None:
    node = Played(2, 90)
    node.usual()
    text = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
    node.events.append(Event(at(60), "gpu-xid", "kmsg", "0000:3b:00", text))
    verdict = explain(node.write(tmp_path))
    assert (verdict.verdict, verdict.cause) == ("unexplained", None)
    assert verdict.symptom is not None
    assert verdict.symptom.kind == "gpu-xid"
    assert text in [one.text for one in verdict.links[0].evidence]
    assert any("not a kind that a starved core causes" in one.what for one in verdict.missing)


def test_a_process_killed_for_lack_of_memory_is_not_nothing(tmp_path: Path) -> None:
    node = Played(2, 90)
    node.usual()
    node.events.append(Event(at(60), "oom-kill", "kmsg", "importer", "importer invoked oom-killer"))
    verdict = explain(node.write(tmp_path))
    assert (verdict.verdict, verdict.cause) == ("unexplained", None)
    assert verdict.symptom is not None
    assert verdict.symptom.kind == "oom-kill"


def test_what_only_informs_is_nothing_to_explain(tmp_path: Path) -> None:
    node = Played(2, 90)
    node.usual()
    node.events.append(Event(at(60), "nic-link-down", "kmsg", "eth0", "eth0: link is down"))
    assert explain(node.write(tmp_path)).verdict == "no-symptom"
