"""How zombies were called: the commonest names of all, where these were counted, and the youngest one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from necroscope.query.leaks.zombies import nearest
from necroscope.query.rows import Row
from necroscope.vocabulary.cgroup_family import pattern
from necroscope.vocabulary.leak_facts import NAMED_KINDS, NAMES_MOST, Below, LeakFamily, Named, Pins

_FAMILIES_MOST = 100
_NEWEST_MOST = 32


@dataclass(frozen=True, slots=True)
class Counted:
    """The last look at the names of all zombies: the commonest paths, and patterns of paths."""

    paths: Mapping[str, int] = field(default_factory=dict)
    families: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Names:
    """Families of zombies. `whole`: they are those of all; else of the youngest, `number` of them. `pins` are what
    keeps the youngest."""

    families: tuple[LeakFamily, ...]
    number: int
    whole: bool
    pins: tuple[Pins, ...]


def families_of(rows: Sequence[Row], counted: Counted, below: Sequence[Below]) -> Names:
    """Put together what was counted and what was seen one by one; the latter comes oldest first."""
    newest = _newest(rows)
    whole = bool(counted.paths or counted.families)
    found = _whole(counted, newest, below) if whole else _of_rows(rows, newest, below)
    kinds = Counter(row["pinned_by"] for row in rows if row["pinned_by"])
    pins = tuple(Pins(kind, number) for kind, number in kinds.most_common())
    return Names(tuple(found), len(rows), whole, pins)


def _newest(rows: Sequence[Row]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in rows[-NAMES_MOST:][::-1]:
        mine = found.setdefault(row["family"] or pattern(row["path"]), [])
        if len(mine) < _NEWEST_MOST:
            mine.append(row["path"])
    return found


def _whole(counted: Counted, newest: Mapping[str, list[str]], below: Sequence[Below]) -> list[LeakFamily]:
    paths: dict[str, list[Named]] = {}
    for path, number in counted.paths.items():
        paths.setdefault(pattern(path), []).append(Named(path, number))
    sums = {shape: sum(one.count for one in mine) for shape, mine in paths.items()}
    counts = {shape: max(counted.families.get(shape, 0), sums.get(shape, 0)) for shape in (*counted.families, *sums)}
    # Too few for the commonest: what is known of them is that they were seen.
    counts |= {shape: len(mine) for shape, mine in newest.items() if shape not in counts}
    return _families(counts, paths, newest, below)


def _of_rows(rows: Sequence[Row], newest: Mapping[str, list[str]], below: Sequence[Below]) -> list[LeakFamily]:
    counts: Counter[str] = Counter()
    each: dict[str, Counter[str]] = {}
    for row in rows:
        shape = row["family"] or pattern(row["path"])
        counts[shape] += 1
        each.setdefault(shape, Counter())[row["path"]] += 1
    paths = {
        shape: [Named(path, number) for path, number in mine.most_common(NAMED_KINDS) if number > 1]
        for shape, mine in each.items()
    }
    return _families(counts, paths, newest, below)


def _families(
    counts: Mapping[str, int],
    paths: Mapping[str, list[Named]],
    newest: Mapping[str, list[str]],
    below: Sequence[Below],
) -> list[LeakFamily]:
    parents = [one.parent for one in below]
    largest = sorted(counts, key=lambda shape: (-counts[shape], shape))[:_FAMILIES_MOST]
    return [
        LeakFamily(
            shape,
            nearest(parents, shape),
            counts[shape],
            tuple(paths.get(shape, ())),
            tuple(newest.get(shape, ())),
            tuple(newest.get(shape, ())[:3]),
        )
        for shape in largest
    ]
