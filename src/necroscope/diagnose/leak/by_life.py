"""What was seen to be left behind, joined to owners: by the path, by as many restarts, by who made the directory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from necroscope.diagnose.leak.alignment import agree_in_span
from necroscope.diagnose.leak.identity import Identities, Owner, long_id, made_for_others
from necroscope.diagnose.priors import PRIORS, Priors
from necroscope.vocabulary.kernel_threads import is_the_kernels
from necroscope.vocabulary.leak_facts import LeakFacts, Left, Maker, What
from necroscope.vocabulary.model import Subject


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen to be left behind and is one owner's."""

    owner: Owner
    left: tuple[Left, ...]

    @property
    def count(self) -> int:
        """How many."""
        return sum(one.count for one in self.left)

    @property
    def moments_ns(self) -> list[int]:
        """When, as far as moments were kept."""
        return sorted(at for one in self.left for at in one.moments_ns)


def by_life(facts: LeakFacts, what: What, known: Identities, priors: Priors = PRIORS) -> dict[Subject, Seen]:
    """Everyone who was seen to leave some behind."""
    lives = _Lives(facts, facts.of(what).left, known, priors)
    found: dict[Subject, tuple[Owner, list[Left]]] = {}
    for one in lives.left:
        if (owner := lives.owner(one)) is not None:
            found.setdefault(owner.subject, (owner, []))[1].append(one)
    return {subject: Seen(owner, tuple(left)) for subject, (owner, left) in found.items()}


class _Lives:
    """What was left, with what must be counted over all of it before one can be judged."""

    def __init__(self, facts: LeakFacts, left: Sequence[Left], known: Identities, priors: Priors) -> None:
        self.left, self._known, self._priors = left, known, priors
        self._facts = facts
        self._makers = {maker.pid: maker for maker in facts.makers}
        self._counted = self._by_count()
        self._units = self._units_by_count()

    def owner(self, one: Left) -> Owner | None:
        """Whose it was: by its path, where that tells; by as many restarts, of a container whose id nobody knows; else
        whoever made it, unless it is called like what managers make for others: the manager does not leak it."""
        owner = self._known.of(one.path)
        if owner is not None and not owner.ordered:
            return owner
        if owner is not None and owner.subject in self._units:
            return owner
        parent = one.path.rpartition("/")[0]
        if (same := self._counted.get(one.path) or self._counted.get(parent)) is not None:
            return same
        if (short_id := long_id(one.path)) is not None:
            return Owner(Subject("container", short_id))
        maker = self._makers.get(one.maker) if one.maker is not None else None
        if maker is None or maker.pid == 1 or made_for_others(one.path):
            return None
        return owner_of_process(maker, self._known)

    def _by_count(self) -> dict[str, Owner]:
        """Containers by what nothing but a count tells: as many in one place as one container has restarts. What one
        process made that was seen to is its own, however often others restarted meanwhile."""
        restarts = {one.name: one.times for one in self._facts.restarts if one.kind == "container"}
        one_made = self._made_by_one()
        places: Counter[str] = Counter()
        for one in self.left:
            if not one_made or long_id(one.path) is not None:
                places[one.path] += one.count
                places[one.path.rpartition("/")[0]] += one.count
        found: dict[str, Owner] = {}
        for place, number in places.items():
            alike = [name for name, times in restarts.items() if agree_in_span(number, times, self._priors)]
            if len(alike) == 1 and place not in ("", "/"):
                found[place] = Owner(Subject("container", alike[0]))
        return found

    def _made_by_one(self) -> bool:
        makers: Counter[int] = Counter()
        for one in self.left:
            if one.maker is not None and one.maker in self._makers:
                makers[one.maker] += one.count
        most = makers.most_common(1)
        return bool(most) and most[0][1] >= self._priors.leak_half * sum(one.count for one in self.left)

    def _units_by_count(self) -> frozenset[Subject]:
        """Units that restarted as often as something was left behind below them."""
        restarts = {one.name: max(one.times, len(one.exact_ns)) for one in self._facts.restarts if one.kind == "unit"}
        below: Counter[Subject] = Counter()
        for one in self.left:
            owner = self._known.unit_of(one.path)
            if owner is not None and owner.ordered:
                below[owner.subject] += one.count
        return frozenset(
            subject
            for subject, number in below.items()
            if agree_in_span(number, restarts.get(subject.name, 0), self._priors)
        )


def owner_of_process(maker: Maker, known: Identities) -> Owner:
    """The unit or container that a process runs in, else the process itself; a thread of the kernel is the kernel's."""
    found = known.actor(maker.cgroup)
    if found is not None:
        return found
    kind: Mapping[bool, Subject] = {
        True: Subject("kernel", maker.name),
        False: Subject("process", maker.name),
    }
    return Owner(kind[is_the_kernels(maker.name, (maker.cgroup,))])


def makers_of(left: Iterable[Left], makers: Mapping[int, Maker]) -> Counter[int]:
    """How many each known process made."""
    found: Counter[int] = Counter()
    for one in left:
        if one.maker is not None and one.maker in makers:
            found[one.maker] += one.count
    return found
