"""What stands above every look at a window, and in every document about one."""

from __future__ import annotations

from typing import Any

from necroscope.clock import iso
from necroscope.quantity import plural, span
from necroscope.query.profile.looked import Looked
from necroscope.query.profile.profile import Profile
from necroscope.query.select import FOLDED
from necroscope.sense.perf.event_names import is_clock
from necroscope.show.caption import cores
from necroscope.show.plain import plain


def headline(looked: Looked) -> str:
    """What is shown, out of how much, against what."""
    made = looked.profile
    if not made.timed:
        return f"{_untimed(looked)}{_against(looked)}"
    busy = made.counts.weight[made.counts.window == 0].sum() * made.per_weight / max(float(made.seconds[0]), 1e-9)
    counted = "" if made.counted else f"; no core counters, so {_uncounted(made)}"
    shown = "" if looked.conclusive else f"; only {span(float(made.seconds[0]))} of it was recorded"
    return f"{plain(looked.words)}{shown}\n{cores(float(busy))} of {made.cores} cores busy{counted}{_against(looked)}"


def baseline(looked: Looked) -> str:
    """What the window is compared with, in words."""
    return plain(looked.other) or f"{plural(len(looked.baselines), 'window')} of the same length"


def window_document(looked: Looked) -> dict[str, Any]:
    """The fields that every document about a window has."""
    made = looked.profile
    return {
        "window": [iso(made.select.window[0]), iso(made.select.window[1])],
        "cores": made.cores,
        "core_seconds": round(float(made.core_seconds[0]), 6),
        "core_seconds_counted": made.counted,
        "seen": round(looked.seen, 6),
        "samples": int(made.counts.samples[made.counts.window == 0].sum()),
        "event": made.counts.event,
        "against": looked.other or None,
        "baseline_windows": [[iso(low), iso(high)] for low, high in looked.baselines],
        "not_compared": looked.uncompared or None,
    }


def _against(looked: Looked) -> str:
    if looked.compared:
        return f"; against {baseline(looked)}"
    return f"\nnot compared: {looked.uncompared}" if looked.uncompared and looked.profile.timed else ""


def _untimed(looked: Looked) -> str:
    made = looked.profile
    samples = plural(int(made.counts.samples[made.counts.window == 0].sum()), "sample")
    folded = made.counts.event == FOLDED
    what = "in folded stacks, which tell" if folded else f"of {plain(made.counts.event)}, which tells"
    return f"{plain(looked.words)}\n{samples} {what} no time: shares are of these"


def _uncounted(made: Profile) -> str:
    """What takes the place of counters: which cores, and how cycles became time."""
    seen = "shares are of the cores that were seen" if made.counts.cpus else "cores are those that it takes at least"
    return seen if is_clock(made.counts.event) else f"{seen}, and the time between samples tells how long each took"
