"""By which mechanism a suspect took the core: hypotheses compete for its samples, and numbers speak for or against.

Of two that the same samples show, the more specific one is the answer; of two that different samples show, the one that
explains more with the better evidence; where both do so about equally well, it may be either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from necroscope.diagnose.hypotheses.catalogue import Catalogue
from necroscope.diagnose.hypotheses.fact_checks import Judged, judge_facts
from necroscope.diagnose.hypotheses.hypothesis import Hypothesis
from necroscope.diagnose.hypotheses.stack_match import Match, common_path, match, share_in
from necroscope.diagnose.priors import Priors
from necroscope.quantity import share
from necroscope.vocabulary.case import Suspect
from necroscope.vocabulary.model import Evidence
from necroscope.vocabulary.verdict import Tested

Facts = Mapping[str, float]
PRESSED = "pressed"
"""By how much the time rose in which somebody on the node waited for a core, if that can only be this core."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A mechanism, its share of the suspect's samples, and how well it is borne out, from 0 to 1. `places` are the
    samples that show it; empty: it is not by its functions that it is known."""

    hypothesis: Hypothesis
    share: float
    functions: tuple[str, ...]
    judged: Judged
    strength: float
    places: frozenset[int] = frozenset()

    @property
    def value(self) -> float:
        """What it explains, by how sure that is."""
        return self.share * self.strength

    @property
    def named(self) -> bool:
        """Whether it says by what the time went."""
        return self.hypothesis.nameless != "kernel"

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What the numbers say for it."""
        return tuple(Evidence(check.says(value), check.fact, round(value, 3)) for check, value in self.judged.confirmed)


@dataclass(frozen=True, slots=True)
class Found:
    """The best mechanism, another one that may be it as well, those that explain less, and those that are ruled out."""

    best: Weighed
    either: Weighed | None = None
    others: tuple[Weighed, ...] = ()
    ruled_out: tuple[Tested, ...] = ()


def mechanism_of(suspect: Suspect, facts: Facts, catalogue: Catalogue, priors: Priors) -> Found | None:
    """The mechanism of a suspect. None where the catalogue has not even a name for what is unknown."""
    ruled_out: list[Tested] = []
    weighed: list[Weighed] = []
    for one in match(suspect.stacks, catalogue.mechanisms, catalogue.see_through):
        judged = judge_facts(one.hypothesis, facts, priors)
        if judged.refuted:
            ruled_out.append(_refuted(one, judged))
        else:
            weighed.append(_weighed(one, judged, priors))
    fitting = [one for one in weighed if not _beside_user_code(one, suspect, priors)]
    unopposed = [one for one in fitting if one.judged.confirmed or not one.judged.failed]
    compete = [one for one in fitting if one.strength >= priors.mechanism_carries]
    compete = compete or [one for one in unopposed if _plausible(one, priors)]
    best = _most_specific(compete, unopposed, suspect, priors) or _storm(suspect, facts, catalogue, priors)
    if best is None:
        compete = unopposed or [one for one in fitting if one.share >= priors.mechanism_weak_share]
        best = _most_specific(compete, (), suspect, priors) or _nameless(suspect, facts, catalogue, priors)
    if best is None:
        return None
    others = tuple(sorted((one for one in weighed if one is not best), key=lambda one: -one.value))
    return Found(best, _either(best, compete, suspect, priors), others, tuple(ruled_out))


def _plausible(one: Weighed, priors: Priors) -> bool:
    """Whether it is more than a name: a number confirms it, or most samples show it."""
    return bool(one.judged.confirmed) or one.share >= priors.mechanism_weak_share


def _most_specific(
    compete: Sequence[Weighed], unopposed: Sequence[Weighed], suspect: Suspect, priors: Priors
) -> Weighed | None:
    """The one that explains most; or, of what is a part of it, the most specific that no number speaks against."""
    best = max(compete, key=lambda one: (one.value, one.hypothesis.priority), default=None)
    if best is None:
        return None
    for one in sorted((*compete, *unopposed), key=lambda each: (-each.hypothesis.priority, -each.value)):
        more_specific = one.hypothesis.priority > best.hypothesis.priority
        if more_specific and one.share >= priors.mechanism_part * best.share and _inside(one, best, suspect, priors):
            return one
    return best


def _inside(one: Weighed, other: Weighed, suspect: Suspect, priors: Priors) -> bool:
    """Whether hardly any of one's samples are not the other's."""
    return 1 - within(one, other, suspect) <= priors.mechanism_outside


def within(one: Weighed, other: Weighed, suspect: Suspect) -> float:
    """The part of one's samples that are the other's as well."""
    own = sum(suspect.stacks[place].weight for place in one.places)
    both = sum(suspect.stacks[place].weight for place in one.places & other.places)
    return both / own if own > 0 else 0.0


def _either(best: Weighed, compete: Sequence[Weighed], suspect: Suspect, priors: Priors) -> Weighed | None:
    """Another one that explains other samples about as well."""
    apart = (
        one
        for one in compete
        if one is not best
        and one.hypothesis.id not in best.hypothesis.same
        and best.hypothesis.id not in one.hypothesis.same
        and one.value >= priors.mechanism_alike * best.value
        and within(one, best, suspect) <= priors.mechanism_outside
    )
    return max(apart, key=lambda one: one.value, default=None)


def _beside_user_code(one: Weighed, suspect: Suspect, priors: Priors) -> bool:
    """Whether what happens in the kernel is the smaller part of a suspect who mostly computes."""
    computes = 1 - suspect.kernel >= priors.mechanism_user
    return one.hypothesis.needs_kernel_time and computes and one.share < priors.mechanism_weak_share


def _weighed(one: Match, judged: Judged, priors: Priors) -> Weighed:
    by_stacks = min(1.0, priors.mechanism_base + priors.mechanism_by_share * one.share)
    strength = _strength(by_stacks, one.hypothesis, judged, priors)
    return Weighed(one.hypothesis, one.share, one.functions, judged, strength, one.places)


def _strength(by_stacks: float, one: Hypothesis, judged: Judged, priors: Priors) -> float:
    """Samples that show it, and numbers that confirm it. Numbers that are known and confirm nothing count against it;
    what holds on any node, or in quiet times as well, says nothing."""
    if judged.confirmed:
        return min(1.0, by_stacks + priors.mechanism_confirmed * len(judged.confirmed))
    unknown = any(check in judged.unknown and not check.usual for check in one.confirm)
    if judged.failed and not unknown:
        return priors.mechanism_unconfirmed * by_stacks
    if unknown or any(not check.usual for check, _ in judged.usual):
        return priors.mechanism_unknown * by_stacks
    return priors.mechanism_unasked * by_stacks


def _storm(suspect: Suspect, facts: Facts, catalogue: Catalogue, priors: Priors) -> Weighed | None:
    """Many processes that each live for milliseconds: their own code takes as long as the kernel to start and end
    them, so that the samples alone show no mechanism; their number does. Workers that are forked, start no program and
    compute are no such storm: what they compute takes the time, not their start."""
    for one in catalogue.mechanisms:
        storm = one.storm
        if storm is None or suspect.processes < storm.processes:
            continue
        if suspect.seconds > storm.seconds_each * suspect.processes:
            continue
        if suspect.kernel < storm.kernel and share_in(suspect.stacks, storm.loading) < storm.loading_share:
            continue
        judged = judge_facts(one, facts, priors)
        if not judged.refuted:
            strength = priors.mechanism_storm if judged.confirmed else priors.mechanism_storm_unconfirmed
            return Weighed(one, suspect.kernel, (), judged, strength)
    return None


def _nameless(suspect: Suspect, facts: Facts, catalogue: Catalogue, priors: Priors) -> Weighed | None:
    """A program that computes, or kernel work that no entry names."""
    computes = 1 - suspect.kernel >= priors.mechanism_user and not suspect.context
    entry = catalogue.nameless("user" if computes else "kernel")
    if entry is None:
        return None
    judged = judge_facts(entry, facts, priors)
    strength = _hog(suspect, facts, priors) if computes else _unnamed(suspect, facts, priors)
    if judged.refuted:
        strength = min(strength, priors.nobody)
    functions = () if computes else common_path(suspect.stacks, priors.unnamed_path)
    return Weighed(entry, 1 - suspect.kernel if computes else suspect.kernel, functions, judged, strength)


def _hog(suspect: Suspect, facts: Facts, priors: Priors) -> float:
    """A program that computes is what a core is for, and the kernel interrupts it at any time. It is to blame when it
    had the core for itself, for long, and somebody else waited for most of that; where nobody waited, or nobody knows
    whether somebody did, it is not named."""
    strength = priors.hog_base
    strength += priors.hog_alone if suspect.share >= priors.hog_alone_share else 0.0
    strength += priors.hog_long if facts.get("starved_s", 0.0) >= priors.hog_long_s else 0.0
    if facts.get("victim_waited", 0.0) >= priors.hog_waited_share:
        return min(priors.hog_most, strength + priors.hog_waited)
    if _pressed(facts, priors):
        return min(priors.hog_pressed_most, strength + priors.hog_pressed)
    return min(priors.nobody, strength)


def _pressed(facts: Facts, priors: Priors) -> bool:
    """Whether somebody on the node waited for a core, and it can only have been this one. Somebody who is known to have
    had this core as he wanted speaks against it."""
    if facts.get("victim_waited", 1.0) < priors.score_hardly:
        return False
    return facts.get(PRESSED, 0.0) >= priors.hog_pressure


def _unnamed(suspect: Suspect, facts: Facts, priors: Priors) -> float:
    """Work in the kernel is not to blame where nobody is known to have waited, however odd it is; interrupts keep
    everybody waiting."""
    waited = facts.get("victim_waited")
    if suspect.context or (waited is not None and waited >= priors.hog_waited_share):
        return priors.unnamed_waited
    if _pressed(facts, priors):
        return priors.unnamed_pressed
    return priors.nobody


def _refuted(one: Match, judged: Judged) -> Tested:
    check, value = judged.refuted[0]
    evidence = (
        Evidence(check.says(value), check.fact, round(value, 3)),
        Evidence(f"{share(one.share)} of the samples look like it ({', '.join(one.functions[:3])})", "samples"),
    )
    return Tested(one.hypothesis.id, "ruled-out", check.says(value), evidence, 0.0)
