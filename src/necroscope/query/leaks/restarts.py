"""Restarts of units and containers, from events: when systemd says they were, and when a look noticed them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from necroscope.query.rows import Row
from necroscope.vocabulary.leak_facts import RestartsOf

_EXACT = ("unit-start", "unit-failure")
_AGAIN = ("unit-restart", "container-restart")
KINDS = frozenset((*_EXACT, *_AGAIN))
"""Kinds of events that report restarts."""
_SUBJECTS_MOST = 100
_MOMENTS_MOST = 500


def restarts_of(rows: Iterable[Row]) -> tuple[RestartsOf, ...]:
    """By unit or container: of many, those that restarted most; of each, the latest."""
    by_name: dict[tuple[Literal["unit", "container"], str], list[Row]] = {}
    for row in rows:
        kind: Literal["unit", "container"] = "container" if row["kind"] == "container-restart" else "unit"
        by_name.setdefault((kind, row["subject"]), []).append(row)
    found = [_restarts(kind, name, mine) for (kind, name), mine in by_name.items()]
    found.sort(key=lambda one: (-max(one.times, len(one.exact_ns)), one.name))
    return tuple(found[:_SUBJECTS_MOST])


def _restarts(kind: Literal["unit", "container"], name: str, rows: list[Row]) -> RestartsOf:
    """Of units that nobody restarts, starts are noticed."""
    again = [row for row in rows if row["kind"] in _AGAIN]
    noticed = again or [row for row in rows if row["kind"] == "unit-start"]
    exact = sorted({row["at_ns"] for row in rows if row["kind"] in _EXACT})
    restarts = sorted((row["at_ns"], row["count"] or 1) for row in noticed)
    return RestartsOf(kind, name, tuple(exact[-_MOMENTS_MOST:]), tuple(restarts[-_MOMENTS_MOST:]))
