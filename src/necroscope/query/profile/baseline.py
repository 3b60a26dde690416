"""What is normal: windows of the same length, of the same node, near in time, and away from every symptom.

Every baseline within a recording is chosen here: of a window that somebody looks at (`usual`), and of a starved
core (`away_from`, by `query.case.cores.quiet`, which knows what else is not quiet there).
"""

from __future__ import annotations

from collections.abc import Sequence

from necroscope.clock import NS
from necroscope.query.coverage import profiled
from necroscope.query.events.landmarks import symptoms as symptoms_of
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import Window

MOST = 24
WITHIN_NS = 3600 * NS
# What led to a symptom began before it, and what it caused goes on after it.
BEFORE_NS, AFTER_NS = 60 * NS, 15 * NS
NEARER = ((BEFORE_NS, AFTER_NS), (20 * NS, 5 * NS), (8 * NS, 2 * NS))
"""How far before and after symptoms is quiet: a recording so short that nothing is left is looked at nearer to them."""
_ENOUGH = 2


def usual(store: Store, window: Window, compare: bool) -> tuple[list[Window], list[Window]]:
    """When samples were taken, in the window and near it, and, to `compare`, the windows that show what is normal."""
    near = window[0] - WITHIN_NS - AFTER_NS, window[1] + WITHIN_NS + BEFORE_NS
    snapshot = store.snapshot(near if compare else window)
    sampled = profiled(snapshot)
    if not compare:
        return sampled, []
    return sampled, baselines(window, sampled, [event.at_ns for event in symptoms_of(snapshot, near)])


def baselines(window: Window, recorded: Sequence[Window], symptoms: Sequence[int], most: int = MOST) -> list[Window]:
    """At most `most` windows as long as `window`, within an hour of it, evenly spread; none when nothing is left.

    All lie in the stretches that were recorded: what nobody looked at is not normal, but unknown.
    """
    length = window[1] - window[0] + 1
    beside = window[0] - min(length, 10 * NS), window[1] + min(length, 10 * NS)
    near = [(max(begin, window[0] - WITHIN_NS), min(end, window[1] + WITHIN_NS)) for begin, end in recorded]
    return away_from(symptoms, near, [beside], length, most, _ENOUGH)


def away_from(
    symptoms: Sequence[int], recorded: Sequence[Window], bad: Sequence[Window], length: int, most: int, enough: int
) -> list[Window]:
    """At most `most` windows of a length in these stretches and in none of the bad ones, as far from symptoms as leaves
    `enough` of them; where that is nowhere so, as many as there are nearest to them."""
    found: list[Window] = []
    for before_ns, after_ns in NEARER:
        found = spread(recorded, [*bad, *((at - before_ns, at + after_ns) for at in symptoms)], length, most)
        if len(found) >= enough:
            break
    return found


def spread(recorded: Sequence[Window], bad: Sequence[Window], length: int, most: int) -> list[Window]:
    """At most `most` windows of a length in these stretches and in none of the bad ones, evenly spread."""
    free = [(low, (high - low) // length) for begin, end in sorted(recorded) for low, high in _free(bad, begin, end)]
    there = sum(count for _, count in free)
    number = min(most, there)
    chosen = [place * there // number for place in range(number)]
    found, before = [], 0
    for low, count in free:
        begins = (low + (place - before) * length for place in chosen if before <= place < before + count)
        found += [(begin, begin + length - 1) for begin in begins]
        before += count
    return found


def _free(bad: Sequence[Window], first: int, last: int) -> list[Window]:
    """The stretches between the bad ones, half open."""
    found, at = [], first
    for low, high in sorted(bad):
        if low > at:
            found.append((at, min(low, last + 1)))
        at = max(at, high + 1)
    if at <= last:
        found.append((at, last + 1))
    return [(low, high) for low, high in found if high > low]
