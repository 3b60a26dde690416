"""The budget at work: what is used is measured, the governor decides, steps are taken and reported.

A step that is shed, and one that is taken back, is an event of the recorder with its reason, its numbers, and what is
not seen meanwhile. What is shed now is a signal as well, so that a window of time tells it by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from necroscope import clock
from necroscope.record.budget.governor import FREQUENCY, ORDER, PROCESSES, SYMBOLS, ZOMBIE_NAMES, Budget, Governor, Use
from necroscope.record.feed import PerfFeed
from necroscope.record.gaps import own_event
from necroscope.sense.cgroups.zombie_names import ZombieNames
from necroscope.sense.processes.top import TopProcesses
from necroscope.sense.sensor import Sensor
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import Sample, Signal

SHEDS, RECOVERS = "recorder-sheds", "recorder-recovers"
LOWER_HZ = 29
SHED = Signal("recorder_shed", "yes or no", "gauge", "1 while this is given up to stay within the budget.", ("step",))
MEMORY = Signal("recorder_pss_bytes", "bytes", "gauge", "Memory of the recorder and all it runs: PSS and perf's rings.")
DESCRIPTORS = Signal(
    "recorder_descriptors", "descriptors", "gauge", "Open descriptors of the recorder and all it runs."
)
SIGNALS = (SHED, MEMORY, DESCRIPTORS)

Switch = Callable[[bool], None]
"""Called with True when a step is shed, False when it is taken back."""


class Shedding:
    """One for a recorder. `read` is asked for what is used at every turn; a step without a switch is never shed."""

    def __init__(self, budget: Budget, switches: Mapping[str, Switch], read: Callable[[], Use]) -> None:
        able = tuple(step for step in ORDER if step in switches)
        self._governor, self._switches, self._read = Governor(budget, able), switches, read
        self._memory: int | None = None
        self._descriptors: int | None = None

    def limit(self, budget: Budget) -> None:
        """Another budget, from now on."""
        self._governor.budget = budget

    def turn(self) -> list[Event]:
        """Measure, decide, act; what is to be reported."""
        use = self._read()
        if use.memory_bytes is not None:
            self._memory, self._descriptors = use.memory_bytes, use.descriptors
        events = []
        for change in self._governor.decide(use):
            self._switches[change.step](change.shed)
            kind = SHEDS if change.shed else RECOVERS
            events.append(own_event(clock.now().realtime_ns, kind, change.text, change.step))
        return events

    def samples(self) -> list[Sample]:
        """What is shed, and what was measured last."""
        shed = [Sample(SHED.name, float(step in self._governor.shed), (step,)) for step in ORDER]
        known = ((MEMORY.name, self._memory), (DESCRIPTORS.name, self._descriptors))
        return shed + [Sample(name, value) for name, value in known if value is not None]


def switches(feed: PerfFeed | None, sensors: Sequence[Sensor]) -> dict[str, Switch]:
    """How each step is taken by those that do the work."""
    found: dict[str, Switch] = {}
    if feed is not None:
        found[SYMBOLS] = lambda shed: feed.name_programs(not shed)
        found[FREQUENCY] = lambda shed: feed.sample_at(min(LOWER_HZ, feed.usual_hz) if shed else feed.usual_hz)
    for sensor in sensors:
        if isinstance(sensor, TopProcesses):
            found[PROCESSES] = sensor.spare
        elif isinstance(sensor, ZombieNames):
            found[ZOMBIE_NAMES] = sensor.spare
    return found
