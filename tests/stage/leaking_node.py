"""A node of which is known what leaked on it, as a scan sees it and as a recorder writes it down: the same state."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from necroscope.query.leaks.facts import read_leak_facts
from necroscope.sense.cgroups.census_sensor import Memcg
from necroscope.sense.cgroups.zombie_names import NAMED_MOST, ZombieNames, commonest_names
from necroscope.sense.containers.engines import Containers
from necroscope.sense.kernel.tally import Tally
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.cgroup_family import pattern
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.leak_facts import LeakFacts
from necroscope.vocabulary.model import Census, ContainerState, ParentCount, Sample, UnitState, ZombieName
from stage.incident import SYSCALL, at
from stage.looked import Frames, One, batch

_MAKES: Frames = (*SYSCALL, ("cgroup_mkdir", "[kernel]"))
_SECONDS = 100
_PAST_IDS, _SHORT = 20, 12


@dataclass(frozen=True)
class Maker:
    """A process that makes cgroups."""

    pid: int
    name: str
    cgroup: str


@dataclass(frozen=True)
class Zombie:
    """A cgroup that was left behind, and who made it. Of a node's, the last in the list is the youngest."""

    path: str
    maker: Maker | None = None


@dataclass(frozen=True)
class LeakingNode:
    """Everything about leaks on a node. The youngest `seen` zombies are left behind while it is recorded."""

    zombies: tuple[Zombie, ...]
    live: tuple[str, ...] = ("/",)
    units: tuple[UnitState, ...] = ()
    containers: tuple[ContainerState, ...] = ()
    seen: int = 0
    restarts: tuple[tuple[str, str, int], ...] = ()
    """Kind of event, subject and how many, as noticed within the recording."""

    def parent(self, path: str) -> str:
        """The nearest cgroup above that lives."""
        while path not in self.live and path != "/":
            path = path.rpartition("/")[0] or "/"
        return path

    def census(self) -> Census:
        """What a walk over the kernel's memory cgroups counts."""
        tally = Tally()
        for serial, one in enumerate(self.zombies):
            parent = self.parent(one.path.rpartition("/")[0] or "/")
            tally.add(pattern(one.path), parent, one.path, serial, None, {})
            tally.add_parent(parent, 1)
        number = len(self.zombies)
        return Census(
            "v1", number + 5, 5, number, "kernel-walk", by_parent=tally.by_parent(), families=tally.families(),
            source="kernel memory", hierarchy=4,
        )  # fmt: skip

    def recorded(self, folder: Path) -> LeakFacts:
        """The facts that are read from a recording of it."""
        signals = (*ZombieNames.signals, *Containers.signals, *Memcg.signals)
        writer = Writer(folder, flush_s=1e9, segment_s=1e9, signals=signals)
        begin, end = at(0), at(_SECONDS)
        census = self.census()
        for moment in (begin, end):
            writer.add_signals(moment, [Sample("memcg_hierarchy", 4), Sample("memcg_live", 5)], "memcg")
            writer.add_zombies(moment, [ParentCount(row.path, row.zombies) for row in census.by_parent])
            writer.add_units(moment, self.units)
            writer.add_signals(moment, self._of_containers(), "containers")
            writer.add_signals(moment, commonest_names(census), "zombie-names")
        for serial, one in list(enumerate(self.zombies))[-NAMED_MOST:]:
            name = ZombieName(one.path, pattern(one.path), serial, None, 4096, "tmpfs")
            writer.add_records(at(1 + serial / 1000), [name])
        self._lives(writer)
        writer.add_events([Event(at(50), kind, "s", name, count=number) for kind, name, number in self.restarts])
        writer.close(merge=False)
        return read_leak_facts(Store(folder), end, (begin, end), [])

    def _of_containers(self) -> list[Sample]:
        found = []
        for one in self.containers:
            ids = (one.id, *one.past_ids[-_PAST_IDS:])
            found += [Sample("container_known", 1, (one.name, known[:_SHORT])) for known in dict.fromkeys(ids)]
            for signal, number in (("container_restarts", one.restarts), ("container_deaths", one.deaths)):
                found += [Sample(signal, number, (one.name,))] if number else []
        return found

    def _lives(self, writer: Writer) -> None:
        events, samples = [], []
        for place, one in enumerate(self.zombies[len(self.zombies) - self.seen :]):
            moment = 5 + place * (_SECONDS - 15) / max(1, self.seen)
            pid = one.maker.pid if one.maker is not None else 1
            for kind, when in (("cgroup-mkdir", moment), ("cgroup-rmdir", moment + 0.1)):
                life = Event(at(when), kind, "perf", one.path, pid=pid, cgroup=1000 + place, hierarchy=4)
                events.append(life)
            if (maker := one.maker) is not None:
                event = "cgroup:cgroup_mkdir"
                samples.append(One(at(moment), _MAKES, 0, maker.pid, maker.pid, maker.name, maker.cgroup, event, 1))
        writer.add_events(events)
        if samples:
            writer.add_samples(batch(samples))

    @property
    def names(self) -> Counter[str]:
        """How many bore each path."""
        return Counter(one.path for one in self.zombies)
