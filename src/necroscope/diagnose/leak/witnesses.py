"""What speaks for a leaker: witnesses as numbers, and as evidence in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from necroscope.diagnose.leak.attribution import Leak, LeakProcess, Witness
from necroscope.diagnose.priors import Priors
from necroscope.quantity import count, plural, share
from necroscope.vocabulary.leak_facts import LeakFacts
from necroscope.vocabulary.model import Evidence

_LEFT = {"zombies": "were removed and never released", "directories": "were made and never removed"}


def with_witnesses(leak: Leak, facts: LeakFacts, strength: float, priors: Priors) -> Leak:
    """The leak with its strength, its witnesses and its evidence."""
    evidence = (*_seen(leak, facts), *_named(leak, facts), *_process(leak, facts), *_restarts(leak, facts))
    evidence = (*evidence, *_time(leak, facts, priors), *_doubt(leak), *_share(leak, priors))
    return replace(leak, strength=strength, witnesses=tuple(_witnesses(leak, priors)), evidence=evidence)


def _witnesses(leak: Leak, priors: Priors) -> Iterator[Witness]:
    if leak.named:
        yield Witness("ids" if leak.subject.kind == "container" else "names", leak.named)
    if leak.process is not None:
        yield Witness("makers", leak.process.made)
    if leak.one_per_restart and leak.restarted is not None:
        yield Witness("counts", leak.restarted)
    if leak.alignment is not None and leak.alignment.holds_by(priors):
        yield Witness("time", round(leak.alignment.share, 3))
    if leak.share is not None:
        yield Witness("accumulation", round(leak.share, 3))


def _seen(leak: Leak, facts: LeakFacts) -> Iterator[Evidence]:
    if leak.seen:
        left = facts.of(leak.what)
        text = (
            f"{count(leak.seen)} of {plural(left.left_total, 'cgroup')} that {_LEFT[leak.what]} were those of "
            f"{leak.subject.kind} {leak.subject.name}"
        )
        yield Evidence(text, "cgroup events", leak.seen, "cgroups", facts.span)


def _named(leak: Leak, facts: LeakFacts) -> Iterator[Evidence]:
    if not leak.named:
        return
    left = facts.of(leak.what)
    total, which = (left.total or 0, "") if left.whole else (left.named, " that could be named")
    where = f"; {count(leak.below)} of these stood below its own cgroup" if leak.below else ""
    text = f"{count(leak.named)} of {count(total)} {leak.what}{which} were cgroups of {leak.subject.name}{where}"
    yield Evidence(text, left.source or "kernel memory", leak.named, "cgroups", facts.span)


def _process(leak: Leak, facts: LeakFacts) -> Iterator[Evidence]:
    if (one := leak.process) is None:
        return
    processes = plural(one.processes, "process", "processes")
    text = f"{called(one)} made {count(one.made)} of those whose creator was sampled ({processes})"
    yield Evidence(text, "samples", one.made, "cgroups", facts.span)


def called(process: LeakProcess) -> str:
    """A process by name, with its pid, its parent and its cgroup, as far as they are known."""
    known = [f"pid {process.pid}"] if process.pid is not None else []
    if process.parent_pid is not None or process.parent_name:
        pid = f" (pid {process.parent_pid})" if process.parent_name and process.parent_pid is not None else ""
        known.append(f"child of {process.parent_name or f'pid {process.parent_pid}'}{pid}")
    known += [f"in {process.cgroup}"] if process.cgroup not in ("", "/") else []
    return f"{process.name} ({', '.join(known)})" if known else process.name


def _restarts(leak: Leak, facts: LeakFacts) -> Iterator[Evidence]:
    unit, container = leak.unit, leak.container
    if facts.span is not None and unit is not None:
        grew = unit.restarts - unit.first_restarts
        if unit.restarts or grew > 0:
            text = f"{unit.name} restarted {plural(grew, 'time')} while {plural(leak.number, 'cgroup')} of it leaked"
            all_of_them = f"; {count(unit.restarts)} restarts in all"
            yield Evidence(text + all_of_them, "systemd", grew, "restarts", facts.span)
    elif leak.restarted is not None:
        kind = "deaths" if container is not None and not container.restarts else "restarts"
        left = plural(leak.number, "zombie") if leak.what == "zombies" else f"{count(leak.number)} directories"
        same = ": one per restart" if leak.one_per_restart else ""
        source = (container.engine or "containers") if container is not None else "systemd"
        yield Evidence(f"{count(leak.restarted)} {kind} against {left}{same}", source, leak.restarted, kind)


def _time(leak: Leak, facts: LeakFacts, priors: Priors) -> Iterator[Evidence]:
    found = leak.alignment
    if found is not None and found.holds_by(priors):
        text = (
            f"{found.matched} of {found.restarts} starts and ends have a leak within {found.near_s:.1f} s; "
            f"shifted in time it would be {found.expected:.1f} (chance {found.chance:.3f})"
        )
        yield Evidence(text, "systemd and cgroup events", round(found.share, 3), "share", facts.span)


def _doubt(leak: Leak) -> Iterator[Evidence]:
    if leak.doubt:
        yield Evidence(f"{leak.subject.name}: {leak.doubt}", "cgroup path", leak.subject.name)


def _share(leak: Leak, priors: Priors) -> Iterator[Evidence]:
    if leak.share is not None and leak.seen >= priors.leak_least_seen:
        text = f"{share(leak.share)} of all zombies are where they were"
        yield Evidence(text, "memcg", round(leak.share, 3), "share")
