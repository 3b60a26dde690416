"""New knowledge is data: a mechanism, a rival and a kind of symptom are each one TOML entry."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

from necroscope.diagnose.hypotheses import Catalogue, catalogue
from necroscope.diagnose.judge import judge
from necroscope.explain import explain
from necroscope.query.case import symptom as symptoms_of_cases
from necroscope.sense.log.symptoms import load
from stage.build_case import ODD, case, starvation, suspect
from stage.incident import SMAPS, Played

MECHANISM = """
[[mechanisms]]
id = "extent-walk"
title = "our storage driver walks its table of extents"
expensive = "Each flush visits every extent under one lock."
references = ["https://wiki.example/storage/extents"]
functions = ["very_own_loop"]
confirm = [{ fact = "very_own_extents", at_least = 1e6, because = "{value} extents are in the table" }]
remedies = [{ action = "trim", text = "Trim the volume.", risk = "some I/O for minutes", cost = "none" }]
"""
RIVAL = """
[[rivals]]
id = "storage-latency"
title = "the storage network is slow"
measure = "rise"
fact = "storage_wait"
says = "requests waited for {percent} of the time"
cause = true
remedies = [{ action = "ask-storage", text = "Ask the storage team.", risk = "none", cost = "none" }]
"""
KIND = """
[kinds.acme-link-stall]
severity = "critical"
help = "the link of an acme adapter made no progress"
family = "acme"
starved = true
patience_s = 120.0

[[patterns]]
kind = "acme-link-stall"
literal = "link made no progress"
regex = 'acme (?P<device>\\S+): link made no progress for (?P<stall_s>\\d+) s'
examples = []
"""


def _with(text: str) -> Catalogue:
    found = catalogue([("mine.toml", text.encode())])
    assert found.warnings == ()
    return found


def test_a_mechanism() -> None:
    made = case(starvation(suspect(shapes=ODD), waits={"victim": 6.0}, very_own_extents=4e6))
    known = _with(MECHANISM)
    before, after = judge(made, catalogue()), judge(made, known)
    assert before.cause is not None
    assert before.cause.kind == "unknown-mechanism"
    assert after.cause is not None
    assert (after.verdict, after.cause.kind) == ("explained", "extent-walk")
    link = next(one for one in after.links if one.kind == "mechanism")
    assert link.claim == "our storage driver walks its table of extents"
    assert "4,000,000 extents are in the table" in [one.text for one in link.evidence]
    assert [one.action for one in after.remedies] == ["trim"]
    assert known.titles["extent-walk"] == link.claim


def test_a_rival() -> None:
    known = _with(RIVAL)
    unseen = judge(case(starvation(suspect())), known)
    assert {one.hypothesis: one.outcome for one in unseen.tested}["storage-latency"] == "untested"
    small = judge(case(starvation(suspect(), storage_wait=0.1, storage_wait_before=0.1)), known)
    assert {one.hypothesis: one.outcome for one in small.tested}["storage-latency"] == "ruled-out"
    some = judge(case(starvation(suspect(), storage_wait=0.5, storage_wait_before=0.0)), known)
    assert some.cause is not None
    assert some.cause.kind == "smaps-walk"
    assert "storage-latency is not ruled out: requests waited for 50 % of the time, 0 % in quiet times" in [
        one.claim for one in some.links
    ]
    large = judge(case(starvation(suspect(share=0.6), storage_wait=0.9, storage_wait_before=0.0)), known)
    assert large.cause is not None
    assert large.cause.kind == "storage-latency"
    assert [one.action for one in large.remedies] == ["ask-storage"]


@pytest.mark.parametrize(("ago", "named"), [(100, True), (160, False)])
def test_a_kind_of_symptom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ago: int, named: bool) -> None:
    shipped = resources.files("necroscope.sense.log").joinpath("symptoms.toml").read_text("utf-8")
    known = load(shipped + KIND)
    match = known.match("acme nic7: link made no progress for 118 s")
    assert match is not None
    assert match.fields["device"] == "nic7"
    monkeypatch.setattr(symptoms_of_cases, "_kinds", lambda: known.kinds)
    node = Played(2, 240)
    node.usual()
    node.does(1, 200 - ago, 210 - ago, 1.0, "reader", 77, frames=SMAPS, mode="system", cgroup="/r")
    node.happens(200, match.pattern.kind.name, "acme nic7: link made no progress for 118 s", "nic7")
    verdict = explain(node.write(tmp_path))
    assert verdict.symptom is not None
    assert verdict.symptom.kind == "acme-link-stall"
    assert ("reader" in " ".join(one.claim for one in verdict.links)) is named
