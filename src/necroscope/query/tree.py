"""Stacks as a tree of calls, with sums for several windows at once. The layout of every flame graph is made here.

Nodes are in preorder, children by name: the nodes below node `n` are `n + 1` up to `end[n]`, so that sums over
subtrees are differences of running sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.query.ledger import Ledger

I64s = NDArray[np.int64]
F64s = NDArray[np.float64]


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


def tree(ledger: Ledger, root: str = "all", by_task: bool = True) -> Tree:
    """The tree of a ledger; with `by_task`, thread names are the outermost frames."""
    texts, samples, weight = _by_text(ledger, by_task)
    shape = _shape(texts)
    frames, nodes = {frame: frame.partition("\x1f") for frame in set(shape.frames)}, len(shape.frames) + 1
    own_samples, own_weight = _placed(shape.node_of, samples, nodes), _placed(shape.node_of, weight, nodes)
    return Tree(
        (root, *(frames[frame][0] for frame in shape.frames)),
        ("", *(frames[frame][2] for frame in shape.frames)),
        shape.parent,
        shape.depth,
        shape.end,
        _below(own_samples, shape.end).astype(np.int64),
        _below(own_weight, shape.end),
        own_samples.astype(np.int64),
    )


@dataclass(frozen=True, slots=True)
class _Shape:
    """Frames of all nodes but the root, the node of each text, and how the nodes hang together."""

    frames: list[str]
    node_of: I64s
    parent: I64s
    depth: I64s
    end: I64s


def _shape(texts: Sequence[str]) -> _Shape:
    """A text adds the nodes that it does not share with the text before it, each below the one before: one run."""
    order = sorted(range(len(texts)), key=texts.__getitem__)
    found: list[str] = []
    shared_with, begins, parents, leaves, ended, closed = [], [], [], [], [], []
    path, before = [0], []  # type: list[int], list[str]
    for place in order:
        frames = texts[place].split("\x1e")
        frames.pop()
        shared, begin = _shared(frames, before), len(found) + 1
        ended += path[shared + 1 :]
        closed.append(len(path) - shared - 1)
        found += frames[shared:]
        path[shared + 1 :] = range(begin, len(found) + 1)
        shared_with.append(shared)
        begins.append(begin)
        parents.append(path[shared])
        leaves.append(path[-1])
        before = frames
    nodes = len(found) + 1
    begin_of, node_of = np.array(begins, np.int64), np.empty(len(texts), np.int64)
    node_of[order] = leaves
    length = np.diff(begin_of, append=nodes)
    parent, depth, end = np.arange(-1, nodes - 1), np.zeros(nodes, np.int64), np.full(nodes, nodes, np.int64)
    parent[begin_of[length > 0]] = np.array(parents, np.int64)[length > 0]
    depth[1:] = np.arange(1, nodes) + np.repeat(np.array(shared_with, np.int64) + 1 - begin_of, length)
    end[ended] = np.repeat(begin_of, closed)
    return _Shape(found, node_of, parent, depth, end)


def _by_text(ledger: Ledger, by_task: bool) -> tuple[list[str], I64s, F64s]:
    """Different stacks, thread names among them when asked for, with (stacks, windows) of samples and weight."""
    if not by_task:
        return list(ledger.stacks), *ledger.by(ledger.stack, len(ledger.stacks))
    comms = list(dict.fromkeys(task.comm for task in ledger.tasks))
    number = {comm: place for place, comm in enumerate(comms)}
    comm_of = np.array([number[task.comm] for task in ledger.tasks] or [0], np.int64)
    key = comm_of[ledger.task] * max(1, len(ledger.stacks)) + ledger.stack
    keys, place = np.unique(key, return_inverse=True)
    samples, weight = ledger.by(place.reshape(-1).astype(np.int64), keys.size)
    pairs = zip(
        (keys // max(1, len(ledger.stacks))).tolist(), (keys % max(1, len(ledger.stacks))).tolist(), strict=True
    )
    return [f"{comms[comm]}\x1f\x1e{ledger.stacks[stack]}" for comm, stack in pairs], samples, weight


def _shared(frames: Sequence[str], before: Sequence[str]) -> int:
    """How many outer frames two stacks have in common."""
    shared = 0
    for frame, other in zip(frames, before, strict=False):
        if frame != other:
            break
        shared += 1
    return shared


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
