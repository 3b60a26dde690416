"""The one attributor of leaks, for `scan` and `why`: facts in, leaks out, each with how well it is shown."""

from __future__ import annotations

from collections.abc import Mapping

from necroscope.diagnose.leak import witnesses
from necroscope.diagnose.leak.accumulation import Accumulation, accumulation
from necroscope.diagnose.leak.alignment import agree, align
from necroscope.diagnose.leak.attribution import Attribution, Leak
from necroscope.diagnose.leak.by_life import Seen, by_life
from necroscope.diagnose.leak.by_name import ByName, Claim, by_name
from necroscope.diagnose.leak.identity import Identities, Owner, identities
from necroscope.diagnose.leak.process import process_of
from necroscope.diagnose.leak.strength import strength
from necroscope.diagnose.priors import PRIORS, Priors
from necroscope.vocabulary.leak_facts import LeakContainer, LeakFacts, LeakUnit, What
from necroscope.vocabulary.model import Subject


def attribute(facts: LeakFacts, what: What = "zombies", priors: Priors = PRIORS) -> Attribution:
    """Who leaks what, the largest leak first; each that was left behind has one owner at most."""
    known = identities(facts)
    named = by_name(facts.of(what), known, priors)
    seen = by_life(facts, what, known, priors)
    judged = _Judged(facts, what, known, named, seen, priors)
    leaks = sorted(judged.leaks(), key=lambda leak: (-leak.number, leak.subject.kind, leak.subject.name))
    left = facts.of(what)
    return Attribution(
        what,
        tuple(leaks),
        left.total,
        named.unowned,
        named.families,
        named.below,
        (left.total or 0) if left.whole else left.named,
        left.whole,
        left.left_total,
        judged.located,
    )


class _Judged:
    """Claims by name and by life, put together by subject."""

    def __init__(
        self,
        facts: LeakFacts,
        what: What,
        known: Identities,
        named: ByName,
        seen: Mapping[Subject, Seen],
        priors: Priors,
    ) -> None:
        self._facts, self._what, self._known, self._priors = facts, what, known, priors
        self._named = {claim.owner.subject: claim for claim in named.claims}
        self._seen = seen
        self._all: Accumulation | None = accumulation(facts.of(what)) if what == "zombies" else None

    @property
    def located(self) -> bool:
        """Whether it is known where what has accumulated is."""
        return self._all is not None

    def leaks(self) -> list[Leak]:
        """One for each subject."""
        return [self._leak(subject) for subject in dict.fromkeys((*self._named, *self._seen))]

    def _leak(self, subject: Subject) -> Leak:
        claim, seen = self._named.get(subject), self._seen.get(subject)
        owner = _owner(claim, seen)
        unit = owner.unit or self._unit(subject)
        container = owner.container or self._container(subject)
        restarts = next((one for one in self._facts.restarts if (one.kind, one.name) == _key(subject)), None)
        exact = restarts.exact_ns if restarts is not None else ()
        span = self._facts.span
        aligned = align(seen.moments_ns, exact, span) if seen is not None and exact and span is not None else None
        restarted = _restarted(unit, container)
        count = claim.number if claim is not None else 0
        left = self._facts.of(self._what)
        part, by_names = self._share(claim, seen)
        leak = Leak(
            what=self._what,
            subject=subject,
            number=max(count, seen.count if seen is not None else 0),
            named=count,
            seen=seen.count if seen is not None else 0,
            share=part,
            exact_share=by_names,
            strength=0.0,
            witnesses=(),
            evidence=(),
            firm=(claim.firm if left.whole else count) if claim is not None else 0,
            below=claim.below if claim is not None else 0,
            doubt=owner.doubt,
            process=process_of(seen.left, self._facts.makers) if seen is not None else None,
            unit=unit,
            container=container,
            restarts=restarts,
            restarted=restarted,
            one_per_restart=bool(left.whole and agree(count, restarted, self._priors)),
            alignment=aligned,
            families=claim.families if claim is not None else (),
        )
        return witnesses.with_witnesses(leak, self._facts, strength(leak, left.left_total, self._priors), self._priors)

    def _share(self, claim: Claim | None, seen: Seen | None) -> tuple[float | None, bool]:
        """The part of all that there is, and whether names give it."""
        left = self._facts.of(self._what)
        if self._all is not None and seen is not None and seen.count >= self._priors.leak_least_seen:
            return self._all.share(seen.left)
        if claim is not None and left.whole and left.total:
            return min(1.0, claim.number / left.total), True
        return None, False

    def _unit(self, subject: Subject) -> LeakUnit | None:
        if subject.kind != "unit":
            return None
        return next((unit for unit in self._facts.units if unit.name == subject.name), None)

    def _container(self, subject: Subject) -> LeakContainer | None:
        if subject.kind != "container":
            return None
        return next((one for one in self._facts.containers if one.name == subject.name), None)


def _owner(claim: Claim | None, seen: Seen | None) -> Owner:
    """Of both, the one that is known better."""
    owners: list[Owner] = [one.owner for one in (claim, seen) if one is not None]
    return min(owners, key=lambda one: bool(one.doubt))


def _key(subject: Subject) -> tuple[str, str]:
    return subject.kind, subject.name


def _restarted(unit: LeakUnit | None, container: LeakContainer | None) -> int | None:
    if unit is not None:
        return unit.restarts
    if container is not None:
        return max(container.restarts or 0, container.deaths or 0) or None
    return None
