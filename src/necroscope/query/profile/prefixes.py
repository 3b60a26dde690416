"""What many stacks have in common: the tree of their outer frames, made without a look at each frame by itself.

Stacks come sorted, so that those with the same outer frames are neighbours. A stack adds the nodes that it does not
share with the one before it, each below the other. Numbers of nodes are therefore in preorder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

I64s = NDArray[np.int64]
F64s = NDArray[np.float64]
# Texts that are split at a time: all frames of all stacks as texts would take too much memory.
_AT_ONCE = 8192


@dataclass(frozen=True, slots=True)
class Coded:
    """Stacks as numbers of frames, one after the other: stack `n` has `length[n]` of them from `begin[n]` on."""

    frames: list[str]
    code: I64s
    begin: I64s
    length: I64s


@dataclass(frozen=True, slots=True)
class Shape:
    """Node 0 is everything; `frame` are the frames of the others. The nodes below node `n` end before `end[n]`."""

    frame: I64s
    parent: I64s
    depth: I64s
    end: I64s
    leaf: I64s
    """The node of each stack's innermost frame."""


def coded(texts: Sequence[str]) -> Coded:
    """Canonical texts of stacks as numbers of frames."""
    length = np.array([text.count("\x1e") for text in texts], np.int64)
    number: dict[str, int] = {}
    parts = [np.zeros(0, np.int64)]
    for first in range(0, len(texts), _AT_ONCE):
        frames = "".join(texts[first : first + _AT_ONCE]).split("\x1e")
        frames.pop()
        for frame in dict.fromkeys(frames):
            number.setdefault(frame, len(number))
        parts.append(np.fromiter(map(number.__getitem__, frames), np.int64, len(frames)))
    return Coded(list(number), np.concatenate(parts), np.cumsum(length) - length, length)


def lengths(outer: I64s | None, inner: Coded, chosen: I64s) -> I64s:
    """How many frames stacks have, the one around them included."""
    found: I64s = inner.length[chosen] + (0 if outer is None else 1)
    return found


def wide_lengths(outer: I64s | None, inner: Coded, chosen: I64s, weight: F64s, least: float) -> I64s:
    """How many frames of sorted stacks are worth a look: up to the first whose node has less than the least weight."""
    length = lengths(outer, inner, chosen)
    begin = inner.begin[chosen] - (0 if outer is None else 1)
    active, group, depth = np.flatnonzero(length), np.zeros(np.count_nonzero(length), np.int64), 0
    while active.size:
        code = inner.code[begin[active] + depth] if depth or outer is None else outer[active]
        first = np.concatenate([[True], (group[1:] != group[:-1]) | (code[1:] != code[:-1])])
        group = np.cumsum(first) - 1
        narrow = (np.bincount(group, weight[active]) < least)[group]
        depth += 1
        length[active[narrow]] = depth
        stays = ~narrow & (length[active] > depth)
        active, group = active[stays], group[stays]
    return length


def below(outer: I64s | None, inner: Coded, chosen: I64s, length: I64s) -> I64s:
    """So many frames of stacks, each with a frame around it where there is one, one after the other."""
    around = 0 if outer is None else 1
    begin = np.cumsum(length) - length
    place = np.repeat(inner.begin[chosen] - begin - around, length) + np.arange(int(length.sum()))
    code = np.append(inner.code, 0)[np.maximum(place, 0)]
    if outer is not None:
        code[begin] = outer
    return code


def shape(code: I64s, length: I64s) -> Shape:
    """The tree of sorted stacks, given one after the other."""
    begin = np.cumsum(length) - length
    place = np.arange(code.size) - np.repeat(begin, length)
    fresh = _fresh(code, begin, length, place)
    made = np.concatenate([[0], np.cumsum(fresh)])
    depth = np.concatenate([[0], place[fresh] + 1])
    nodes = depth.size
    before, after = made[begin], made[begin + length]
    by_depth = np.argsort(depth, kind="stable")
    keys = depth[by_depth] * nodes + by_depth

    def latest(at_depth: I64s, upto: I64s) -> I64s:
        """The last node at a depth, of those that were made so far."""
        found: I64s = by_depth[np.searchsorted(keys, at_depth * nodes + upto, side="right") - 1]
        return found

    parent = np.arange(-1, nodes - 1)
    grows = after > before
    parent[before[grows] + 1] = latest((length - (after - before))[grows], before[grows])
    return Shape(code[fresh], parent, depth, _ends(depth, parent, by_depth), latest(length, after))


def _fresh(code: I64s, begin: I64s, length: I64s, place: I64s) -> NDArray[np.bool_]:
    """Which frames begin a node: the first in which a stack differs from the one before it, and all further ones."""
    older_begin = np.repeat(np.concatenate([[0], begin[:-1]])[: begin.size], length)
    older_length = np.repeat(np.concatenate([[0], length[:-1]])[: length.size], length)
    differs = place >= older_length
    shared = np.flatnonzero(~differs)
    differs[shared] = code[shared] != code[older_begin[shared] + place[shared]]
    many = np.concatenate([[0], np.cumsum(differs)])
    fresh: NDArray[np.bool_] = many[1:] > np.repeat(many[begin], length)
    return fresh


def _ends(depth: I64s, parent: I64s, by_depth: I64s) -> I64s:
    """Where the nodes below each node end: at the next node of the same depth, or where its parent's end."""
    end = np.full(depth.size, depth.size, np.int64)
    stops = np.flatnonzero(np.diff(depth[by_depth], append=-1)) + 1
    for first, last in zip(stops[:-1].tolist(), stops[1:].tolist(), strict=True):
        level = by_depth[first:last]
        end[level[:-1]] = level[1:]
        end[level] = np.minimum(end[level], end[parent[level]])
    return end
