"""Lives of cgroups that were left behind, put together by path and maker, and bounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from necroscope.query.cgroup_lifetimes import Life
from necroscope.vocabulary.cgroup_family import pattern
from necroscope.vocabulary.leak_facts import LEFT_MOST, LIVES_MOST, Left, Maker, What

_Key = tuple[str, int | None]
_UNITS = (".service", ".scope", ".slice")


def left_of(lives: Sequence[Life], what: What, makers: Iterable[Maker]) -> tuple[tuple[Left, ...], int]:
    """What was left, and how many in all. The latest keep their paths and moments; of older ones the path gives way
    to its pattern, and the maker is kept where it is known."""
    known = {maker.pid for maker in makers}
    moments: dict[_Key, list[int]] = {}
    counts: dict[_Key, int] = {}
    shapes: dict[_Key, str] = {}
    kept = 0
    for life in sorted(lives, key=lambda one: -_moment(one, what)):
        key = life.path, life.maker
        if key not in counts and len(moments) >= LEFT_MOST:
            key = _summed(life, known, counts, shapes)
        counts[key] = counts.get(key, 0) + 1
        if kept < LIVES_MOST and (key in moments or len(moments) < LEFT_MOST):
            moments.setdefault(key, []).append(_moment(life, what))
            kept += 1
    found = tuple(Left(*key, number, tuple(sorted(moments.get(key, ())))) for key, number in counts.items())
    return found, len(lives)


def _moment(life: Life, what: What) -> int:
    return (life.removed_ns if what == "zombies" else life.made_ns) or life.made_ns or 0


def _summed(life: Life, known: set[int], counts: dict[_Key, int], shapes: dict[_Key, str]) -> _Key:
    """By pattern. What one process made in one place is taken to be called alike, unless it is a unit's."""
    maker = life.maker if life.maker in known else None
    place = (life.path if life.path.endswith(_UNITS) else life.path.rpartition("/")[0]), maker
    shape = shapes.get(place)
    if shape is None:
        shape = shapes[place] = pattern(life.path) if len(shapes) < LEFT_MOST else ""
    return (shape, maker) if (shape, maker) in counts or len(counts) < 2 * LEFT_MOST else ("", maker)
