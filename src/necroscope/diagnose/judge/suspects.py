"""Who was on a core: whether that is unusual, who of the line-up stands out, and how they are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from necroscope.clock import NS
from necroscope.diagnose.priors import Priors
from necroscope.vocabulary.case import LineUp, RecorderStart, Run, Stack, Suspect

_IN_INTERRUPT = {"softirq": "soft interrupts", "irq": "interrupts"}
SOFTIRQ_THREAD = "ksoftirqd/"
_START_NS = 10 * NS


def unusual(suspect: Suspect, priors: Priors) -> bool:
    """Whether it took more than in quiet times, and more than by chance. Without quiet times, only a guess."""
    if suspect.before is None:
        return True
    return suspect.chance < priors.who_chance and suspect.share >= priors.who_rise * suspect.before


def title(suspect: Suspect) -> str:
    """How it is called in a sentence."""
    if suspect.context:
        return _IN_INTERRUPT[suspect.context]
    return f"{suspect.name} (pid {suspect.pid})" if suspect.pid is not None else suspect.name


def main_suspect(line_up: LineUp, priors: Priors) -> Suspect | None:
    """Who took most of the core beyond what is usual; a cgroup when many of its processes took turns."""
    strange = [one for one in line_up.suspects if unusual(one, priors)]
    best = next(iter(strange or line_up.suspects), None)
    group = next((one for one in line_up.by_cgroup if unusual(one, priors)), None)
    if best is None or group is None or best.context or group.excess <= priors.who_group_lead * best.excess:
        return best
    inside = [one for one in line_up.suspects if one.cgroup == group.cgroup and not one.context]
    many = max(group.processes, sum(one.processes for one in inside))
    if not inside or many < priors.who_group_processes or group.excess < priors.who_group_excess:
        return best
    pids = group.pids or tuple(dict.fromkeys(pid for one in inside for pid in one.pids))
    return replace(group, name=inside[0].name, pids=pids, processes=many, cgroups=_cgroups(inside))


def _cgroups(inside: Sequence[Suspect]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for one in inside for path in one.cgroups))


def top_functions(stacks: Sequence[Stack], most: int = 4) -> list[tuple[str, float]]:
    """Functions in which the time went, the innermost of each stack, with their share."""
    total = sum(one.weight for one in stacks) or 1.0
    took: dict[str, float] = {}
    for one in stacks:
        if one.leaf:
            took[one.leaf] = took.get(one.leaf, 0.0) + one.weight
    ranked = sorted(took.items(), key=lambda pair: -pair[1])[:most]
    return [(name, weight / total) for name, weight in ranked]


def own_start(run: Run, suspect: Suspect | None, starts: Iterable[RecorderStart]) -> bool:
    """Whether a starved core is a recorder's own start: it fell into it, and only the recorder was on it. A recorder
    that takes a core later is a suspect like any other."""
    return any(
        one.at_ns - _START_NS < run.from_ns
        and run.to_ns < one.at_ns + _START_NS
        and (suspect is None or (one.pid is not None and suspect.pids == (one.pid,)))
        for one in starts
    )
