"""The tree of common outer frames, against one that is grown frame by frame."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from necroscope.query.profile.prefixes import below, coded, lengths, shape, wide_lengths

STACKS = st.lists(st.lists(st.sampled_from("abc"), max_size=6).map(tuple), unique=True, max_size=25).map(sorted)


def text(frames: tuple[str, ...]) -> str:
    """Canonical text."""
    return "".join(f"{frame}\x1f\x1e" for frame in frames)


@given(STACKS)
def test_nodes_are_the_different_outer_frames_in_preorder(stacks: list[tuple[str, ...]]) -> None:
    made = coded([text(frames) for frames in stacks])
    chosen = np.arange(len(stacks))
    length = lengths(None, made, chosen)
    found = shape(below(None, made, chosen, length), length)
    nodes = sorted({frames[:depth] for frames in stacks for depth in range(len(frames) + 1)} | {()})
    assert [made.frames[code] for code in found.frame] == [f"{node[-1]}\x1f" for node in nodes[1:]]
    assert found.depth.tolist() == [len(node) for node in nodes]
    assert found.parent.tolist() == [-1, *(nodes.index(node[:-1]) for node in nodes[1:])]
    assert found.leaf.tolist() == [nodes.index(frames) for frames in stacks]
    assert found.end.tolist() == [
        max(place for place, other in enumerate(nodes) if other[: len(node)] == node) + 1 for node in nodes
    ]


@given(STACKS, st.integers(1, 6), st.booleans())
def test_stacks_are_cut_below_their_first_narrow_node(stacks: list[tuple[str, ...]], least: int, framed: bool) -> None:
    made = coded([text(frames) for frames in stacks])
    chosen, weight = np.arange(len(stacks)), np.ones(len(stacks))
    outer = np.zeros(len(stacks), np.int64) if framed else None
    whole = [("x", *frames) if framed else frames for frames in stacks]

    def wanted(frames: tuple[str, ...]) -> int:
        for depth in range(1, len(frames) + 1):
            if sum(other[:depth] == frames[:depth] for other in whole) < least:
                return depth
        return len(frames)

    assert wide_lengths(outer, made, chosen, weight, least).tolist() == [wanted(frames) for frames in whole]


def test_many_stacks_are_numbered_in_pieces() -> None:
    texts = [text(("main", f"f{number % 100}")) for number in range(20_000)]
    made = coded(texts)
    assert made.frames[:2] == ["main\x1f", "f0\x1f"]
    assert len(made.frames) == 101
    assert made.code[made.begin[19_999] + 1] == made.frames.index("f99\x1f")
