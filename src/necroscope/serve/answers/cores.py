"""The map of cores of a window."""

from __future__ import annotations

from necroscope.clock import NS
from necroscope.query.cores.pooled import HELD, columns_in, pooled
from necroscope.query.cores.seconds import FULL, UNKNOWN, joined
from necroscope.query.tiles import around
from necroscope.serve.answers.answer import Answer, columns
from necroscope.serve.asked import Asked
from necroscope.serve.opened import Opened, spans_of

LOOKS = ("busy", "system", "user", "irq", "steal", "idle")
MOST_COLUMNS = 4000
# A request that would read for longer answers with what it has, and says what is missing.
READ_S = 0.6
LONGEST_NS = 31 * 86_400 * NS


def cores(opened: Opened, asked: Asked) -> Answer:
    """Mean, highest second and longest full stretch by core and column."""
    window = _bounded(asked)
    from_s, column_s, count = columns_in(window, asked.integer("columns", 1, MOST_COLUMNS))
    whole = from_s * NS, (from_s + column_s * count) * NS - 1
    snapshot = opened.store.snapshot(around(whole)) if not opened.source.bundle else opened.whole()
    found, missing = opened.cores.of(snapshot, whole, READ_S)
    told = joined(list(found.values()), from_s, column_s * count)
    made = pooled(told, asked["look"], column_s)
    head = {
        "schema": "necroscope.cores/1",
        "from_ns": from_s * NS,
        "column_ns": column_s * NS,
        "columns": made.columns,
        "cpus": list(made.cpus),
        "look": made.look,
        "full": FULL,
        "unknown": UNKNOWN,
        "held_share": HELD,
        "not_read": spans_of(missing, whole),
    }
    return columns(head, {"mean": made.mean, "peak": made.peak, "held": made.held})


def _bounded(asked: Asked) -> tuple[int, int]:
    from necroscope.errors import BadInput

    window = asked.window
    if window[1] - window[0] > LONGEST_NS:
        raise BadInput("The window is longer than a month.", "ask about less")
    return window
