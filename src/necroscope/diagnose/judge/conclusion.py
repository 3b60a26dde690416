"""What is concluded of the best starvation: by what, from whom, whom to act on, and how sure each of it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from necroscope.diagnose.hypotheses.catalogue import Catalogue
from necroscope.diagnose.hypotheses.hypothesis import Grows, Hypothesis
from necroscope.diagnose.judge.candidates import Candidate, constant, core_strength, scaled, who_strength
from necroscope.diagnose.judge.mechanism import PRESSED, Found, Weighed, mechanism_of
from necroscope.diagnose.judge.recurrence import Recurrence, product, recurrence
from necroscope.diagnose.judge.rivals import Trial, claim, compared, strongest, tested
from necroscope.diagnose.judge.suspect_facts import QUOTA_STOPPED, THROTTLED, Facts, facts_of, most_risen
from necroscope.diagnose.judge.suspects import unusual
from necroscope.diagnose.judge.work_origin import Orderer, orderer_of
from necroscope.diagnose.leak import attribute
from necroscope.diagnose.leak import source as to_blame
from necroscope.diagnose.leak.attribution import Leak
from necroscope.diagnose.leak.identity import Owner, identities, whose
from necroscope.diagnose.priors import PRIORS, Priors
from necroscope.vocabulary.case import Case, Starvation, Suspect
from necroscope.vocabulary.model import Subject
from necroscope.vocabulary.verdict import Tested

_NOBODY = Suspect("", "", "", (), 0.0, 0.0, None, 1.0, 0.0, processes=0)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Everything that the verdict is made of.

    `rival` is a rival that explains more than the mechanism and is the cause itself; `instead_of` is what would be
    concluded without it, and `uncompared` says that nothing is known of it in quiet times. The strengths are those of
    the links; `doubt_of_subject` says why a unit may be none.
    """

    candidate: Candidate
    suspect: Suspect
    facts: Facts
    found: Found
    rivals: tuple[Tested, ...]
    again: Recurrence
    rival: Hypothesis | None = None
    rival_test: Tested | None = None
    instead_of: Conclusion | None = None
    uncompared: bool = False
    leak: Leak | None = None
    orderer: Orderer | None = None
    subject: Subject | None = None
    doubt_of_subject: str = ""
    core: float = 1.0
    who: float = 1.0
    mechanism: float = 1.0
    whom: float = 1.0
    beside: float = 1.0
    priors: Priors = PRIORS

    @property
    def starvation(self) -> Starvation:
        """The starvation that it is about."""
        return self.candidate.starvation

    @property
    def best(self) -> Weighed:
        """The mechanism."""
        return self.found.best

    @property
    def kind(self) -> str:
        """The id of the cause."""
        return self.rival.id if self.rival is not None else self.best.hypothesis.id

    @property
    def cpu(self) -> int | None:
        """The core that it is about; what a quota stops is stopped on any."""
        return None if self.rival is not None and self.rival.noticed_only else self.candidate.run.cpu

    @property
    def grows(self) -> Grows:
        """What is left behind, where the mechanism walks over that."""
        return "" if self.rival is not None else self.best.hypothesis.grows

    @property
    def whole(self) -> bool:
        """Whether both are known: by what, and whom to act on. That a rival explains most does not tie it to the
        symptom: a quota that stops somebody need not have stopped who complains."""
        return self.rival is None and self.best.named and self.found.either is None and self.subject is not None

    @property
    def alone(self) -> float:
        """Strength of the fact that other symptoms came without it."""
        return self.priors.again_alone if self.again.looked >= 2 and not self.again.same else 1.0

    @property
    def without_subject(self) -> float:
        """How sure all of it is but whom to act on and what stands beside it."""
        return product((self.core, self.who, self.mechanism, self.alone))

    @property
    def confidence(self) -> float:
        """How sure the verdict is: its links multiplied."""
        sure = min(self.priors.most, product((self.without_subject, self.whom, self.beside)))
        return round(sure if self.whole else min(sure, self.priors.most_partial), 3)


def conclude(
    case: Case, best: Candidate, tried: Sequence[Candidate], catalogue: Catalogue, priors: Priors
) -> Conclusion | None:
    """Conclude what the best candidate means; None where there is nobody, or no name for what took the time."""
    suspect = best.suspect
    if suspect is None:
        return None
    facts = facts_of(best.starvation, suspect, catalogue) | _pressed(case, best, tried)
    found = mechanism_of(suspect, facts, catalogue, priors)
    if found is None:
        return None
    one = Conclusion(best, suspect, facts, found, (), recurrence(case, best.run, suspect, priors), priors=priors)
    trial = Trial(
        case, best.starvation, suspect, facts, priors, found.best.hypothesis.id, frozenset(found.best.functions)
    )
    one = replace(_strengths(one, case, tried), rivals=tested(trial, catalogue))
    one = _beside_rivals(_with_either_subject(one, case))
    return _without_doubtful_leaker(_rival_first(one, trial, tried, catalogue) or one)


def _pressed(case: Case, best: Candidate, tried: Sequence[Candidate]) -> Facts:
    """How much longer than in quiet times somebody on the node waited for a core, less what quotas stopped, where only
    this core was starved then, or the complaint names it."""
    numbers = best.starvation.numbers
    if "pressure_cpu" not in numbers or "pressure_cpu_before" not in numbers:
        return {}
    also = (one for one in tried if one.run.cpu != best.run.cpu and one.run.overlaps(best.run.window))
    if any(also) and (case.named is None or case.named.cpu != best.run.cpu):
        return {}
    stopped = numbers.get(THROTTLED, 0.0) - numbers.get(f"{THROTTLED}_before", 0.0)
    return {PRESSED: numbers["pressure_cpu"] - numbers["pressure_cpu_before"] - max(0.0, stopped)}


def conclude_rival(case: Case, tried: Sequence[Candidate], catalogue: Catalogue, priors: Priors) -> Conclusion | None:
    """Where nobody stands out on any starved core: a rival whose own numbers explain the time of one; the surest."""
    made = (
        conclude(case, one if one.suspect is not None else replace(one, suspect=_NOBODY), (), catalogue, priors)
        for one in tried
    )
    return max(
        (one for one in made if one is not None and one.rival is not None),
        key=lambda one: one.confidence,
        default=None,
    )


def _strengths(one: Conclusion, case: Case, tried: Sequence[Candidate]) -> Conclusion:
    best, suspect, priors = one.candidate, one.suspect, one.priors
    beside = best.score * _beside(best, suspect, one.best.hypothesis, priors)
    core = _core(case, best, tried, beside, priors)
    who = who_strength(suspect, best.line_up, best.starvation, case.recorded, priors)
    mechanism = min(one.best.strength, priors.mechanism_weak_or if one.found.either is not None else priors.most)
    if product((core, who, mechanism)) >= priors.again_believed * priors.floor:
        core, who, mechanism = (one.again.raised(each, priors) for each in (core, who, mechanism))
    return replace(one, core=core, who=who, mechanism=mechanism)


def _core(case: Case, best: Candidate, tried: Sequence[Candidate], beside: float, priors: Priors) -> float:
    """How sure it is that this core's starvation made the symptom; `beside` is how well another one on it suits."""
    rival = max((each.score for each in tried if each.run is not best.run and _another(each, best)), default=0.0)
    return core_strength(best.run, case.symptom, case.named, max(rival, beside), best.score, priors)


def _beside_rivals(one: Conclusion) -> Conclusion:
    """With what rivals that are not ruled out take from it."""
    standing = strongest(one.rivals, one.priors)
    beside = 1 - one.priors.rival_takes * claim(standing, one.priors) if standing is not None else 1.0
    return replace(one, beside=beside)


def _another(one: Candidate, best: Candidate) -> bool:
    """Whether another starved core was somebody else's."""
    a, b = one.suspect, best.suspect
    return a is not None and b is not None and (a.name, a.cgroup) != (b.name, b.cgroup)


def _beside(best: Candidate, suspect: Suspect, mechanism: Hypothesis, priors: Priors) -> float:
    """How much another one took of the same core in the same time, beyond what is usual, beside what the suspect took.

    Whom the suspect works for, or who works for him, is no other one: interrupts have their senders, storms many names.
    """
    if suspect.context or suspect.excess <= 0 or mechanism.ordered_by is not None:
        return 0.0
    took = (
        one.excess
        for one in best.line_up.suspects
        if not one.context
        and one.before is not None
        and unusual(one, priors)
        and (one.name, one.cgroup) != (suspect.name, suspect.cgroup)
        and not set(one.pids) & set(suspect.pids)
    )
    return min(1.0, max(took, default=0.0) / suspect.excess)


# -- a rival that is the cause itself --------------------------------------------------------------------------


def explained_by(one: Weighed, candidate: Candidate, suspect: Suspect, priors: Priors) -> float:
    """How much of the lost time a mechanism explains: of what the suspect took beyond quiet times, what shows it. Time
    that could not be sampled with interrupts off is the suspect's as well; what the hypervisor took is not."""
    took = scaled(max(0.0, suspect.excess), candidate.starvation, priors)
    part = 1.0 if not one.functions else one.share
    return min(1.0, took) * min(1.0, part)


def _rival_first(one: Conclusion, trial: Trial, tried: Sequence[Candidate], catalogue: Catalogue) -> Conclusion | None:
    """With a rival as the cause that explains more of the lost time than the mechanism; None where there is none.

    What is known of the suspect bears on it no more: neither its baseline, nor what it did before other symptoms.
    """
    priors, case = one.priors, trial.case
    causes = {each.id: each for each in catalogue.rivals if each.cause}
    standing = [each for each in one.rivals if each.outcome == "not-ruled-out" and each.hypothesis in causes]
    first = max(standing, key=lambda each: claim(each, priors), default=None)
    if first is None or claim(first, priors) <= explained_by(one.best, one.candidate, one.suspect, priors):
        return None
    rival = causes[first.hypothesis]
    owner = _stopped(one, case) if rival.fact == QUOTA_STOPPED else None
    sure = rival_strength(claim(first, priors), priors)
    uncompared = not compared(trial, rival)
    if uncompared:
        never = constant(one.starvation, case.recorded, priors)
        sure = min(sure, priors.nobody) if never else sure * priors.who_guess
    return _beside_rivals(
        replace(
            one,
            rival=rival,
            rival_test=first,
            instead_of=one,
            uncompared=uncompared,
            rivals=tested(replace(trial, cause=rival.id), catalogue),
            again=Recurrence(),
            leak=None,
            orderer=None,
            subject=owner.subject if owner is not None else None,
            doubt_of_subject=owner.doubt if owner is not None else "",
            core=_core(case, one.candidate, tried, 0.0, priors),
            who=1.0,
            mechanism=sure,
            whom=priors.subject_ordered if owner is not None else priors.subject_nobody,
        )
    )


def rival_strength(explains: float, priors: Priors) -> float:
    """How sure it is that a rival is the cause, by how much of the lost time it explains."""
    return priors.rival_cause * (priors.rival_base + (1 - priors.rival_base) * explains)


def _stopped(one: Conclusion, case: Case) -> Owner | None:
    """Whose cgroup the quota stopped most."""
    quota = most_risen(one.starvation)
    if quota is None:
        return None
    return identities(case.leaks).actor(quota.cgroup) or Owner(Subject("cgroup", quota.cgroup))


# -- whom to act on --------------------------------------------------------------------------------------------


def _with_either_subject(one: Conclusion, case: Case) -> Conclusion:
    """With whom to act on; where it may be either of two mechanisms, only if it is the same one for both."""
    found, either = _with_subject(one, case), one.found.either
    if either is None:
        return found
    other = _with_subject(replace(one, found=replace(one.found, best=either)), case)
    if other.subject == found.subject:
        return replace(found, whom=min(found.whom, other.whom))
    return replace(one, whom=one.priors.subject_nobody)


def _with_subject(one: Conclusion, case: Case) -> Conclusion:
    """With whom to act on, and how sure that is. What was left behind is the leaker's, not the walker's."""
    priors, suspect, mechanism = one.priors, one.suspect, one.best.hypothesis
    known = identities(case.leaks)
    if mechanism.grows:
        leak = to_blame(attribute(case.leaks, mechanism.grows, priors), priors)
        if leak is None:
            return replace(one, whom=priors.subject_nobody)
        return replace(one, leak=leak, subject=leak.subject, doubt_of_subject=leak.doubt, whom=leak.strength)
    if mechanism.ordered_by is not None:
        orderer = orderer_of(mechanism.ordered_by, one.starvation, suspect, one.facts, priors)
        if orderer is not None:
            sender = whose(known, orderer.name, (orderer.cgroup,))
            return _of(replace(one, orderer=orderer), sender, priors.subject_ordered)
    if suspect.context:
        return replace(one, whom=priors.subject_nobody)
    if mechanism.ordered_by is not None and mechanism.ordered_by.own_cgroup and suspect.processes > 1:
        # Whose children they are was not seen; a unit or container that holds them all is to blame in any case.
        holder = next((owner for path in _cgroups(suspect) if (owner := known.actor(path)) is not None), None)
        return _of(one, holder, priors.subject_ordered)
    return _of(one, whose(known, suspect.name, _cgroups(suspect)), priors.subject_sure)


def _of(one: Conclusion, owner: Owner | None, sure: float) -> Conclusion:
    if owner is None:
        return replace(one, whom=sure)
    return replace(one, subject=owner.subject, doubt_of_subject=owner.doubt, whom=sure)


def _cgroups(suspect: Suspect) -> tuple[str, ...]:
    return tuple(dict.fromkeys((suspect.cgroup, *suspect.cgroups)))


def _without_doubtful_leaker(one: Conclusion) -> Conclusion:
    """Where only the leaker is doubtful, nobody is named for it, and the rest stands."""
    rest, priors = one.without_subject * one.beside, one.priors
    if one.grows and rest * one.whom < priors.floor <= rest * priors.subject_nobody:
        return replace(one, subject=None, leak=None, doubt_of_subject="", whom=priors.subject_nobody)
    return one
