"""Sentences of earlier versions, kind by kind."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.clock import NS, iso
from necroscope.store.read.older_sentences import _KINDS, fields_of
from necroscope.vocabulary.event import TYPED
from stage.recorded import START_NS as AT

_SPAN = f"from {iso(AT)} to {iso(AT + 3 * NS)}"
_TX = (
    "ena 0000:20:03.0 eth0: TX q 5 is paused for too long (threshold 5000000). "
    "Time since last napi 6596000 usec. napi scheduled: 1"
)
CASES: dict[str, tuple[tuple[str, str, str, str], dict[str, Any]]] = {
    "made": (
        ("cgroup-mkdir", "perf", "/a", "hierarchy 4, cgroup 69212712, level 2, by pid 16"),
        {"hierarchy": 4, "cgroup": 69212712, "pid": 16, "text": "", "task": ""},
    ),
    "made by a name with a blank": (
        ("cgroup-mkdir", "perf", "/a", "hierarchy 4, cgroup 7, level 2, by my 2 task 16"),
        {"hierarchy": 4, "cgroup": 7, "pid": 16, "text": "", "task": "my 2 task"},
    ),
    "many": (
        (
            "cgroup-churn",
            "perf",
            "/a",
            "hierarchy 4: too many to be told one by one: 10 made, 9 removed, 8 released below it within 1.5 s, "
            "7 of them removed and released at once, most by pid 16, for example /a/b",
        ),
        {
            "hierarchy": 4,
            "count": 10,
            "pid": 16,
            "from_ns": AT,
            "to_ns": AT + 3 * NS // 2,
            "text": "9 removed, 8 released, 7 of them removed and released at once, for example /a/b",
        },
    ),
    "gap": (
        ("recorder-gap", "recorder", "recorder", f"nothing was recorded {_SPAN} (3.0 s): the recorder was stopped"),
        {"from_ns": AT, "to_ns": AT + 3 * NS, "reason": "the recorder was stopped"},
    ),
    "dropped rows": (
        ("recorder-gap", "recorder", "store", f"1,234 samples and other rows {_SPAN} were lost: No space left"),
        {"from_ns": AT, "to_ns": AT + 3 * NS, "reason": "No space left", "count": 1234},
    ),
    "a clock that was set back": (
        ("recorder-gap", "recorder", "recorder", "nothing was recorded for a time that is not known: why; the last"),
        {"reason": "why; the last"},
    ),
    "odd bytes": (
        ("recorder-gap", "perf", "perf", "77 bytes of perf's stream made no sense"),
        {"count": 77, "text": ""},
    ),
    "a cut journal": (("recorder-gap", "recorder", "store", "journal 3 was cut after 2 frames: torn"), {}),
    "stuck": (
        ("store-stuck", "recorder", "store", f"rows waited in memory {_SPAN} (3.0 s): No space left on device"),
        {"from_ns": AT, "to_ns": AT + 3 * NS, "reason": "No space left on device", "text": ""},
    ),
    "start": (("recorder-started", "recorder", "recorder", "pid 7, boot 6798175c"), {"pid": 7, "boot": "6798175c"}),
    "end, boot unknown": (("recorder-stopped", "recorder", "recorder", "pid 7, boot unknown"), {"pid": 7, "boot": ""}),
    "boot": (("boot", "recorder", "host", "the kernel started, boot 6798175c"), {"boot": "6798175c", "text": ""}),
    "step": (
        (
            "clock-step",
            "recorder",
            "clock",
            f"the wall clock was stepped by -3.000 s: {iso(AT + 3 * NS)} became {iso(AT)}",
        ),
        {"from_ns": AT + 3 * NS, "to_ns": AT, "text": ""},
    ),
    "lost": (
        (
            "samples-lost",
            "perf",
            "cpu3",
            f"70 records of perf were lost since {iso(AT - NS)}: nobody emptied its ring in time",
        ),
        {"count": 70, "from_ns": AT - NS, "to_ns": AT, "cpu": 3, "text": ""},
    ),
    "lost somewhere": (
        ("samples-lost", "perf", "perf", "70 records of perf were lost: nobody emptied its ring in time"),
        {"count": 70, "to_ns": AT, "text": ""},
    ),
    "throttled": (
        ("sampling-throttled", "perf", "cpu3", "the kernel stopped sampling because it took too long"),
        {"cpu": 3, "reason": "it took too long", "text": ""},
    ),
    "resumed": (
        ("sampling-throttled", "perf", "cpu3", "the kernel resumed sampling"),
        {"cpu": 3, "reason": "resumed", "text": ""},
    ),
    "one start": (("unit-start", "systemd", "a.service", "started"), {"count": 1}),
    "starts": (("unit-start", "systemd", "a.service", "21 starts since the look before"), {"count": 21}),
    "failure": (("unit-failure", "systemd", "a.service", "exit-code, status 1"), {"reason": "exit-code, status 1"}),
    "restart": (
        ("unit-restart", "systemd", "a.service", "22 more, 82 in all: exit-code, status 1"),
        {"count": 22, "reason": "exit-code, status 1"},
    ),
    "container": (
        ("container-restart", "docker", "box", "1 more, 5 in all: exited, exit status 1, image busy"),
        {"count": 1, "reason": "exited, exit status 1, image busy"},
    ),
    "nameless": (
        ("frames-unresolved", "recorder", "perf", "1,200 frames unresolved: 1,200 because it is large"),
        {"count": 1200, "text": "1,200 because it is large"},
    ),
    "refused": (
        ("symbols-refused", "recorder", "a", "it hung at /x of process 7: no symbols for a for 60 s"),
        {"reason": "it hung", "text": "/x", "pid": 7, "from_ns": AT, "to_ns": AT + 60 * NS},
    ),
    "went": (
        ("retention", "recorder", "store", f"2 segments (9.0 MiB) {_SPAN} went: they were too old"),
        {"count": 2, "text": "9.0 MiB", "from_ns": AT, "to_ns": AT + 3 * NS, "reason": "they were too old"},
    ),
    "a line of the kernel": (
        ("nic-tx-timeout", "kmsg", "eth0", _TX),
        {"device": "eth0", "driver": "ena", "queue": 5, "stall_s": 6.596, "reason": "tx-timeout", "text": _TX},
    ),
    "an imported line, repeated": (
        ("nic-tx-timeout", "dmesg", "eth0", f"{_TX} (×12)"),
        {
            "device": "eth0",
            "driver": "ena",
            "queue": 5,
            "stall_s": 6.596,
            "reason": "tx-timeout",
            "text": _TX,
            "count": 12,
        },
    ),
    "a core that only the subject names": (("rcu-stall", "kmsg", "cpu7", "odd"), {"cpu": 7, "text": "odd"}),
    "a unit of the journal": (("unit-restart", "journal", "a.service", "Scheduled restart job"), {"count": 1}),
    "a line of ray": (
        ("ray-heartbeat-late", "ray", "", "Last heartbeat was sent 26000 ms ago"),
        {"stall_s": 26.0},
    ),
    "a mark": (("recorder-gap", "mark", "", f"nothing was recorded {_SPAN} (3.0 s): x"), {}),
}


@pytest.mark.parametrize(("row", "fields"), CASES.values(), ids=list(CASES))
def test_what_a_sentence_said(row: tuple[str, str, str, str], fields: dict[str, Any]) -> None:
    assert fields_of(AT, *row) == fields


def test_every_kind_has_a_case() -> None:
    assert set(_KINDS) - {row[0] for row, _ in CASES.values()} == {"cgroup-rmdir", "cgroup-release"}


def test_numbers_that_no_column_holds_are_left_open() -> None:
    text = "hierarchy 999999999, cgroup 9999999999999999999, level 1, by pid 1"
    found = fields_of(AT, "cgroup-mkdir", "perf", "/a", text)
    assert (found.get("cgroup"), found["hierarchy"]) == (None, 999999999)


@given(st.sampled_from([*sorted(_KINDS), "nic-reset"]), st.sampled_from(["perf", "recorder", "kmsg", "ray"]), st.text())
def test_any_text_is_read(kind: str, source: str, text: str) -> None:
    assert set(fields_of(AT, kind, source, text, text)) <= {*TYPED, "text"}


@given(st.sampled_from(sorted(CASES)), st.data())
def test_any_damaged_sentence_is_read(name: str, data: st.DataObject) -> None:
    kind, source, subject, text = CASES[name][0]
    at, size = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 9))
    fields_of(AT, kind, source, subject, text[:at] + data.draw(st.text(max_size=5)) + text[at + size :])
