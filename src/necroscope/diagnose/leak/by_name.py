"""What was left behind, joined to owners by its names: each to one owner at most.

- a unit owns what bore its cgroup's very path: it gets a new cgroup under the same path at every start;
- a container owns what bears its id, or an id that the engine remembers to have died under its name;
- what stood below a unit's cgroup was made by something that the unit runs. It is the unit's, unless it is called as
  managers call what they make for others: then only where restarts are the same number.

The rest stays with the cgroup above it, unowned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from necroscope.diagnose.leak.alignment import agree
from necroscope.diagnose.leak.identity import Identities, Owner
from necroscope.diagnose.priors import PRIORS, Priors
from necroscope.vocabulary.leak_facts import NAMED_KINDS, NAMED_LEAST, Below, LeakContainer, LeakFamily, Leftovers
from necroscope.vocabulary.model import Subject


@dataclass(frozen=True, slots=True)
class Claim:
    """What one owner left behind, by names: `number` in all; `firm`, without single ones and rare names, which not
    every source of names tells; `below`: where it stood below the owner's cgroup, not in its place."""

    owner: Owner
    number: int
    firm: int
    below: int
    families: tuple[LeakFamily, ...]


@dataclass(frozen=True, slots=True)
class ByName:
    """The claims, the largest first, and what nobody owns."""

    claims: tuple[Claim, ...]
    families: tuple[LeakFamily, ...]
    below: tuple[Below, ...]
    unowned: int


@dataclass(frozen=True, slots=True)
class _Share:
    """Of one family, what one owner has of it."""

    owner: Owner
    family: int
    count: int
    firm: int


def by_name(left: Leftovers, known: Identities, priors: Priors = PRIORS) -> ByName:
    """Join what was left behind to its owners."""
    firm = _firm_paths(left)
    shares = [share for index, family in enumerate(left.families) for share in _of_family(index, family, known, firm)]
    shares = _without_what_others_ordered(shares, left.whole, priors)
    remaining = [family.count for family in left.families]
    found: dict[Subject, list[_Share]] = {}
    for share in shares:
        taken = min(share.count, remaining[share.family])
        if taken:
            remaining[share.family] -= taken
            found.setdefault(share.owner.subject, []).append(replace(share, count=taken, firm=min(taken, share.firm)))
    claims = [_claim(mine, left.families) for mine in found.values()]
    owned = sum(claim.number for claim in claims)
    rest = tuple(replace(one, count=n) for one, n in zip(left.families, remaining, strict=True) if n)
    return ByName(
        tuple(sorted(claims, key=lambda one: (-one.number, one.owner.subject.kind, one.owner.subject.name))),
        tuple(sorted(rest, key=lambda family: -family.count)),
        _below_without(left, remaining) if owned else left.below,
        max(0, (left.total or 0) - owned) if left.whole else left.total or 0,
    )


def _of_family(index: int, family: LeakFamily, known: Identities, firm: frozenset[str]) -> Iterator[_Share]:
    """Exact paths first, then the ids that single ones bear, then what stands below a unit as a whole."""
    taken: Counter[Subject] = Counter()
    owners: dict[Subject, Owner] = {}
    surely: Counter[Subject] = Counter()
    for path, count in _exact(family):
        if (owner := known.of(path)) is not None:
            owners.setdefault(owner.subject, owner)
            taken[owner.subject] += count
            surely[owner.subject] += count if path in firm else 0
    for subject, (owner, count) in _by_ids(family, known).items():
        owners.setdefault(subject, owner)
        taken[subject] = max(taken[subject], count)
    whole = known.unit_of(family.pattern)
    rest = family.count - sum(taken.values())
    if whole is not None and whole.below and "<" not in whole.subject.name and rest > 0:
        owners[whole.subject] = whole
        taken[whole.subject] += rest
        surely[whole.subject] = family.count if family.pattern in firm else surely[whole.subject]
    for subject, count in taken.items():
        yield _Share(owners[subject], index, count, min(count, surely[subject]))


def _exact(family: LeakFamily) -> Iterable[tuple[str, int]]:
    if "<" not in family.pattern:
        return ((family.pattern, family.count),)
    return ((one.path, one.count) for one in family.repeated)


def _by_ids(family: LeakFamily, known: Identities) -> dict[Subject, tuple[Owner, int]]:
    """Containers whose ids the newest bear, one for each."""
    found: dict[Subject, tuple[Owner, int]] = {}
    for path in family.newest:
        container = known.container_of(path)
        if container is not None:
            subject = Subject("container", container.name)
            owner, count = found.get(subject, (Owner(subject, container=container), 0))
            found[subject] = owner, count + 1
    return found


def newest_owners(families: Sequence[LeakFamily], known: Identities) -> Iterator[tuple[LeakContainer, LeakFamily, int]]:
    """Containers whose ids the newest of the first family bear, and how many do."""
    for family in families[:1]:
        for owner, count in _by_ids(family, known).values():
            if owner.container is not None:
                yield owner.container, family, count


def _firm_paths(left: Leftovers) -> frozenset[str]:
    """Paths and patterns that every source of whole counts tells: of the commonest, those that are not rare."""
    if not left.whole:
        return frozenset()
    paths = {path: count for family in left.families for path, count in _exact(family) if count >= NAMED_LEAST}
    patterns = {family.pattern: family.count for family in left.families if family.count >= NAMED_LEAST}
    return frozenset((*_commonest(paths), *_commonest(patterns)))


def _commonest(counts: dict[str, int]) -> list[str]:
    return sorted(counts, key=lambda one: (-counts[one], one))[:NAMED_KINDS]


def _without_what_others_ordered(shares: list[_Share], whole: bool, priors: Priors) -> list[_Share]:
    """Without what stood below a unit under names that managers give to what they make for others, unless the unit
    restarted as often."""
    of_unit: Counter[Subject] = Counter()
    for share in shares:
        if share.owner.below:
            of_unit[share.owner.subject] += share.count

    def is_its(share: _Share) -> bool:
        unit, number = share.owner.unit, of_unit[share.owner.subject]
        return not share.owner.ordered or (whole and unit is not None and agree(number, unit.restarts, priors))

    return [share for share in shares if is_its(share)]


def _claim(shares: list[_Share], families: Sequence[LeakFamily]) -> Claim:
    best = min(shares, key=lambda share: (bool(share.owner.doubt), bool(share.owner.below)))
    return Claim(
        best.owner,
        sum(share.count for share in shares),
        sum(share.firm for share in shares),
        sum(share.count for share in shares if share.owner.below),
        tuple(families[share.family] for share in shares),
    )


def _below_without(left: Leftovers, remaining: Sequence[int]) -> tuple[Below, ...]:
    """Parents without what is owned. A family that spans several parents is counted at the one above them all."""
    counts: Counter[str] = Counter()
    for family, number in zip(left.families, remaining, strict=True):
        counts[family.parent] += number
    if sum(family.count for family in left.families) < (left.total or 0):
        counts = Counter({one.parent: one.count for one in left.below})
        for family, number in zip(left.families, remaining, strict=True):
            counts[family.parent] -= family.count - number
    rows = [Below(path, number) for path, number in counts.items() if number > 0]
    return tuple(sorted(rows, key=lambda row: (-row.count, row.parent)))
