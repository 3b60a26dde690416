"""The questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.diagnose.why import explain, explain_all, symptoms_of
from necroscope.errors import BadInput
from stage.incident import SMAPS, Played, at, nic_reset


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
    assert explain(store, known=()).cause is None
    assert explain(store).cause is not None
