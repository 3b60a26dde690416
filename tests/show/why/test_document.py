"""The documents of `why`, field by field."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given, settings

from necroscope.show.why.document import why_all_document, why_document
from necroscope.vocabulary.verdict import Group, Link, Verdict
from stage.cases import any_value
from stage.verdicts import EXPLAINED, QUIET, SYMPTOM, UNEXPLAINED

_WINDOW = ["2026-01-02T03:03:56.678Z", "2026-01-02T03:04:03.678Z"]
_CORE_EVIDENCE = {
    "text": "core 39 had no idle time for 6.6 s",
    "value": 6.6,
    "unit": "s",
    "window": _WINDOW,
    "source": "cpu",
}


def test_an_explained_symptom() -> None:
    document = why_document(EXPLAINED)
    assert list(document) == [
        *("schema", "symptom", "verdict", "cause", "links", "weakest", "tested", "candidates"),
        *("missing", "remedies", "window", "notes"),
    ]
    assert document["schema"] == "necroscope.why/2"
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
    assert document["links"][1] == {
        "kind": "starved-core",
        "claim": "core 39 was starved for 6.6 s, until 2.0 s before the symptom",
        "strength": 0.97,
        "doubt": "",
        "evidence": [_CORE_EVIDENCE],
    }
    assert document["links"][2]["strength"] is None
    assert document["links"][3]["doubt"] == "6 % of what was sampled on the core was somebody else's"
    assert document["weakest"] == {"kind": "on-core", "strength": 0.91}
    assert document["tested"][0] == {
        "hypothesis": "page-faults",
        "outcome": "ruled-out",
        "because": "60,206 a second, 60,844 in quiet times",
        "explains": 0.02,
        "evidence": [{"text": "60,206", "value": 60_206.4, "unit": "", "window": None, "source": "vmstat"}],
    }
    assert (document["tested"][1]["outcome"], document["tested"][1]["explains"]) == ("untested", None)
    assert document["candidates"][1] == {
        "kind": "memcg-reclaim",
        "cpu": 39,
        "process": {"name": "statsd", "pid": 811},
        "explains": 0.41,
        "confidence": 0.3,
        "because": "42 % of the samples show it",
    }
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
    assert document["window"] == _WINDOW
    assert document["notes"] == ["the recording has a hole of 3 s"]


def test_version_1_of_the_same_verdict() -> None:
    document = why_document(EXPLAINED, 1)
    assert list(document) == [
        *("schema", "symptom", "verdict", "cause", "chain", "rejected", "missing", "remedies", "window", "notes")
    ]
    assert document["schema"] == "necroscope.why/1"
    kinds = [one["kind"] for one in document["chain"]]
    assert kinds == [
        *("symptom", "starved-core", "victim", "walker", "mechanism", "orderer", "grew", "leak-source"),
        *("why-it-runs", "recurrence", "projection", "not-ruled-out"),
    ]
    assert document["chain"][1] == {
        "claim": "core 39 was starved for 6.6 s, until 2.0 s before the symptom",
        "kind": "starved-core",
        "evidence": [_CORE_EVIDENCE],
    }
    assert [(one["hypothesis"], one["tested"]) for one in document["rejected"]] == [
        ("page-faults", True),
        ("cpu-quota", False),
    ]
    assert set(document["rejected"][0]) == {"hypothesis", "because", "tested", "evidence"}
    same = ("symptom", "verdict", "cause", "missing", "remedies", "window", "notes")
    assert [document[key] for key in same] == [why_document(EXPLAINED)[key] for key in same]


def test_version_1_has_no_link_about_whom_to_act_on_and_rejects_nothing_that_is_not_ruled_out() -> None:
    standing = replace(EXPLAINED.tested[0], outcome="not-ruled-out")
    verdict = replace(EXPLAINED, links=(Link("subject", "unit x is what to act on"),), tested=(standing,))
    document = why_document(verdict, 1)
    assert (document["chain"], document["rejected"]) == ([], [])
    assert why_document(verdict)["tested"][0]["outcome"] == "not-ruled-out"


def test_what_is_not_known_is_null() -> None:
    document = why_document(UNEXPLAINED)
    assert (document["cause"], document["weakest"], document["window"]) == (None, None, None)
    assert why_document(QUIET)["symptom"] is None
    assert why_document(Verdict("unexplained"))["links"] == []
    assert EXPLAINED.cause is not None
    cause = why_document(replace(EXPLAINED, cause=replace(EXPLAINED.cause, subject=None, process=None, cpu=None)))[
        "cause"
    ]
    assert (cause["subject"], cause["process"], cause["cpu"]) == (None, None, None)


def test_strings_are_valid_unicode() -> None:
    link = Link("starved-core", "a\udc80b", (), 0.5, "c\udcffd")
    for version in (1, 2):
        verdict = replace(UNEXPLAINED, symptom=replace(SYMPTOM, text="a\udc80b"), links=(link,))
        text = json.dumps(why_document(verdict, version), ensure_ascii=False)  # type: ignore[arg-type]
        assert text.count("a\\\\x80b") == 2
        text.encode("utf-8")


@settings(max_examples=60, deadline=None)
@given(any_value(Verdict))
def test_any_verdict_is_valid_json(verdict: Verdict) -> None:
    for version in (1, 2):
        document = why_document(verdict, version)  # type: ignore[arg-type]
        text = json.dumps(document, ensure_ascii=False, allow_nan=False)
        assert json.loads(text.encode("utf-8")) == document


def test_groups() -> None:
    groups = [Group(EXPLAINED, (SYMPTOM, replace(SYMPTOM, id=None)))]
    document = why_all_document(groups, ["a.parquet is bad"])
    assert list(document) == ["schema", "groups", "notes"]
    assert document["notes"] == ["a.parquet is bad"]
    assert document["schema"] == "necroscope.why-all/2"
    (group,) = document["groups"]
    assert [one["id"] for one in group["symptoms"]] == ["42", None]
    assert group["cause"]["kind"] == "zombie-memcg"
    assert len(group["links"]) == len(EXPLAINED.links)
    older = why_all_document(groups, version=1)
    assert older["schema"] == "necroscope.why-all/1"
    assert len(older["groups"][0]["chain"]) == len(EXPLAINED.links)
