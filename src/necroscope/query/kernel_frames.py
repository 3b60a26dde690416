"""Which of a stack's functions are the kernel's, by their names without what compilers append."""

from __future__ import annotations

from necroscope.sense.perf.modules import in_kernel


def kernel_functions(frames: str) -> list[str]:
    """Names of the kernel's functions in a stack's canonical text, outermost first. Folded stacks name no modules."""
    pairs = (frame.partition("\x1f") for frame in frames.split("\x1e")[:-1])
    return [without_suffix(name) for name, _, module in pairs if name and (not module or in_kernel(module))]


def without_suffix(name: str) -> str:
    """Without `.isra.0`, `.constprop.0`, `.cold` and the like, with which compilers mark parts of a function."""
    return name.partition(".")[0] or name
