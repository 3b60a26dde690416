"""Recordings of both sides of a change: a leak that goes on or stops, symptoms, starved cores, boots and holes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from necroscope.sense.cgroups.census_sensor import Memcg
from necroscope.sense.cgroups.zombie_names import ZombieNames
from necroscope.sense.inventory import Inventory
from necroscope.sense.systemd.units import Systemd
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import ParentCount, Sample
from stage.incident import at, unit
from stage.looked import look

LEAKER = "leaky.service"
GROUP = f"/system.slice/{LEAKER}"


@dataclass
class ChangedNode:
    """Two minutes of a node; the change is in the middle. Seconds count from the recording's start.

    `leaks_until`: until when a unit restarts every `every_s` and leaves a cgroup behind. `zombies` is how many there
    were at first. Looks at zombies and units come every ten seconds, at the cores every second, unless in `blind_s`.
    """

    seconds: int = 120
    change_s: float = 60.0
    leaks_from: float = 0.0
    leaks_until: float = 60.0
    every_s: float = 2.0
    zombies: int = 100
    begins_anew_s: float | None = None
    marked: bool = True
    looks_until: float = 1e9
    cores_until: float = 1e9
    systemd_until: float = 1e9
    restarts_only: bool = False
    name: str = LEAKER
    events: list[Event] = field(default_factory=list)
    counters: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By name of a signal: its rate before and after the change."""

    def happens(self, at_s: float, kind: str, source: str = "kmsg", **more: Any) -> None:
        """A symptom, a mark, a boot."""
        self.events.append(Event(at(at_s), kind, source, **more))

    @property
    def restarts(self) -> list[float]:
        """When the unit restarted."""
        number = int((self.leaks_until - self.leaks_from) / self.every_s)
        return [self.leaks_from + self.every_s * (place + 0.5) for place in range(number)]

    def write(self, folder: Path, live: bool = False) -> Store:
        """The recording of it; with `live`, the recorder still writes."""
        signals = (*Memcg.signals, *ZombieNames.signals, *Inventory.signals, *Systemd.signals)
        writer = Writer(folder, flush_s=1e9, segment_s=1e9, signals=signals)
        self._look(writer)
        self._lives()
        if self.marked:
            self.happens(self.change_s, "change", "mark", text="stopped the unit")
        writer.add_events(sorted(self.events, key=lambda one: one.at_ns))
        if live:
            writer.flush()
            writer.disown()
        else:
            writer.close(merge=False)
        return Store(folder)

    def _look(self, writer: Writer) -> None:
        group = f"/system.slice/{self.name}"
        for second in range(self.seconds + 1):
            if second <= self.cores_until:
                writer.add_signals(at(second), look(second), "cpu")
            if self.counters:
                writer.add_signals(at(second), [self._counter(name, second) for name in self.counters], "counters")
            if second % 10:
                continue
            times = sum(one <= second for one in self.restarts)
            if second <= self.looks_until:
                number = self._zombies(second)
                writer.add_signals(at(second), [Sample("memcg_zombies", number), Sample("memcg_hierarchy", 4)], "memcg")
                writer.add_zombies(at(second), [ParentCount("/system.slice", number)])
            if second <= self.systemd_until:
                writer.add_signals(at(second), [Sample("systemd_units", 40, ("active",))], "systemd")
                if times:
                    writer.add_units(at(second), [unit(self.name, group, times)])
                new = times - sum(one <= second - 10 for one in self.restarts)
                if new:
                    self.happens(second, "unit-restart", "systemd", subject=self.name, count=new)

    def _counter(self, name: str, second: int) -> Sample:
        before, after = self.counters[name]
        value = before * min(second, self.change_s) + after * max(0.0, second - self.change_s)
        return Sample(name, value)

    def _zombies(self, second: float) -> int:
        if self.restarts_only:
            return self.zombies
        if self.begins_anew_s is None or second < self.begins_anew_s:
            return self.zombies + sum(one <= second for one in self.restarts)
        return sum(self.begins_anew_s < one <= second for one in self.restarts)

    def _lives(self) -> None:
        for place, moment in enumerate(self.restarts):
            self.happens(moment - 0.2, "unit-start", "systemd", subject=self.name)
            if self.restarts_only:
                continue
            for shift_s, kind in ((0.1, "cgroup-mkdir"), (0.0, "cgroup-rmdir")):
                path = f"/system.slice/{self.name}"
                self.happens(moment - shift_s, kind, "perf", subject=path, pid=1, cgroup=1000 + place, hierarchy=4)
