"""Sentences are made from fields, and what others said is shown as they said it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.clock import NS, iso
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.event_sentence import _OWN, sentence
from stage.recorded import START_NS as AT

_SPAN = f"from {iso(AT)} to {iso(AT + 3 * NS)}"
CASES = {
    "perf is gone": (
        Event(AT, "recorder-gap", "recorder", "perf", reason="perf ended by itself", from_ns=AT, to_ns=AT + 3 * NS),
        f"no samples were taken {_SPAN} (3.0 s): perf ended by itself",
    ),
    "rows are gone": (
        Event(AT, "recorder-gap", "recorder", "store", reason="no room", from_ns=AT, to_ns=AT + 3 * NS, count=1200),
        f"1,200 samples and other rows {_SPAN} were lost: no room",
    ),
    "odd bytes": (
        Event(AT, "recorder-gap", "perf", "perf", count=77),
        "77 bytes of perf's stream made no sense",
    ),
    "a cut journal": (
        Event(AT, "recorder-gap", "recorder", "store", "journal 3 was cut after 2 frames: torn"),
        "journal 3 was cut after 2 frames: torn",
    ),
    "stuck": (
        Event(AT, "store-stuck", "recorder", "store", reason="no room", from_ns=AT, to_ns=AT + 3 * NS),
        f"rows waited in memory {_SPAN} (3.0 s): no room",
    ),
    "start": (Event(AT, "recorder-started", "recorder", "recorder", pid=7, boot="b"), "pid 7, boot b"),
    "end": (Event(AT, "recorder-stopped", "recorder", "recorder", pid=7), "pid 7, boot unknown"),
    "boot": (Event(AT, "boot", "recorder", "host", boot="b"), "the kernel started, boot b"),
    "step": (
        Event(AT, "clock-step", "recorder", "clock", from_ns=AT + 3 * NS, to_ns=AT),
        f"the wall clock was stepped by -3.000 s: {iso(AT + 3 * NS)} became {iso(AT)}",
    ),
    "lost": (
        Event(AT, "samples-lost", "perf", "cpu3", cpu=3, from_ns=AT, to_ns=AT, count=70),
        f"70 records of perf were lost since {iso(AT)}: nobody emptied its ring in time",
    ),
    "throttled": (
        Event(AT, "sampling-throttled", "perf", "cpu3", cpu=3, reason="it took too long"),
        "the kernel stopped sampling: it took too long",
    ),
    "resumed": (
        Event(AT, "sampling-throttled", "perf", "cpu3", cpu=3, reason="resumed"),
        "the kernel resumed sampling",
    ),
    "made": (
        Event(AT, "cgroup-mkdir", "perf", "/a", pid=16, cgroup=71, hierarchy=4),
        "hierarchy 4, cgroup 71, by pid 16",
    ),
    "removed": (
        Event(AT, "cgroup-rmdir", "perf", "/a", pid=16, task="runc", cgroup=71, hierarchy=4),
        "hierarchy 4, cgroup 71, by runc 16",
    ),
    "released": (Event(AT, "cgroup-release", "perf", "/a", cgroup=71, hierarchy=4), "hierarchy 4, cgroup 71"),
    "many": (
        Event(AT, "cgroup-churn", "perf", "/a", "9 removed", pid=16, hierarchy=4, from_ns=AT, to_ns=AT + NS, count=10),
        "hierarchy 4: too many to record one by one: 10 made below it within 1.0 s, most by pid 16; 9 removed",
    ),
    "starts": (Event(AT, "unit-start", "systemd", "a.service", count=4), "4 starts since the look before"),
    "one start": (Event(AT, "unit-start", "systemd", "a.service", count=1), "started"),
    "failure": (Event(AT, "unit-failure", "systemd", "a.service", reason="exit-code, status 1"), "exit-code, status 1"),
    "restart": (
        Event(AT, "unit-restart", "systemd", "a.service", reason="exit-code", count=2),
        "2 more, the last one: exit-code",
    ),
    "container": (
        Event(AT, "container-restart", "docker", "box", reason="exited", count=2),
        "2 more, the last one: exited",
    ),
    "nameless": (
        Event(AT, "frames-unresolved", "recorder", "perf", "1,200 because it is large", count=1200),
        "1,200 frames unresolved: 1,200 because it is large",
    ),
    "refused": (
        Event(AT, "symbols-refused", "recorder", "a", "/x", reason="it hung", pid=7, from_ns=AT, to_ns=AT + 60 * NS),
        "it hung at /x of process 7: no symbols for a for 60 s",
    ),
    "went": (
        Event(AT, "retention", "recorder", "store", "9 MiB", reason="too old", from_ns=AT, to_ns=AT + 3 * NS, count=2),
        f"2 segments (9 MiB) {_SPAN} went: too old",
    ),
    "sees": (Event(AT, "sensor-sees", "recorder", "nic"), "sees again"),
}


@pytest.mark.parametrize(("event", "said"), CASES.values(), ids=list(CASES))
def test_a_sentence_from_fields(event: Event, said: str) -> None:
    assert sentence(event) == said


def test_every_kind_has_a_case() -> None:
    assert {event.kind for event, _ in CASES.values()} == set(_OWN)


def test_what_others_said_is_shown_as_they_said_it() -> None:
    line = Event(AT, "nic-reset", "kmsg", "eth0", "eth0: reset", device="eth0")
    assert sentence(line) == "eth0: reset"
    assert sentence(replace(line, count=3)) == "eth0: reset (×3)"
    # Anybody may call a mark so.
    assert sentence(Event(AT, "recorder-gap", "mark", "", "a gap", from_ns=AT, to_ns=AT)) == "a gap"


@pytest.mark.parametrize("kind", sorted(_OWN))
def test_an_event_that_says_next_to_nothing_has_a_sentence(kind: str) -> None:
    """Rows of others, and of later versions, may lack anything."""
    for source in ("recorder", "perf", "systemd"):
        assert isinstance(sentence(Event(AT, kind, source)), str)
