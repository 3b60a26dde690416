"""The layout of flame graphs, computed once: boxes on a width of 1, for whoever draws them.

A differential one compares a window with a baseline: widths are the mean of both, so that what is new and what has
disappeared are both there; each box has its change in core-seconds per second and how surprising that is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.query import odds
from necroscope.query.tree import Tree

F64s = NDArray[np.float64]
SURE = 0.01
"""A change that is less likely by chance, all boxes considered, counts as significant."""


@dataclass(frozen=True, slots=True)
class Box:
    """One function in one place of the graph: from `x0` to `x1` of the width, `depth` rows from the outermost.

    `cores` is how many cores it took on average, callees included; `before` the same in the baseline. `chance` is the
    probability of such a difference by chance, corrected for the number of boxes.
    """

    node: int
    name: str
    module: str
    depth: int
    x0: float
    x1: float
    samples: int
    cores: float
    before: float | None = None
    chance: float = 1.0

    @property
    def change(self) -> float:
        """Cores more than in the baseline."""
        return self.cores - self.before if self.before is not None else 0.0

    @property
    def significant(self) -> bool:
        """Whether the change is hardly chance."""
        return self.chance < SURE


@dataclass(frozen=True, slots=True)
class Flame:
    """Boxes from the outermost row on; `cores` is the width of the whole graph, `hidden` boxes were too narrow."""

    boxes: tuple[Box, ...]
    cores: float
    samples: int
    seconds: float
    differential: bool
    hidden: int

    @property
    def rows(self) -> int:
        """How many rows it is high."""
        return 1 + max((box.depth for box in self.boxes), default=0)


def cores_of(tree: Tree, seconds: F64s, per_weight: float) -> F64s:
    """How many cores each node took in each window: `per_weight` core-seconds stand behind one unit of weight."""
    found: F64s = tree.weight * per_weight / np.maximum(seconds, 1e-9)
    return found


def flame(tree: Tree, seconds: F64s, core_seconds: F64s, per_weight: float, narrowest: float = 0.0005) -> Flame:
    """The graph of the first window; with more windows, against the others.

    `seconds` is how long each window is, `core_seconds` the time of all cores in it.
    """
    cores = cores_of(tree, seconds, per_weight)
    compared = cores.shape[1] > 1
    before = (tree.weight[:, 1:].sum(axis=1) * per_weight / max(float(seconds[1:].sum()), 1e-9)) if compared else None
    chance = odds.surprise(tree.samples, core_seconds)
    width = cores[:, 0] if before is None else (cores[:, 0] + before) / 2
    shown, left = _placed(tree, width, narrowest, _kept(tree, chance) if compared else None)
    whole = max(float(width[0]), 1e-12)
    boxes = tuple(
        Box(
            node,
            tree.names[node],
            tree.modules[node],
            int(tree.depth[node]),
            left[node] / whole,
            (left[node] + float(width[node])) / whole,
            int(tree.samples[node, 0]),
            float(cores[node, 0]),
            None if before is None else float(before[node]),
            float(chance[node]),
        )
        for node in shown
    )
    total = int(tree.samples[0, 0])
    return Flame(boxes, float(cores[0, 0]), total, float(seconds[0]), compared, len(tree) - len(shown))


def _kept(tree: Tree, chance: F64s) -> NDArray[np.bool_]:
    """Nodes that differ by more than chance, and all above them: shown however narrow they are."""
    sure = np.concatenate([[0], np.cumsum(chance < SURE)])
    kept: NDArray[np.bool_] = sure[tree.end] > sure[:-1]
    return kept


def _placed(
    tree: Tree, width: F64s, narrowest: float, kept: NDArray[np.bool_] | None
) -> tuple[list[int], dict[int, float]]:
    """The nodes that are wide enough or kept, in preorder, and where each begins: beside its elder siblings."""
    wide = width >= float(width[0]) * narrowest
    narrow = ((width <= 0) | ~(wide if kept is None else wide | kept)).tolist()
    widths, parents, ends = width.tolist(), tree.parent.tolist(), tree.end.tolist()
    left: dict[int, float] = {0: 0.0}
    used: dict[int, float] = {0: 0.0}
    shown, node = [0], 1
    while node < len(widths):
        above = parents[node]
        if narrow[node]:
            used[above] += widths[node]
            node = ends[node]
            continue
        left[node] = left[above] + used[above]
        used[above] += widths[node]
        used[node] = 0.0
        shown.append(node)
        node += 1
    return shown, left
