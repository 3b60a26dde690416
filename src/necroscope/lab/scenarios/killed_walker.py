"""The seeds' incident with the obvious remedy, which is wrong: somebody ends the process that held the core.

The symptom is gone, and the unit leaks on: `necroscope validate` says so.
"""

from __future__ import annotations

from necroscope.lab.actors.actors import Actor
from necroscope.lab.needs import MEMORY_CGROUPS, NETWORK, SYSTEMD
from necroscope.lab.scenario import Scenario, Truth
from necroscope.lab.scenarios.seeds_incident import incident
from necroscope.lab.scenarios.seeds_incident import scenario as seeds
from necroscope.lab.stage import Stage

WATCHED_S = 26.0
"""How long it is recorded afterwards: enough to validate fifteen seconds."""


def play(stage: Stage) -> Truth:
    """The incident; then the walker is ended, with a mark, and nothing else is done."""

    def end(walker: Actor) -> None:
        stage.mark(f"ended {walker.name}, which held the core", kind="change")
        stage.say(f"somebody ends {walker.name}")
        walker.end()
        stage.sleep(WATCHED_S)

    return incident(stage, end)


scenario = Scenario(
    name="killed-walker",
    summary="As seeds-incident; then the process on the core is ended, and the unit leaks on: only the symptom ends.",
    play=play,
    cause="zombie-memcg",
    subject="unit",
    innocent=True,
    needs=(MEMORY_CGROUPS, SYSTEMD, NETWORK),
    shows=seeds.shows,
)
