"""Cases without names: nothing that identifies gets through, and the same is still the same."""

from __future__ import annotations

import dataclasses
import gzip
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given, settings

from necroscope.diagnose.hypotheses import catalogue
from necroscope.diagnose.judge import judge
from necroscope.diagnose.leak.attributor import attribute
from necroscope.diagnose.leak.blame import source
from necroscope.explain import case_of
from necroscope.query.leaks.facts import read_leak_facts
from necroscope.store.read.reader import Store
from necroscope.store.redact.case import CHANGED, KEPT, redacted
from necroscope.store.redact.neutral_shapes import ShapedNames
from necroscope.vocabulary.case import Case, Wait
from necroscope.vocabulary.case_file import load, save
from necroscope.vocabulary.verdict import Verdict
from stage.cases import CASE, any_case, classes
from stage.everything import fill
from stage.incidents import INCIDENTS, unpacked
from stage.recorded import START_NS

KEY = bytes(32)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def _redacted(case: Case = CASE) -> Case:
    return redacted(case, ShapedNames(KEY))


def test_every_text_is_decided_upon() -> None:
    """A field that is added must be said to be a name or none."""
    for kind in classes():
        texts = {name for name, hint in get_type_hints(kind).items() if _holds_text(hint)}
        assert texts == set(CHANGED.get(kind, {})) | KEPT.get(kind, set()), kind


def _holds_text(hint: Any) -> bool:
    return hint is str or any(_holds_text(one) or isinstance(one, str) for one in get_args(hint))


def test_no_name_gets_through(tmp_path: Path) -> None:
    secrets = ("acme", "3f5c90aa27d1", "Ledger", "sandbox")
    for case, there in ((CASE, True), (_redacted(), False)):
        save(case, tmp_path / "case")
        text = gzip.decompress((tmp_path / "case").read_bytes()).decode().lower()
        assert all((secret.lower() in text) is there for secret in secrets)


def test_what_explains_stays() -> None:
    case = _redacted()
    (starved,) = case.starvations
    suspect, worker = starved.line_up.suspects
    assert suspect.stacks[0] == CASE.starvations[0].line_up.suspects[0].stacks[0]
    assert re.fullmatch(r"function-[g-v]+", suspect.stacks[2].leaf)
    assert worker.name == "kworker/39:1-events"
    assert case.kernel == CASE.kernel
    assert (case.symptom.device, case.symptom.subject, case.symptom.kind) == ("eth0", "eth0", "nic-reset")
    assert re.fullmatch(r"ena eth0: \w+-[g-v]+ saw TX queue 3 stuck", case.symptom.text), case.symptom.text
    assert case.symptom.id != CASE.symptom.id
    assert starved.run == CASE.starvations[0].run
    assert starved.numbers == CASE.starvations[0].numbers


def test_the_same_is_still_the_same() -> None:
    facts = _redacted().leaks
    (unit,), (container,) = facts.units, facts.containers
    of_units, of_containers = facts.zombies.families
    assert unit.control_group == of_units.pattern == f"/system.slice/{unit.name}"
    assert facts.restarts[0].name == unit.name
    assert (unit.restart_policy, unit.wanted_by) == ("always", ("multi-user.target",))
    assert unit.triggered_by == (unit.name.replace(".service", ".timer"),)
    assert of_containers.pattern == "/docker/<id>"
    assert of_containers.newest == (f"/docker/{container.ids[0]}",)
    assert container.cgroup == of_containers.newest[0]
    assert container.engine == "docker"
    assert re.fullmatch(r"/cgroup-[g-v]+/cgroup-[g-v]+/cgroup-[g-v]+-\d", of_containers.pins[0].files[0])


def test_a_process_is_the_same_wherever_it_is_named() -> None:
    waits = (Wait("acme-statsd", 811, 1.0, 5.0, "/x.slice"), Wait("kworker/39:1", 93, 1.0, 5.0, "/a"))
    (starved,) = CASE.starvations
    case = _redacted(replace(CASE, starvations=(replace(starved, waits=waits),), notes=("acme-statsd fell",)))
    name = case.starvations[0].line_up.suspects[0].name
    assert re.fullmatch(r"process-[g-v]+", name)
    assert case.starvations[0].waits[0].name == name
    assert case.notes[0].split()[0].endswith(name.removeprefix("process"))
    # Somebody who gives himself the name of a kernel's thread, but stands in a cgroup.
    assert case.starvations[0].waits[1].name.startswith("process-")


def _blamed(case: Case) -> tuple[Any, ...]:
    found = attribute(case.leaks)
    names = {leak.subject: f"{leak.subject.kind} {number}" for number, leak in enumerate(found.leaks)}
    leaks = [
        (names[leak.subject], leak.number, leak.named, leak.seen, leak.share, leak.strength, leak.one_per_restart)
        for leak in found.leaks
    ]
    blamed = source(found)
    return leaks, names.get(blamed.subject) if blamed is not None else None, found.unowned, found.located


def test_the_same_one_is_to_blame(tmp_path: Path) -> None:
    store = Store(fill(tmp_path / "store").folder)
    recorded = replace(CASE, leaks=read_leak_facts(store, START_NS, (0, START_NS * 2), []))
    for case in (CASE, recorded):
        assert _blamed(case) == _blamed(_redacted(case))
    assert _blamed(CASE)[1] == "unit 0"


def _outcome(verdict: Verdict) -> list[Any]:
    cause = verdict.cause
    return [
        verdict.verdict,
        cause and (cause.kind, cause.subject and cause.subject.kind, cause.cpu, cause.confidence),
        [(one.kind, one.strength) for one in verdict.links],
        [(one.outcome, one.explains) for one in verdict.tested],
        [(one.kind, one.explains, one.confidence) for one in verdict.candidates],
        [one.action for one in verdict.remedies],
    ]


@pytest.mark.parametrize("name", ["seeds-5.15", "moved-memory-leak", "smaps-5.10-v2"])
def test_a_recorded_incident_is_judged_alike(name: str, tmp_path: Path) -> None:
    known = catalogue()
    case = case_of(Store(unpacked(INCIDENTS / f"{name}.ncb", tmp_path / "store")), known=known)
    verdict = judge(case, known)
    assert save(case, tmp_path / "case") < 300_000
    assert load(tmp_path / "case") == case
    assert judge(load(tmp_path / "case"), known) == verdict
    assert _outcome(judge(redacted(case), known)) == _outcome(verdict)
    assert verdict.cause is not None
    assert verdict.cause.subject is not None
    save(redacted(case), tmp_path / "redacted")
    assert verdict.cause.subject.name.encode() in gzip.decompress((tmp_path / "case").read_bytes())
    assert verdict.cause.subject.name.encode() not in gzip.decompress((tmp_path / "redacted").read_bytes())


@settings(max_examples=60, deadline=None)
@given(any_case())
def test_any_case_has_the_same_numbers(case: Case) -> None:
    made = _redacted(case)
    assert _bare(made) == _bare(case)


def _bare(value: Any) -> Any:
    """Without texts, and without ids that are made from texts."""
    if isinstance(value, tuple):
        return tuple(map(_bare, value))
    if dataclasses.is_dataclass(value):
        return [_bare(getattr(value, one.name)) for one in dataclasses.fields(value) if one.name != "id"]
    return None if isinstance(value, str) else value
