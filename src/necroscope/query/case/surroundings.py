"""The time around a symptom, as the recording has it: what the cores did, which were starved, what happened."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from necroscope.clock import NS
from necroscope.config import Config
from necroscope.query.case.cores.kinds import Kinds, kinds
from necroscope.query.case.cores.starved import in_order, starved
from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.case.named_core import named_core
from necroscope.query.case.symptom import is_symptom, patience_ns
from necroscope.query.cores.core_time import CoreTime, core_time
from necroscope.query.cores.starved import from_samples
from necroscope.query.events.landmarks import events
from necroscope.query.samples.busy_seconds import busy_seconds
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.case import NamedCore, Run
from necroscope.vocabulary.event import Event, Window
from necroscope.vocabulary.verdict import Complaint

BEFORE_NS, AFTER_NS = 45 * NS, 2 * NS
"""A symptom is reported seconds to tens of seconds after the core was taken; sometimes a little before a look ends."""

NEAR_NS = 900 * NS
CLOSE_NS = 15 * NS
_COMPLAINT_NS = NS
_MOST_SLACK_NS = 60 * NS


@dataclass(frozen=True)
class Surroundings:
    """A symptom and what the recording has around it. `runs` are starved cores of the whole near time."""

    store: FixedStore
    config: Config
    symptom: Complaint
    recorded: Window
    near: Window
    times: CoreTime
    runs: tuple[Run, ...]
    events: tuple[Event, ...]
    """Events of the near time that are not about the lives of cgroups."""
    counted: bool
    kinds: Kinds
    named: NamedCore | None = None
    notes: list[str] = field(default_factory=list)
    """What cannot be read; readers of more add to it."""

    @property
    def lookback(self) -> Window:
        """When the core must have been taken to have caused the symptom."""
        before = max(BEFORE_NS, patience_ns(self.symptom.kind))
        return self.symptom.at_ns - before - self._slack_ns, self.symptom.at_ns + AFTER_NS + self._slack_ns

    def in_time(self, run: Run) -> bool:
        """Whether a starved core may have caused the symptom: taken before it, not long before, and not just now.

        What a driver or the kernel complains of took at least a second; what somebody marked is as exact as he was.
        """
        if self.symptom.asked:
            return run.overlaps(self.lookback)
        latest = self.symptom.at_ns + self._slack_ns - (0 if self.symptom.noticed else _COMPLAINT_NS)
        return run.overlaps(self.lookback) and run.from_ns <= latest

    @property
    def _slack_ns(self) -> int:
        return min(self.symptom.uncertainty_ns, _MOST_SLACK_NS)

    @property
    def cores(self) -> int:
        """How many cores were seen."""
        return int(np.unique(self.times.cpu).size)

    @cached_property
    def close(self) -> CoreTime:
        """The cores' counters second by second."""
        return self.times.close()

    @cached_property
    def symptoms_ns(self) -> tuple[int, ...]:
        """When symptoms were, in the near time."""
        return tuple(one.at_ns for one in self.events if is_symptom(one))

    def covered(self, window: Window) -> float:
        """The share of a window that the cores' counters cover, second by second."""
        length = max(1, window[1] - window[0]) / NS
        return min(1.0, self.close.spent_in(window).covered_s / length)

    def note(self, *notes: str) -> None:
        """Something that cannot be read, each noted once."""
        self.notes.extend(note for note in dict.fromkeys(notes) if note not in self.notes)


def look_around(
    store: FixedStore, symptom: Complaint, recorded: Window, config: Config, known: Kinds | None = None
) -> Surroundings:
    """Read what is around a symptom. Little: a quarter of an hour of counters and events."""
    notes: list[str] = []
    known = known or kinds()
    near = symptom.at_ns - NEAR_NS, symptom.at_ns + NEAR_NS // 6
    snapshot = store.snapshot((near[0], near[1] + 10 * NS))
    times = core_time(snapshot, [near], notes)
    counted = bool(times.close().at_ns.size)
    found = starved(times, known, config.cpu)
    if not counted:
        # Averages show only cores that were full all the time; samples show their seconds.
        sampled = _sampled(snapshot, near, config, known, notes)
        found = [*sampled, *(one for one in found if not any(_touch(one, other) for other in sampled))]
    near_events = events(snapshot, near, kinds=_no_life, notes=notes)
    about = symptom.at_ns - BEFORE_NS, symptom.at_ns + AFTER_NS
    named = named_core(store.snapshot(about), symptom, about)
    return Surroundings(
        store, config, symptom, recorded, near, times, tuple(found), tuple(near_events), counted, known, named, notes
    )


def _no_life(kind: str) -> bool:
    """Whether an event is not about the life of a cgroup, of which there may be very many."""
    return not kind.startswith("cgroup-")


def _sampled(snapshot: Snapshot, near: Window, config: Config, known: Kinds, notes: list[str]) -> list[Run]:
    """Without counters, seconds in which a core was sampled busy nearly all the time."""
    if not known.sampled:
        return []
    seconds = busy_seconds(snapshot, near, notes)
    return in_order(
        [
            replace(run, kind=one.name)
            for one in known.sampled
            for run in from_samples(seconds, one.busy_of(config.cpu), round(one.seconds))
        ]
    )


def _touch(one: Run, other: Run) -> bool:
    return one.cpu == other.cpu and one.overlaps(other.window)
