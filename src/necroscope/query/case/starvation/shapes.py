"""Stacks as a case keeps them: the kernel's functions, the innermost one, and how long; bounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from necroscope.query.samples.kernel_frames import kernel_functions
from necroscope.sense.perf.idle import innermost
from necroscope.sense.perf.modules import in_kernel
from necroscope.vocabulary.case import Stack
from necroscope.vocabulary.function_name import without_suffix

Shape = tuple[tuple[str, ...], str, bool]
"""Functions, leaf, and whether that is the kernel's."""


@lru_cache(maxsize=4096)
def shape_of(frames: str) -> Shape:
    """The shape of a stack's canonical text. Names of programs stay as they are: dots in them may be their own."""
    leaf, _, module = innermost(frames)
    kernel = in_kernel(module)
    return tuple(kernel_functions(frames)), without_suffix(leaf) if kernel else leaf, kernel


def stacks_of(shapes: Sequence[Shape], places: Iterable[int], weights: Iterable[float], most: int) -> tuple[Stack, ...]:
    """Samples by shape, the heaviest first. Of too many, the lightest are summed up: those that ended in the kernel in
    one stack without functions, the others in another. None where none are wanted."""
    if not most:
        return ()
    took: dict[Shape, float] = {}
    for place, weight in zip(places, weights, strict=True):
        shape = shapes[place]
        took[shape] = took.get(shape, 0.0) + weight
    ranked = sorted(took.items(), key=lambda pair: (-pair[1], pair[0]))
    kept = ranked if len(ranked) <= most else ranked[: most - 2]
    rest = {True: 0.0, False: 0.0}
    for (_, _, kernel), weight in ranked[len(kept) :]:
        rest[kernel] += weight
    return (
        *(Stack(*shape, weight) for shape, weight in kept),
        *(Stack((), "", kernel, weight) for kernel, weight in rest.items() if weight > 0),
    )
