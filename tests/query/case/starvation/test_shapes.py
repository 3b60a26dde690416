"""Stacks as a case keeps them."""

from __future__ import annotations

import pytest

from necroscope.query.case.starvation.shapes import shape_of, stacks_of
from necroscope.vocabulary.case import Stack
from stage.looked import text


@pytest.mark.parametrize(
    ("frames", "functions", "leaf", "kernel"),
    [
        ((("main", "app"), ("read", "[kernel]"), ("walk.isra.0", "[kernel]")), ("read", "walk"), "walk", True),
        ((("main", "app"), ("runtime.mallocgc", "app")), (), "runtime.mallocgc", False),
        ((("main", "app"), ("interpreted", "[jit]")), (), "interpreted", False),
        ((("main", "app"), ("ioctl", "[kernel]"), ("loop", "[own]")), ("ioctl", "loop"), "loop", True),
    ],
)
def test_shapes(frames: tuple[tuple[str, str], ...], functions: tuple[str, ...], leaf: str, kernel: bool) -> None:
    assert shape_of(text(frames)) == (functions, leaf, kernel)


def test_what_looks_the_same_is_one_and_the_lightest_are_summed_up() -> None:
    shapes = [(("a",), "a", True), (("b",), "b", True), ((), "u", False), (("c",), "c", True), ((), "v", False)]
    found = stacks_of(shapes, [0, 1, 0, 2, 3, 4], [1.0, 0.5, 1.0, 0.25, 0.125, 0.0625], 4)
    assert found == (
        Stack(("a",), "a", True, 2.0),
        Stack(("b",), "b", True, 0.5),
        Stack((), "", True, 0.125),
        Stack((), "", False, 0.3125),
    )
    assert sum(one.weight for one in found) == pytest.approx(2.9375)
    assert len(stacks_of(shapes, range(5), [1.0] * 5, 5)) == 5
    assert stacks_of(shapes, range(5), [1.0] * 5, 0) == ()
