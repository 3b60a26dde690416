"""Where all that was left behind is: which part of it was called as somebody's was, or stands where his stood. Who
leaks now need not be who left what has accumulated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from necroscope.vocabulary.cgroup_family import pattern
from necroscope.vocabulary.leak_facts import Left, Leftovers

_ENOUGH = 200


@dataclass(frozen=True, slots=True)
class Accumulation:
    """All that there is at the last look: those that were called alike, by their path; those whose names have a
    pattern in common, without these; the others by nearest live parent."""

    total: int
    called: Mapping[str, int]
    alike: Mapping[str, int]
    below: Mapping[str, int]

    def share(self, left: Sequence[Left]) -> tuple[float, bool]:
        """The part of all that was called as these were, or has no such name and stands where these stood; and whether
        names alone tell it. Of many, the last ones tell enough. A pattern of ids is shared by whoever is called so."""
        latest = sorted(left, key=lambda one: max(one.moments_ns, default=0))
        paths = {one.path for one in latest[-_ENOUGH:]}
        called = {path for path in paths if path in self.called}
        shapes = {shape for path in paths - called if (shape := pattern(path)) in self.alike}
        places = {_nearest(self.below, path) for path in paths - called if pattern(path) not in self.alike}
        number = sum(self.called[path] for path in called) + sum(self.alike[shape] for shape in shapes)
        number += sum(self.below.get(place, 0) for place in places)
        return min(1.0, number / self.total), not places and not any("<id>" in shape for shape in shapes)


def accumulation(left: Leftovers) -> Accumulation | None:
    """The accumulation; None where nobody counted where it is."""
    below = {one.parent: one.count for one in left.below}
    total = max(left.total or 0, sum(below.values()))
    if not below or not total:
        return None
    called: dict[str, int] = {}
    alike: dict[str, int] = {}
    for family in left.families if left.whole else ():
        exact = {one.path: one.count for one in family.repeated} if "<" in family.pattern else {}
        called |= exact or ({family.pattern: family.count} if "<" not in family.pattern else {})
        if "<" in family.pattern and (rest := family.count - sum(exact.values())) > 0:
            alike[family.pattern] = rest
    for path, number in (*called.items(), *alike.items()):
        if (parent := _nearest(below, path)) in below:
            below[parent] = max(0, below[parent] - number)
    return Accumulation(total, called, alike, below)


def _nearest(parents: Iterable[str], path: str) -> str:
    above = [one for one in parents if f"{path}/".startswith(f"{one.rstrip('/')}/")]
    return max(above, key=len, default="")
