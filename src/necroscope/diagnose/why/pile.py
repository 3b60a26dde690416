"""Where the zombies are: which part of all of them was called as somebody's leaked cgroups were, or stands where theirs
stood. Who leaks now need not be who left the pile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from necroscope.diagnose.why.ledger_of_leaks import Leaks
from necroscope.query.lives import Life

_ENOUGH = 200


@dataclass(frozen=True, slots=True)
class Pile:
    """All zombies at the last look: those that were called alike, by their path; the others by nearest live parent."""

    total: int
    called: Mapping[str, int]
    below: Mapping[str, int]

    def share(self, lives: Sequence[Life]) -> float:
        """The part of all zombies that was called as these were, or has no such name and stands where these stood. Of
        many, the last ones tell enough."""
        paths = {life.path for life in lives[-_ENOUGH:]}
        parents = {_nearest(self.below, path) for path in paths if path not in self.called}
        number = sum(self.called.get(path, 0) for path in paths) + sum(self.below.get(one, 0) for one in parents)
        return min(1.0, number / self.total)


def pile_of(leaks: Leaks) -> Pile | None:
    """The pile; None where nobody counted it."""
    if not leaks.zombies:
        return None
    last_ns = leaks.zombies[-1]["at_ns"]
    below = {row["parent"]: int(row["zombies"]) for row in leaks.zombies if row["at_ns"] == last_ns}
    total = sum(below.values())
    for path, number in leaks.called.items():
        if (parent := _nearest(below, path)) in below:
            below[parent] = max(0, below[parent] - number)
    return Pile(total, leaks.called, below) if total else None


def _nearest(parents: Iterable[str], path: str) -> str:
    above = [one for one in parents if f"{path}/".startswith(f"{one.rstrip('/')}/")]
    return max(above, key=len, default="")
