"""How long each core was busy in each second, by samples alone: for profiles that came without counters."""

from __future__ import annotations

import numpy as np

from necroscope.clock import NS
from necroscope.query.chunks import chunks
from necroscope.query.select import Select, is_clock
from necroscope.sense.perf.idle import idle, innermost
from necroscope.store.catalog import Window
from necroscope.store.reader import Snapshot

_USER = frozenset({"[vdso]", "[vsyscall]", "[unknown]", "[heap]", "[stack]", "[anon]", "[uprobes]"})


def busy_seconds(
    snapshot: Snapshot, window: Window, notes: list[str] | None = None
) -> dict[int, dict[int, tuple[float, float]]]:
    """Core -> second -> busy seconds, and of these in the kernel. Where weights are no time, each sample stands for
    an equal part of the busiest second. Of damaged files `notes` tell."""
    found: dict[int, dict[int, tuple[float, float]]] = {}
    counts: dict[int, dict[int, tuple[float, float]]] = {}
    for chunk in chunks(snapshot, Select(window), notes=[] if notes is None else notes):
        numbers, place = np.unique(chunk.stack, return_inverse=True)
        texts = chunk.stacks.frames(numbers)
        busy = ~idle(texts)[place.reshape(-1)]
        kernel = np.array([_in_kernel(text) for text in texts])[place.reshape(-1)]
        clock = np.array([is_clock(name) for name in chunk.event.names] or [False])[chunk.event.codes]
        rows = zip(
            chunk.cpu[busy].tolist(),
            (chunk.at_ns[busy] // NS).tolist(),
            (chunk.weight[busy] / NS).tolist(),
            kernel[busy].tolist(),
            clock[busy].tolist(),
            strict=True,
        )
        for cpu, second, weight, inside, timed in rows:
            by_second = (found if timed else counts).setdefault(cpu, {})
            total, part = by_second.get(second, (0.0, 0.0))
            one = weight if timed else 1.0
            by_second[second] = total + one, part + (one if inside else 0.0)
    return found or _scaled(counts)


def _scaled(counts: dict[int, dict[int, tuple[float, float]]]) -> dict[int, dict[int, tuple[float, float]]]:
    totals = sorted(total for by_second in counts.values() for total, _ in by_second.values())
    if not totals:
        return {}
    # The busiest second of all may hold a burst of late samples; nearly the busiest is a whole one.
    whole = totals[int(0.98 * (len(totals) - 1))]
    return {
        cpu: {second: (total / whole, part / whole) for second, (total, part) in by_second.items()}
        for cpu, by_second in counts.items()
    }


def _in_kernel(text: str) -> bool:
    module = innermost(text)[2]
    return module.startswith("[") and module not in _USER
