"""Who ordered the work that a core had to do for others: senders, forkers, whoever flushes translations.

Some mechanisms hit a core from elsewhere. Who is behind them is seen by what he calls, on any core, in the same time:
more than anybody else, and more than in quiet times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from necroscope.diagnose.hypotheses.catalogue import Catalogue
from necroscope.diagnose.hypotheses.hypothesis import OrderedBy
from necroscope.diagnose.hypotheses.stack_match import match, named
from necroscope.diagnose.priors import PRIORS, Priors
from necroscope.vocabulary.case import LineUp, Starvation, Suspect

_SELDOM = 0.002


@dataclass(frozen=True, slots=True)
class Orderer:
    """Somebody who ordered it: seconds in the functions, part of all that did, and how many times as much as in quiet
    times (None: nothing to compare)."""

    name: str
    cgroup: str
    seconds: float
    part: float
    lift: float | None
    pids: tuple[int, ...] = ()


def orders_wanted(catalogue: Catalogue) -> tuple[frozenset[str], Callable[[LineUp], bool]]:
    """The functions by which work is ordered, and whether a line-up shows a mechanism that others may order."""
    ordered = tuple(one for one in catalogue.mechanisms if one.ordered_by is not None)
    functions = frozenset(name for one in ordered if one.ordered_by is not None for name in one.ordered_by.functions)

    def wanted(line_up: LineUp) -> bool:
        looked = (*line_up.suspects[:3], *line_up.by_cgroup[:1])
        if any(match(one.stacks, ordered, catalogue.see_through) for one in looked):
            return True
        return any(one.processes >= PRIORS.who_group_processes for one in looked)

    return functions, wanted


def orderer_of(
    ordered: OrderedBy, one: Starvation, suspect: Suspect, facts: Mapping[str, float], priors: Priors
) -> Orderer | None:
    """Who ordered the suspect's work; None where nobody stands out."""
    own = suspect.cgroup if ordered.own_cgroup and suspect.cgroup not in ("", "/") else ""
    least = ordered.least if own else _least(ordered, facts)
    first = next(iter(_ranked(ordered, one, own)), None)
    if first is None or least is None or first.part < priors.order_part or first.seconds < least * one.run.seconds:
        return None
    return first if first.lift is None or first.lift >= priors.order_rise else None


def _least(ordered: OrderedBy, facts: Mapping[str, float]) -> float | None:
    """For what share of the starved time somebody must have ordered it; None: what came from outside was sent
    elsewhere, whatever a server here answers to it. Whose cgroup is not known may be anybody."""
    if not ordered.outside:
        return ordered.least_unknown or ordered.least if ordered.own_cgroup else ordered.least
    came, handled = (facts.get(name) for name in ordered.outside)
    if came is None or not handled:
        return ordered.least_unknown or ordered.least
    return ordered.least if came < ordered.outside_share * handled else None


def _ranked(ordered: OrderedBy, one: Starvation, own: str) -> list[Orderer]:
    """Who called the functions, the most first."""
    if one.callers is None:
        return []
    took: dict[tuple[str, str], list[float]] = {}
    pids: dict[tuple[str, str], tuple[int, ...]] = {}
    for each in one.callers.callers:
        if (own and each.cgroup != own) or not named(ordered.functions, frozenset(each.functions)):
            continue
        key = each.name, each.cgroup
        both = took.setdefault(key, [0.0, 0.0])
        both[0] += each.seconds
        both[1] += each.before_s
        pids[key] = tuple(dict.fromkeys((*pids.get(key, ()), *each.pids)))
    total = sum(now for now, _ in took.values())
    length, quiet = one.callers.window_s, one.callers.quiet_s
    found = []
    for (name, cgroup), (now, before) in took.items():
        if now > 0 and length > 0:
            lift = (now / length) / max(before / quiet, _SELDOM) if quiet > 0 else None
            found.append(Orderer(name, cgroup, now, now / total, lift, pids[name, cgroup]))
    return sorted(found, key=lambda each: -each.seconds)
