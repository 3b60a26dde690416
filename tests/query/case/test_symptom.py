"""Which events are symptoms, and which one is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.errors import BadInput
from necroscope.query import extent
from necroscope.query.case.symptom import (
    choose,
    complaint,
    is_hardware,
    is_symptom,
    may_be_starvation,
    patience_ns,
    symptoms_in,
)
from necroscope.sense.log.symptoms import catalogue
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Event
from stage.incident import Played, at


@pytest.mark.parametrize(
    ("kind", "source", "text", "expected"),
    [
        ("nic-reset", "kmsg", "whatever", True),
        ("soft-lockup", "dmesg", "BUG", True),
        ("oom-kill", "kmsg", "invoked oom-killer", False),
        ("hardware-error", "kmsg", "mce", False),
        ("job-failed", "mark", "job 7", True),
        ("mark", "mark", "job 7 failed", True),
        ("mark", "mark", "deployed the new image", False),
        ("job-started", "mark", "job 7 started", False),
        ("mark", "mark", "latest checkpoint saved", False),
        ("mark", "mark", "finished, no errors", False),
        ("mark", "mark", "finished with 0 errors", False),
        ("mark", "mark", "epoch 3: errors: 0, failed=0", False),
        ("mark", "mark", "errors: 3", True),
        ("mark", "mark", "errors 0.5 %", True),
        ("mark", "mark", "it did not crash this time", False),
        ("mark", "mark", "the node didn't hang", False),
        ("mark", "mark", "finished without a timeout", False),
        ("mark", "mark", "failover test passed", False),
        ("mark", "mark", "no progress, job stalled", True),
        ("mark", "mark", "not started: failed", True),
        ("mark", "mark", "job 4711: NCCL timeout", True),
        ("mark", "mark", "training is very slow", True),
        ("mark", "mark", "loader not responding", True),
        ("mark", "mark", "JOB FAILED", True),
        ("mark", "mark", "translate the dataset, template v2", False),
        ("mark", "mark", "retry succeeded after the connection was lost", True),
        ("mark", "mark", "mission accomplished, dismissed", False),
        ("checkpoint", "mark", "saved after the worker that failed came back", False),
        ("job-started", "mark", "again after it failed", False),
        ("job-lost", "mark", "x", True),
        ("ray-error", "ray", "a node was lost", True),
        ("unit-failure", "systemd", "failed", False),
    ],
)
def test_what_counts(kind: str, source: str, text: str, expected: bool) -> None:
    assert is_symptom(Event(1, kind, source, "", text)) is expected


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    node = Played(1, 60)
    node.usual()
    node.happens(-500, "nic-reset", "long before")
    node.happens(20, "nic-reset", "the first")
    node.happens(40, "netdev-watchdog", "the second")
    node.happens(45, "oom-kill", "no symptom")
    node.happens(50, "job-failed", "job 7 failed", source="mark")
    return node.write(tmp_path).snapshot()


def _chosen(snapshot: Snapshot, **wish: object) -> str:
    recorded = extent.recorded(snapshot)
    assert recorded is not None
    found = choose(snapshot, recorded, **wish)  # type: ignore[arg-type]
    assert found is not None
    return found.text


def test_the_latest_unless_somebody_wishes(snapshot: Snapshot) -> None:
    assert len(symptoms_in(snapshot)) == 4
    # A job that fails ten seconds after the kernel complained failed of the same thing.
    assert _chosen(snapshot) == "the second"
    assert _chosen(snapshot, at_ns=at(22)) == "the first"
    assert _chosen(snapshot, event="oom-kill") == "no symptom"
    assert _chosen(snapshot, event="job-failed") == "job 7 failed"


def test_a_moment_without_a_symptom_is_asked_about_itself(snapshot: Snapshot) -> None:
    recorded = extent.recorded(snapshot)
    assert recorded is not None
    found = choose(snapshot, recorded, at_ns=at(-200))
    assert found is not None
    assert (found.kind, found.at_ns, found.id) == ("moment", at(-200), None)


@pytest.mark.parametrize("name", ["12345", "no-such-kind"])
def test_an_event_that_is_not_there(snapshot: Snapshot, name: str) -> None:
    with pytest.raises(BadInput, match=f"no event {name}"):
        _chosen(snapshot, event=name)


def test_the_catalogue_says_what_a_kind_means() -> None:
    kinds = catalogue().kinds.values()
    assert [one.name for one in kinds if one.starved] == [one.name for one in kinds if may_be_starvation(one.name)]
    assert {one.name for one in kinds if is_hardware(one.name)} >= {"hardware-error", "gpu-xid", "io-error"}
    assert patience_ns("hung-task") == 180 * NS
    assert [patience_ns(name) for name in ("nic-reset", "no-such-kind")] == [0, 0]
    assert not may_be_starvation("no-such-kind")


def test_what_a_complaint_names_are_the_fields_of_its_event() -> None:
    said = Event(5, "nic-reset", "kmsg", "eth0", "TX q 9 napi CPU: 9", 7, cpu=3, queue=1, device="eth0", count=2)
    made = complaint(said)
    assert (made.cpu, made.queue, made.device, made.subject, made.uncertainty_ns) == (3, 1, "eth0", "eth0", 7)
    assert (made.text, made.id) == ("TX q 9 napi CPU: 9 (×2)", said.id)
    assert (complaint(Event(5, "nic-reset", "kmsg", "cpu4", "CPU#4")).cpu) is None


@pytest.mark.parametrize(("kind", "suffers"), [("change", False), ("fix", False), ("mark", True), ("job-failed", True)])
def test_a_mark_of_an_intervention_is_no_symptom_whatever_its_words(kind: str, suffers: bool) -> None:
    assert is_symptom(Event(0, kind, "mark", text="killed the process that crashed")) == suffers
