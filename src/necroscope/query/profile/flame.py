"""The layout of flame graphs, computed once: boxes on a width of 1, for whoever draws them.

A differential one compares a window with a baseline: widths are the mean of both, so that what is new and what has
disappeared are both there; each box has its change in core-seconds per second and how surprising that is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.query.profile import odds
from necroscope.query.profile.tree import Tree

F64s = NDArray[np.float64]
I64s = NDArray[np.int64]
NARROWEST = 0.0005
"""Boxes with a smaller share of the width are not drawn."""
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


@dataclass(frozen=True, slots=True)
class Layout:
    """The boxes of a graph as columns, in preorder: node of the tree, place of the parent among the boxes, left and
    right edge as shares of the width, samples, cores, cores before (None without a baseline), and chance."""

    tree: Tree
    node: I64s
    parent: I64s
    x0: F64s
    x1: F64s
    samples: I64s
    cores: F64s
    before: F64s | None
    chance: F64s
    seconds: float

    def __len__(self) -> int:
        return int(self.node.size)

    @property
    def depth(self) -> I64s:
        """How many rows from the outermost each box is."""
        found: I64s = self.tree.depth[self.node]
        return found


def layout(
    tree: Tree,
    seconds: F64s,
    core_seconds: F64s,
    per_weight: float,
    narrowest: float = NARROWEST,
    most: int | None = None,
) -> Layout:
    """The graph of the first window; with more windows, against the others.

    `seconds` is how long each window is, `core_seconds` the time of all cores in it. Of more than `most` boxes, the
    narrowest are left out.
    """
    cores = cores_of(tree, seconds, per_weight)
    compared = cores.shape[1] > 1
    before = (tree.weight[:, 1:].sum(axis=1) * per_weight / max(float(seconds[1:].sum()), 1e-9)) if compared else None
    chance = odds.surprise(tree.samples, core_seconds)
    width = cores[:, 0] if before is None else (cores[:, 0] + before) / 2
    if most is not None and width.size > most:
        narrowest = max(narrowest, float(np.partition(width, -most)[-most]) / max(float(width[0]), 1e-12))
    shown = _shown(width, narrowest, _kept(tree, chance) if compared else None)
    left, whole = _left(tree, width, shown), max(float(width[0]), 1e-12)
    return Layout(
        tree,
        shown,
        np.searchsorted(shown, np.maximum(tree.parent[shown], 0)),
        left / whole,
        (left + width[shown]) / whole,
        tree.samples[shown, 0],
        cores[shown, 0],
        None if before is None else before[shown],
        chance[shown],
        float(seconds[0]),
    )


def flame(tree: Tree, seconds: F64s, core_seconds: F64s, per_weight: float, narrowest: float = NARROWEST) -> Flame:
    """The same, box by box."""
    made = layout(tree, seconds, core_seconds, per_weight, narrowest)
    columns = (
        made.depth,
        made.x0,
        made.x1,
        made.samples,
        made.cores,
        np.full(len(made), None) if made.before is None else made.before,
        made.chance,
    )
    rows = zip(made.node.tolist(), *(column.tolist() for column in columns), strict=True)
    boxes = tuple(Box(node, tree.names[node], tree.modules[node], *row) for node, *row in rows)
    total = int(tree.samples[0, 0])
    return Flame(boxes, float(made.cores[0]), total, made.seconds, made.before is not None, len(tree) - len(boxes))


def _kept(tree: Tree, chance: F64s) -> NDArray[np.bool_]:
    """Nodes that differ by more than chance, and all above them: shown however narrow they are."""
    sure = np.concatenate([[0], np.cumsum(chance < SURE)])
    kept: NDArray[np.bool_] = sure[tree.end] > sure[:-1]
    return kept


def _shown(width: F64s, narrowest: float, kept: NDArray[np.bool_] | None) -> I64s:
    """The nodes that are wide enough or kept, in preorder. What is above one of them is wider, or kept too."""
    wide = width >= float(width[0]) * narrowest
    shown = (width > 0) & (wide if kept is None else wide | kept)
    shown[0] = True
    return np.flatnonzero(shown)


def _left(tree: Tree, width: F64s, shown: I64s) -> F64s:
    """Where nodes begin: beside their elder siblings, whose subtrees lie between them and their parent."""
    own = width - np.bincount(tree.parent[1:], width[1:], width.size)
    before = np.concatenate([[0.0], np.cumsum(own)])
    place = np.searchsorted(shown, tree.parent[shown])
    offset = before[shown] - before[tree.parent[shown] + 1]
    left = [0.0]
    for above, beside in zip(place[1:].tolist(), offset[1:].tolist(), strict=True):
        left.append(left[above] + beside)
    return np.array(left)
