"""How long each core was busy in each second, by samples alone: for profiles that came without counters."""

from __future__ import annotations

import numpy as np

from necroscope.clock import NS
from necroscope.query.samples.kernel_frames import ends_in_kernel
from necroscope.query.samples.sample_time import timed
from necroscope.query.select import Select
from necroscope.sense.perf.idle import idle
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window


def busy_seconds(
    snapshot: Snapshot, window: Window, notes: list[str] | None = None
) -> dict[int, dict[int, tuple[float, float]]]:
    """Core -> second -> busy seconds, and of these in the kernel. `notes` gets damaged files."""
    found: dict[int, dict[int, tuple[float, float]]] = {}
    for chunk in timed(snapshot, Select(window), notes=[] if notes is None else notes):
        numbers, place = np.unique(chunk.stack, return_inverse=True)
        texts = chunk.stacks.frames(numbers)
        busy = ~idle(texts)[place.reshape(-1)]
        kernel = np.array([ends_in_kernel(text) for text in texts])[place.reshape(-1)]
        rows = zip(
            chunk.cpu[busy].tolist(),
            (chunk.at_ns[busy] // NS).tolist(),
            (chunk.weight[busy] / NS).tolist(),
            kernel[busy].tolist(),
            strict=True,
        )
        for cpu, second, weight, inside in rows:
            by_second = found.setdefault(cpu, {})
            total, part = by_second.get(second, (0.0, 0.0))
            by_second[second] = total + weight, part + (weight if inside else 0.0)
    return found
