"""Starved cores that may have made a symptom, each with who was on it, the best first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from necroscope.clock import NS
from necroscope.diagnose.judge.suspects import main_suspect, own_start, unusual
from necroscope.diagnose.priors import Priors
from necroscope.vocabulary.case import LineUp, NamedCore, RecorderStart, Run, Starvation, Suspect, Wait
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.verdict import Complaint

_LEAST_SAMPLED = 0.05


@dataclass(frozen=True, slots=True)
class Candidate:
    """A starvation, who was on the core, and how well both suit the symptom, from 0 to 1."""

    starvation: Starvation
    suspect: Suspect | None
    score: float

    @property
    def run(self) -> Run:
        """When the core was starved."""
        return self.starvation.run

    @property
    def line_up(self) -> LineUp:
        """Everybody who was on it."""
        return self.starvation.line_up


def candidates(
    symptom: Complaint,
    named: NamedCore | None,
    starvations: Iterable[Starvation],
    starts: Sequence[RecorderStart],
    priors: Priors,
) -> list[Candidate]:
    """Those that may have made the symptom, the best first; a recorder's own start is none."""
    found = []
    for one in starvations:
        suspect = main_suspect(one.line_up, priors)
        if not own_start(one.run, suspect, starts):
            found.append(Candidate(one, suspect, _score(one, suspect, symptom.at_ns, named, priors)))
    found = _by_waits(found, priors)
    return _nearest_first(sorted(found, key=lambda one: -one.score), symptom.at_ns, priors)


def _by_waits(found: list[Candidate], priors: Priors) -> list[Candidate]:
    """Where somebody is known to have waited for one starved core, those of which nobody knows that suit less."""
    known = [waited_share(one.starvation.waits, one.run, one.suspect) if one.suspect else None for one in found]
    if not any(waited is not None and waited >= priors.score_waits for waited in known):
        return found
    return [
        one if waited is not None else replace(one, score=one.score * priors.score_unwaited)
        for one, waited in zip(found, known, strict=True)
    ]


def _nearest_first(found: list[Candidate], at_ns: int, priors: Priors) -> list[Candidate]:
    """Where the same one took the same core several times, about as clearly, the last time before the symptom leads."""
    if not found or found[0].suspect is None:
        return found
    best, name = found[0], found[0].suspect.name
    alike = [
        one
        for one in found
        if one.run.cpu == best.run.cpu
        and one.score >= priors.score_alike * best.score
        and one.suspect is not None
        and one.suspect.name == name
    ]
    before = [one for one in alike if one.run.from_ns < at_ns]
    first = max(before or alike, key=lambda one: one.run.to_ns)
    return [first, *(one for one in found if one is not first)]


def _score(one: Starvation, suspect: Suspect | None, at_ns: int, named: NamedCore | None, priors: Priors) -> float:
    """How well a starvation suits: by who was on the core, what it did, when, and for how long."""
    if suspect is None:
        return 0.0
    run, sampled = one.run, one.line_up.sampled
    took = suspect.excess / max(sampled, 0.05) if sampled < priors.score_sampled else suspect.excess
    score = max(0.0, min(1.0, took)) * (priors.score_user + (1 - priors.score_user) * run.kernel)
    score *= nearness(run, at_ns, priors) * min(1.0, run.seconds / priors.score_whole_s)
    if suspect.before is None:
        score *= priors.score_guess
    elif not unusual(suspect, priors):
        score *= priors.score_usual
    if named is not None and run.cpu != named.cpu:
        score *= priors.score_not_said if named.said else priors.score_not_routed
    if one.whole.seconds > priors.score_all_along_s:
        score *= priors.score_all_along
    if (waited := waited_share(one.waits, run, suspect)) is not None and waited < priors.score_hardly:
        score *= priors.score_nobody_waits
    return max(0.0, min(score, 1.0))


def represented_share(one: Starvation, priors: Priors) -> float:
    """How much of the core's time samples stand for. Time that could not be sampled with interrupts off went like the
    rest; what the hypervisor took, and what was idle, did not."""
    sampled = _sampled(one.line_up)
    return sampled if sampled >= priors.score_sampled else max(sampled, one.run.busy - one.run.share("steal"))


def _sampled(line_up: LineUp) -> float:
    return min(1.0, max(line_up.sampled, _LEAST_SAMPLED))


def scaled(share: float, one: Starvation, priors: Priors) -> float:
    """A share of what was sampled as one of all the time that samples stand for."""
    return share / _sampled(one.line_up) * represented_share(one, priors)


def nearness(run: Run, at_ns: int, priors: Priors) -> float:
    """1 for a starvation that goes on at the symptom or ended some seconds before it, less the longer ago it was."""
    late_s = (at_ns - run.to_ns) / NS - soon_s(run, priors)
    return 1.0 if late_s <= 0 else math.exp(-late_s / priors.core_late_s)


def soon_s(run: Run, priors: Priors) -> float:
    """Until how long before the symptom a starvation of such a length may have ended and be as near as can be."""
    return min(priors.core_soon_s, priors.core_soon_least_s + priors.core_soon_times * run.seconds)


def waited_share(waits: Iterable[Wait], run: Run, but: Suspect) -> float | None:
    """The longest that anybody `but` one waited for the core, as a share of the time that is known of him; None: of
    nobody, for long enough, is anything known."""
    least = min(1.0, 0.5 * run.seconds)
    known = [one for one in waits if not is_own(one, but) and one.known_s >= least]
    return max((min(1.0, one.seconds / one.known_s) for one in known if one.known_s > 0), default=None)


def is_own(wait: Wait, suspect: Suspect) -> bool:
    """Whether it is the suspect itself that waited; of a cgroup whose processes took turns, whoever is in it."""
    turns = suspect.processes > len(suspect.pids) or len(suspect.pids) > 1
    inside = turns and wait.cgroup == suspect.cgroup and suspect.cgroup not in ("", "/")
    return wait.name == suspect.name or wait.pid in suspect.pids or inside


def core_strength(
    run: Run, symptom: Complaint, named: NamedCore | None, rival_score: float, own_score: float, priors: Priors
) -> float:
    """How sure it is that this core's starvation made the symptom: when it was, and whether another one suits too."""
    strength = priors.core_sure * nearness(run, symptom.at_ns, priors)
    if named is not None and named.cpu != run.cpu:
        strength *= priors.core_not_said if named.said else priors.core_not_routed
    if own_score > 0:
        strength *= 1 - priors.core_rival * math.pow(min(1.0, rival_score / own_score), priors.core_rival_power)
    if not symptom.asked and run.from_ns >= symptom.at_ns:
        strength *= priors.core_after
    return strength


def who_strength(suspect: Suspect, line_up: LineUp, one: Starvation, recorded: Window, priors: Priors) -> float:
    """How sure it is that the suspect had the core: by its share of what was sampled, and by what is usual."""
    run = one.run
    part = min(1.0, suspect.share / _sampled(line_up))
    strength = min(priors.who_most, priors.who_base + priors.who_by_share * part)
    if constant(one, recorded, priors):
        strength = min(strength, priors.nobody)
    elif suspect.before is None or line_up.blocks == 0:
        strength *= priors.who_guess + priors.who_guess_kernel * run.kernel
    elif not unusual(suspect, priors):
        strength *= priors.who_usual
    if line_up.sampled < 0.5:
        strength *= priors.who_few_samples
    return strength * (priors.who_short if run.seconds < priors.who_short_s else 1.0)


def constant(one: Starvation, recorded: Window, priors: Priors) -> bool:
    """Whether it was so from the first recorded second on, with no quiet time to compare with."""
    first = one.whole.from_ns <= recorded[0] + priors.who_constant_s * NS
    return first and one.line_up.blocks == 0
