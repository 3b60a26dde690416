"""How zombies grew since each boot, and how many there were when the first symptom came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from necroscope.vocabulary.case import Boot


def boots_of(looks: Iterable[tuple[int, int]], began: Iterable[int], symptoms: Sequence[int]) -> tuple[Boot, ...]:
    """Each boot of which there are counts, oldest first, from counts over time, starts of kernels, and symptoms."""
    total: dict[int, int] = {}
    for at_ns, number in looks:
        total[at_ns] = total.get(at_ns, 0) + number
    if not total:
        return ()
    edges = [min(total), *(at for at in sorted(set(began)) if at > min(total)), max(total) + 1]
    found = []
    for low, high in pairwise(edges):
        counted = sorted(at for at in total if low <= at < high)
        if counted:
            first = next((at for at in symptoms if low <= at < high), None)
            near = min(counted, key=lambda at: abs(at - first)) if first is not None else None
            found.append(
                Boot(
                    low,
                    (counted[0], total[counted[0]]),
                    (counted[-1], total[counted[-1]]),
                    total[near] if near is not None else None,
                    first,
                )
            )
    return tuple(found)
