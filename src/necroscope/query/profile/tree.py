"""Stacks as a tree of calls, with sums for several windows at once. The layout of every flame graph is made here.

Nodes are in preorder, children by name: the nodes below node `n` are `n + 1` up to `end[n]`, so that sums over
subtrees are differences of running sums.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.query.numbering import numbered
from necroscope.query.profile.prefixes import below, coded, lengths, shape, wide_lengths
from necroscope.query.samples.sample_counts import SampleCounts
from necroscope.sense.perf.samples import UNKNOWN

I64s = NDArray[np.int64]
F64s = NDArray[np.float64]

# Code without frame pointers makes towers of frames that have no name and all say the same: one of them is enough.
_NAMELESS = re.compile(rf"({re.escape(UNKNOWN)}\x1f[^\x1e]*\x1e)\1+")
_TWICE = f"\x1e{UNKNOWN}\x1f"


@dataclass(frozen=True, slots=True)
class Tree:
    """Node 0 is everything. `samples` and `weight` are (nodes, windows) and include what lies below a node."""

    names: tuple[str, ...]
    modules: tuple[str, ...]
    parent: I64s
    depth: I64s
    end: I64s
    samples: I64s
    weight: F64s
    own: I64s

    def __len__(self) -> int:
        return len(self.names)

    def path(self, node: int) -> tuple[str, ...]:
        """Names from the outermost frame to the node."""
        found = []
        while node > 0:
            found.append(self.names[node])
            node = int(self.parent[node])
        return tuple(found[::-1])


def tree(counts: SampleCounts, root: str = "all", by_task: bool = True, narrowest: float = 0.0) -> Tree:
    """The tree of counted samples; with `by_task`, thread names are the outermost frames.

    A run of the same frame without a name is one node.

    Of a single window, nodes with less than `narrowest` of the weight have nothing below them.
    """
    texts = [_NAMELESS.sub(r"\1", text) if _TWICE in text else text for text in counts.stacks]
    stacks = coded(texts)
    order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    comms = sorted({task.comm for task in counts.tasks}) if by_task else [""]
    number = {comm: place for place, comm in enumerate(comms)}
    comm_of = np.array([number[task.comm] if by_task else 0 for task in counts.tasks] or [0], np.int64)
    keys, place = numbered(comm_of[counts.task] * max(1, order.size) + rank[counts.stack])
    samples, weight = counts.by(place, keys.size)
    chosen = order[keys % max(1, order.size)]
    outer = keys // max(1, order.size) + len(stacks.frames)
    around = outer if by_task else None
    if narrowest > 0 and len(counts.windows) == 1:
        length = wide_lengths(around, stacks, chosen, weight[:, 0], narrowest * float(weight.sum()))
    else:
        length = lengths(around, stacks, chosen)
    found = shape(below(around, stacks, chosen, length), length)
    frames = [*stacks.frames, *(f"{comm}\x1f" for comm in comms)]
    nodes, parts = found.depth.size, [frame.partition("\x1f") for frame in frames]
    own_samples, own_weight = _placed(found.leaf, samples, nodes), _placed(found.leaf, weight, nodes)
    return Tree(
        (root, *_named([part[0] for part in parts], found.frame)),
        ("", *_named([part[2] for part in parts], found.frame)),
        found.parent,
        found.depth,
        found.end,
        _below(own_samples, found.end).astype(np.int64),
        _below(own_weight, found.end),
        own_samples.astype(np.int64),
    )


def _named(names: list[str], place: I64s) -> list[str]:
    found: list[str] = np.array([*names, ""], object)[place].tolist()
    return found


def _placed(node_of: I64s, values: NDArray[np.int64] | F64s, nodes: int) -> F64s:
    """What each node has of its own, for each window."""
    windows = values.shape[1] if values.ndim == 2 else 1
    columns = [np.bincount(node_of, values[:, window], nodes) for window in range(windows)]
    return np.stack(columns, axis=1).astype(np.float64) if columns else np.zeros((nodes, 0))


def _below(own: F64s, end: I64s) -> F64s:
    """Sums over each node and everything below it."""
    running = np.concatenate([np.zeros((1, own.shape[1])), np.cumsum(own, axis=0)])
    below: F64s = running[end] - running[:-1]
    return below
