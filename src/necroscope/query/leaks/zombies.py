"""Counts of zombies over time: how many, where, and how they grew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from necroscope.query.rows import Row
from necroscope.query.series import series_of
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.leak_facts import LOOKS_MOST, Below, GrowthBelow

_PARENTS_MOST = 200
_GROWTH_MOST = 16
_FEW_LOOKS = 3


def below_of(rows: Sequence[Row]) -> tuple[tuple[Below, ...], int | None]:
    """The last look at where they are, and how many that are; of many places the largest."""
    if not rows:
        return (), None
    last_ns = rows[-1]["at_ns"]
    found = {row["parent"]: int(row["zombies"]) for row in rows if row["at_ns"] == last_ns}
    largest = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:_PARENTS_MOST]
    return tuple(Below(parent, number) for parent, number in largest), sum(found.values())


def growth_of(rows: Iterable[Row]) -> tuple[GrowthBelow, ...]:
    """First and last counts below the places that have most."""
    first: dict[str, Row] = {}
    last: dict[str, Row] = {}
    for row in rows:
        first.setdefault(row["parent"], row)
        last[row["parent"]] = row
    largest = sorted(last, key=lambda parent: (-last[parent]["zombies"], parent))[:_GROWTH_MOST]
    return tuple(
        GrowthBelow(
            parent,
            first[parent]["at_ns"],
            int(first[parent]["zombies"]),
            last[parent]["at_ns"],
            int(last[parent]["zombies"]),
        )
        for parent in largest
    )


def looks_of(rows: Iterable[Row], snapshot: Snapshot, span: Window) -> tuple[tuple[int, int], ...]:
    """How many in all over time. Looks at their number come more often than looks at where they are: where those are
    few, these are taken."""
    totals: dict[int, int] = {}
    for row in rows:
        totals[row["at_ns"]] = totals.get(row["at_ns"], 0) + int(row["zombies"])
    if len(totals) < _FEW_LOOKS:
        counted = _counted(snapshot, span)
        totals = counted if len(counted) > len(totals) else totals
    looks = sorted(totals.items())
    if len(looks) > LOOKS_MOST:
        looks = [looks[place * (len(looks) - 1) // (LOOKS_MOST - 1)] for place in range(LOOKS_MOST)]
    return tuple(looks)


def _counted(snapshot: Snapshot, span: Window) -> dict[int, int]:
    series = [one for one in series_of(snapshot, ("memcg_zombies",), span).get("memcg_zombies", []) if not one.labels]
    return {at: int(value) for one in series for at, value in zip(one.at_ns.tolist(), one.value, strict=True)}


def nearest(parents: Iterable[str], path: str) -> str:
    """The innermost of the parents that a path is below; the root where none is."""
    above = [one for one in parents if f"{path}/".startswith(f"{one.rstrip('/')}/")]
    return max(above, key=len, default="/")
