"""Are symptoms and starved cores gone?

Any after the change fails. None after it passes only where some would have come: symptoms are rare, so that their rate
is taken from the day before, and that of starved cores from the time just before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from necroscope.clock import iso
from necroscope.diagnose.validate.enough import EXPECTED, expected, longer
from necroscope.quantity import plural, span
from necroscope.vocabulary.conclusions.validation import Answer, Jobs, Measure, Side, ValidationFacts
from necroscope.vocabulary.model import Evidence
from necroscope.vocabulary.verdict import Complaint

_SAME_INCIDENT_NS = 5_000_000_000
_COVERED = 0.8
_TOLD = 3


def symptoms(facts: ValidationFacts, rates: Sequence[Measure], cause_gone: bool = False) -> Answer:
    """The answer. `cause_gone`: what `why` names for them was an accumulation, which neither grows nor is large now."""
    after, before = facts.after, facts.before
    if bad := [*_complaints(facts), *_cores(after), *_worse(rates)]:
        gone_bad = after.symptoms or after.starved
        claim = "symptoms or starved cores go on" if gone_bad else "no symptom, but something else became worse"
        return Answer("symptoms", "fail", claim, tuple(bad))
    if blind := _blind(after):
        return Answer("symptoms", "inconclusive", "whether there were symptoms cannot be told", (), blind)
    if before is None:
        needs = "record before the next change, so that there is something to compare with"
        return Answer("symptoms", "inconclusive", "no symptom after the change; before it, nobody recorded", (), needs)
    episodes, cores = len(incidents(facts.long_before)), len(before.starved)
    evidence = (*_before(facts, episodes, cores), *_watched(after), *_jobs(before.jobs, after.jobs))
    if not episodes and not cores:
        return Answer("symptoms", "pass", "no symptom and no starved core, before or after", evidence)
    foreseen = max(expected(episodes, facts.long_s, after.seconds), expected(cores, before.seconds, after.seconds))
    if foreseen < EXPECTED and cause_gone:
        claim = "none came; they are too rare to tell by waiting, and what they came from is gone"
        return Answer("symptoms", "pass", claim, evidence)
    if foreseen < EXPECTED:
        often = (cores, before.seconds) if cores else (episodes, facts.long_s)
        claim = f"none came, and at the rate of before only {foreseen:.1f} were to be expected"
        return Answer("symptoms", "inconclusive", claim, evidence, longer(*often))
    return Answer("symptoms", "pass", "symptoms and starved cores are gone", evidence)


def incidents(complaints: Sequence[Complaint]) -> list[Complaint]:
    """The first of those that are about one incident: several drivers and watchdogs tell of it within seconds."""
    found: list[Complaint] = []
    last_ns = -_SAME_INCIDENT_NS - 1
    for one in sorted(complaints, key=lambda one: one.at_ns):
        if one.at_ns - last_ns > _SAME_INCIDENT_NS:
            found.append(one)
        last_ns = one.at_ns
    return found


def _complaints(facts: ValidationFacts) -> Iterator[Evidence]:
    known = {one.kind for one in facts.long_before}
    after = incidents(facts.after.symptoms)
    for one in after[:_TOLD]:
        new = "" if not known or one.kind in known else ", a kind that did not come before"
        about = f" of {one.subject}" if one.subject else ""
        yield Evidence(
            f"{one.kind}{about} at {iso(one.at_ns)}{new}", one.source, one.kind, window=(one.at_ns, one.at_ns)
        )
    if len(after) > _TOLD:
        yield Evidence(f"{len(after)} symptoms in all", "events", len(after), "symptoms")


def _cores(side: Side) -> Iterator[Evidence]:
    for run in side.starved[:_TOLD]:
        text = f"core {run.cpu} was held in the kernel for {span(run.seconds)} while somebody waited"
        yield Evidence(f"{text}, until {iso(run.to_ns)}", "cpu", round(run.seconds, 1), "s", run.window)


def _worse(rates: Sequence[Measure]) -> Iterator[Evidence]:
    for one in rates:
        if one.worse:
            text = f"{one.name}: {one.before:.3g} {one.unit} before, {one.after:.3g} after"
            yield Evidence(text, "counters", one.after, one.unit)


def _blind(after: Side) -> str:
    if "kmsg" in after.blind:
        return "the kernel's log could not be read after the change: record as root, or with CAP_SYSLOG"
    if after.covered < _COVERED:
        return f"of the time after the change, the cores' counters tell about {100 * after.covered:.0f} % only"
    return ""


def _before(facts: ValidationFacts, episodes: int, cores: int) -> Iterator[Evidence]:
    text = f"{plural(episodes, 'symptom')} in the {span(facts.long_s)} before the change"
    yield Evidence(text, "events", episodes, "symptoms")
    if cores and facts.before is not None:
        text = f"{plural(cores, 'starved core')} in the {span(facts.before.seconds)} before"
        yield Evidence(text, "cpu", cores, window=facts.before.window)


def _watched(after: Side) -> Iterator[Evidence]:
    text = f"none in {span(after.seconds)} after it, {100 * after.covered:.0f} % of which every core was watched"
    yield Evidence(text, "events, cpu", 0, "symptoms", after.window)


def _jobs(before: Jobs, after: Jobs) -> Iterator[Evidence]:
    if before != Jobs() or after != Jobs():
        text = f"jobs that failed: {before.failed} before, {after.failed} after"
        text += f"; that succeeded: {before.succeeded} before, {after.succeeded} after"
        yield Evidence(text, "marks", after.succeeded, "jobs")
