"""Which of a stack's functions are the kernel's, by their names without what compilers append.

Which modules are the kernel's says `sense/perf/modules.py`, for whoever asks.
"""

from __future__ import annotations

from necroscope.sense.perf.idle import innermost
from necroscope.sense.perf.modules import in_kernel
from necroscope.vocabulary.function_name import without_suffix


def kernel_functions(frames: str) -> list[str]:
    """Names of the kernel's functions in a stack's canonical text, outermost first. Folded stacks name no modules."""
    pairs = (frame.partition("\x1f") for frame in frames.split("\x1e")[:-1])
    return [without_suffix(name) for name, _, module in pairs if name and (not module or in_kernel(module))]


def ends_in_kernel(frames: str) -> bool:
    """Whether the innermost function is the kernel's."""
    return in_kernel(innermost(frames)[2])
