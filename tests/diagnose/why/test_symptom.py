"""Which events are symptoms, and which one is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.diagnose.why.scene import span_of
from necroscope.diagnose.why.symptom import choose, is_symptom, named_cpu, named_queue, symptoms_in
from necroscope.errors import BadInput
from necroscope.store.reader import Snapshot
from necroscope.store.tables import Event
from necroscope.verdict import Complaint
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


@pytest.mark.parametrize(
    ("text", "subject", "cpu"),
    [
        ("TX q 5 is paused for too long. napi scheduled: 1. napi CPU: 39. msecs", "eth0", 39),
        ("watchdog: BUG: soft lockup - CPU#12 stuck for 22s! [x:1]", "cpu12", 12),
        ("NETDEV WATCHDOG: CPU: 3: transmit queue 1 timed out 5012 ms", "eth0", 3),
        ("a stall", "cpu7", 7),
        ("transmit queue 1 timed out", "eth0", None),
    ],
)
def test_the_core_that_a_message_names(text: str, subject: str, cpu: int | None) -> None:
    assert named_cpu(Complaint("x", 1, "kmsg", text, subject)) == cpu


@pytest.mark.parametrize(
    ("text", "queue"),
    [
        ("ena 0000:00:05.0 eth0: TX q 5 is paused for too long", 5),
        ("TX timeout on queue: 12, SQ: 0x1a, CQ: 0x2, SQ Cons: 0x3", 12),
        ("NETDEV WATCHDOG: eth0 (tg3): transmit queue 0 timed out", 0),
        ("tx hang 3 detected on queue 7, resetting adapter", 7),
        ("tx_timeout: VSI_seid: 390, Q 9, NTC: 0x1", 9),
        ("tx_timeout recovery level 1, txqueue 4", 4),
        ("Timeout on tx queue, 6", 6),
        ("Tx Timeout triggered - txq 2", 2),
        ("Reset adapter", None),
    ],
)
def test_the_queue_that_a_message_names(text: str, queue: int | None) -> None:
    assert named_queue(Complaint("x", 1, "kmsg", text, "eth0")) == queue


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
    recorded = span_of(snapshot)
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
    recorded = span_of(snapshot)
    assert recorded is not None
    found = choose(snapshot, recorded, at_ns=at(-200))
    assert found is not None
    assert (found.kind, found.at_ns, found.id) == ("moment", at(-200), None)


@pytest.mark.parametrize("name", ["12345", "no-such-kind"])
def test_an_event_that_is_not_there(snapshot: Snapshot, name: str) -> None:
    with pytest.raises(BadInput, match=f"no event {name}"):
        _chosen(snapshot, event=name)
