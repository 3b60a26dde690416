"""Starved cores that may have caused a symptom, each with who was on it, the best first."""

from __future__ import annotations

from dataclasses import dataclass, replace

from necroscope.case import Run
from necroscope.clock import NS
from necroscope.diagnose.why.own_start import own_start
from necroscope.diagnose.why.scene import Scene, quiet_blocks
from necroscope.diagnose.why.stretches import stretches
from necroscope.diagnose.why.suspects import LineUp, Suspect, line_up
from necroscope.diagnose.why.waits import stopped, waited_for
from necroscope.diagnose.why.weigh import nearness, run_score
from necroscope.query.profile import Profile, profile
from necroscope.query.select import Select
from necroscope.query.starved import within
from necroscope.store.catalog import Window

_MOST = 4
# Of a run that goes on for long, the last of it before the symptom tells enough.
_LONGEST_NS = 40 * NS
_LONG_S = 10.0
_GROUP_LEAD, _MANY = 1.3, 8
_ABOUT_AS_CLEAR = 0.6
_HARDLY = 0.1


@dataclass(frozen=True, slots=True)
class Candidate:
    """A starved core, who was on it, what is normal there, and how well it all suits the symptom."""

    run: Run
    whole: Run
    lineup: LineUp
    suspect: Suspect | None
    quiet: tuple[Window, ...]
    score: float
    profile: Profile


def candidates(scene: Scene, most: int = _MOST) -> list[Candidate]:
    """Those of the time before the symptom, the best first. Few are read: the rest suits less at first sight."""
    named = scene.named.cpu if scene.named is not None else None
    at_ns = scene.symptom.at_ns
    full = [run for run in scene.runs if scene.in_time(run)]
    there = [*full, *stopped(scene, full)]
    there.sort(key=lambda run: (run.cpu != named, -_first_sight(run, at_ns)))
    chosen = [part for run in there[:most] for part in _parts(scene, run)]
    found = [one for run in chosen if not own_start((one := _candidate(scene, run)).run, one.suspect, scene.told)]
    return _nearest_first(sorted(found, key=lambda one: -one.score), at_ns)


def _nearest_first(found: list[Candidate], at_ns: int) -> list[Candidate]:
    """Where the same one took the same core several times, about as clearly, the last time before the symptom leads."""
    if not found or found[0].suspect is None:
        return found
    best = found[0]
    alike = [
        one
        for one in found
        if one.run.cpu == best.run.cpu
        and one.score >= _ABOUT_AS_CLEAR * best.score
        and one.suspect is not None
        and one.suspect.name == found[0].suspect.name
    ]
    before = [one for one in alike if one.run.from_ns < at_ns]
    first = max(before or alike, key=lambda one: one.run.to_ns)
    return [first, *(one for one in found if one is not first)]


def _parts(scene: Scene, run: Run) -> list[Run]:
    """A run; of one that is longer than an incident lasts, also the parts in which somebody took the core."""
    if run.seconds < _LONG_S:
        return [run]
    window = max(run.from_ns, scene.lookback[0]), min(run.to_ns, scene.lookback[1])
    taken = stretches(scene.store.snapshot(window), run.cpu, window)
    return [run, *(within(scene.times, run, one) for one in taken)]


def _first_sight(run: Run, at_ns: int) -> float:
    return (0.45 + 0.55 * run.kernel) * nearness(run, at_ns) * min(1.0, run.seconds / 4)


def _candidate(scene: Scene, whole: Run) -> Candidate:
    run = _clipped(whole, scene.symptom.at_ns)
    quiet = quiet_blocks(scene, whole)
    found = profile(scene.store, Select(run.window, cpus=frozenset({run.cpu})), quiet)
    lineup = line_up(found, run.seconds)
    suspect = main_suspect(lineup)
    score = run_score(run, suspect, scene.symptom.at_ns, scene.named, lineup.sampled)
    if whole.seconds > 120 and whole.seconds > 0.5 * (scene.near[1] - scene.near[0]) / NS:
        score *= 0.2  # busy all along: not the cause of what is rare
    if suspect is not None and (waited := waited_for(scene, run, suspect.name)) is not None and waited < _HARDLY:
        score *= 0.4  # others ran on it as they wanted: busy, not starved
    return Candidate(run, whole, lineup, suspect, tuple(quiet), score, found)


def _clipped(run: Run, at_ns: int) -> Run:
    if run.to_ns - run.from_ns <= _LONGEST_NS:
        return run
    to_ns = min(run.to_ns, at_ns + 2 * NS)
    return replace(run, from_ns=max(run.from_ns, to_ns - _LONGEST_NS // 2), to_ns=to_ns)


def main_suspect(lineup: LineUp) -> Suspect | None:
    """Who took most of the core beyond what is usual; a cgroup when many of its processes took turns."""
    unusual = [one for one in lineup.suspects if one.unusual]
    best = next(iter(unusual or lineup.suspects), None)
    group = next((one for one in lineup.by_cgroup if one.unusual), None)
    if best is not None and group is not None and not best.context and group.excess > _GROUP_LEAD * best.excess:
        inside = [one for one in lineup.suspects if one.cgroup == group.cgroup and not one.context]
        pids = tuple(dict.fromkeys(pid for one in inside for pid in one.pids))
        if len(pids) >= _MANY and group.excess >= 0.35:
            return replace(group, name=inside[0].name, pids=pids)
    return best
