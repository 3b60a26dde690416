"""What incidents show, as the lab itself measures it."""

from __future__ import annotations

from necroscope.lab.scenario import Show
from necroscope.lab.stage import Stage


def core_held(seconds: float = 2.0, mode: str = "") -> Show:
    """The drawn core was at 95 % or more for so long without a break, mostly in this mode."""
    where = f", mostly in {mode}" if mode else ""
    return Show(f"one core at 95 % or more{where}", lambda stage: stage.held_s(mode), at_least=seconds, unit="s")


def victim_stalled(seconds: float = 0.5) -> Show:
    """A thread that wanted the core did not get it."""
    return Show("a thread on that core did not run", Stage.stalled_s, at_least=seconds, unit="s")


def echo_delayed(seconds: float = 0.5) -> Show:
    """An echo server on that core answered late."""
    return Show("an echo through that core took", lambda stage: stage.victims.longest_s("slow-echo"), seconds, unit="s")


def figure(name: str, text: str, at_least: float = 0.0, at_most: float = float("inf"), unit: str = "") -> Show:
    """A figure that the play function put into `stage.report.happened`."""
    return Show(text, lambda stage: float(stage.report.happened.get(name, float("nan"))), at_least, at_most, unit)


def cores_calm() -> Show:
    """No core was near its end for long: the longest time at 95 % in the whole run."""
    return Show("no core at 95 % or more for long", _longest, at_most=2.0, unit="s")


def _longest(stage: Stage) -> float:
    began, ended = stage.cores.slices[0].began_ns, stage.cores.slices[-1].ended_ns
    return max(stage.cores.held_s(cpu, began, ended) for cpu in stage.cpus)
