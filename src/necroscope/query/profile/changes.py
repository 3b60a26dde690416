"""What has changed between two windows, each change named once: where it happens, not at each of its callers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from necroscope.query.profile.flame import Box, Flame

# A callee that has this much of its caller's change is where the change comes from.
_SAME = 0.9


@dataclass(frozen=True, slots=True)
class Step:
    """A function on a path, called by itself so many `times` in a row."""

    name: str
    module: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Change:
    """A significant change at a box. `path` is from the outermost function to it; so many `callers` above it changed
    alike."""

    box: Box
    path: tuple[Step, ...]
    callers: int


def changes(flame: Flame) -> tuple[Change, ...]:
    """All significant changes, the largest first. Each significant box is one of them, or a caller of one."""
    boxes = sorted(flame.boxes, key=lambda box: box.node)
    above = _parents(boxes)
    found, passed = [], _passed_on(boxes, above)
    callers = Counter(passed.values())
    for place, box in enumerate(boxes):
        if box.significant and box.change and place not in passed:
            found.append(Change(box, _path(boxes, above, place), callers[place]))
    return tuple(sorted(found, key=lambda change: -abs(change.box.change)))


def _parents(boxes: Sequence[Box]) -> list[int]:
    """The place of each box's caller, -1 for the outermost. Boxes in preorder: the last one that was less deep."""
    above: list[int] = []
    open_places: list[int] = []
    for place, box in enumerate(boxes):
        while open_places and boxes[open_places[-1]].depth >= box.depth:
            open_places.pop()
        above.append(open_places[-1] if open_places else -1)
        open_places.append(place)
    return above


def _passed_on(boxes: Sequence[Box], above: Sequence[int]) -> dict[int, int]:
    """Boxes whose change is that of one callee: the place of the innermost such one."""
    heir: dict[int, int] = {}
    for place, box in enumerate(boxes):
        caller = above[place]
        if (
            caller >= 0
            and box.significant
            and abs(box.change) > abs(boxes[heir[caller]].change if caller in heir else 0)
        ):
            heir[caller] = place
    passed: dict[int, int] = {}
    for place, box in enumerate(boxes):
        if place in passed or not box.significant or not box.change:
            continue
        chain, end = [], place
        while end in heir and _SAME <= boxes[heir[end]].change / box.change <= 1 / _SAME:
            chain.append(end)
            end = heir[end]
        passed |= dict.fromkeys(chain, end)
    return passed


def _path(boxes: Sequence[Box], above: Sequence[int], place: int) -> tuple[Step, ...]:
    found = []
    while above[place] >= 0:
        found.append((boxes[place].name, boxes[place].module))
        place = above[place]
    functions = found[::-1] or [(boxes[place].name, boxes[place].module)]
    return tuple(Step(*function, sum(1 for _ in same)) for function, same in groupby(functions))
