"""The documents of `why`, field by field."""

from __future__ import annotations

import json
from dataclasses import replace

from necroscope.show.why_json import why_all_document, why_document
from necroscope.verdict import Group
from stage.verdicts import EXPLAINED, QUIET, SYMPTOM, UNEXPLAINED


def test_an_explained_symptom() -> None:
    document = why_document(EXPLAINED)
    assert document["schema"] == "necroscope.why/1"
    assert document["verdict"] == "explained"
    assert document["symptom"] == {
        "kind": "nic-reset",
        "at": "2026-01-02T03:04:05.678Z",
        "source": "kmsg",
        "text": "ena eth0: Trigger reset is on, reason 15",
        "subject": "eth0",
        "uncertainty_ns": 0,
        "id": "42",
    }
    assert document["cause"] == {
        "kind": "zombie-memcg",
        "subject": {"kind": "unit", "name": "acme-agent.service"},
        "process": {"name": "statsd", "pid": 811},
        "cpu": 39,
        "confidence": 0.971,
    }
    assert document["chain"][1] == {
        "claim": "core 39 was taken for 6.6 s, until 2.0 s before the symptom",
        "kind": "starved-core",
        "evidence": [
            {
                "text": "core 39 had no idle time for 6.6 s",
                "value": 6.6,
                "unit": "s",
                "window": ["2026-01-02T03:03:56.678Z", "2026-01-02T03:04:03.678Z"],
                "source": "cpu",
            }
        ],
    }
    assert [(one["hypothesis"], one["tested"]) for one in document["rejected"]] == [
        ("page-faults", True),
        ("cpu-quota", False),
    ]
    assert document["rejected"][0]["evidence"][0]["value"] == 60_206.4
    assert document["missing"] == [
        {"what": "run-delay: this kernel has no /proc/schedstat", "hint": "boot with schedstats=enable"}
    ]
    assert document["remedies"][1] == {
        "action": "reboot",
        "subject": "",
        "command": "",
        "text": "Reboot.",
        "risk": "hides the cause",
        "cost": "downtime",
        "purges_existing": True,
    }
    assert document["window"] == ["2026-01-02T03:03:56.678Z", "2026-01-02T03:04:03.678Z"]
    assert document["notes"] == ["the recording has a hole of 3 s"]


def test_what_is_not_known_is_null() -> None:
    assert why_document(UNEXPLAINED)["cause"] is None
    assert why_document(QUIET)["symptom"] is None
    assert why_document(QUIET)["window"] is None
    assert EXPLAINED.cause is not None
    cause = why_document(replace(EXPLAINED, cause=replace(EXPLAINED.cause, subject=None, process=None, cpu=None)))[
        "cause"
    ]
    assert (cause["subject"], cause["process"], cause["cpu"]) == (None, None, None)


def test_strings_are_valid_unicode() -> None:
    text = json.dumps(why_document(replace(UNEXPLAINED, symptom=replace(SYMPTOM, text="a\udc80b"))), ensure_ascii=False)
    assert "a\\\\x80b" in text
    text.encode("utf-8")


def test_groups() -> None:
    document = why_all_document([Group(EXPLAINED, (SYMPTOM, replace(SYMPTOM, id=None)))], ["a.parquet is bad"])
    assert document["notes"] == ["a.parquet is bad"]
    assert document["schema"] == "necroscope.why-all/1"
    (group,) = document["groups"]
    assert [one["id"] for one in group["symptoms"]] == ["42", None]
    assert group["cause"]["kind"] == "zombie-memcg"
