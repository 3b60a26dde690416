"""Looks and events become numbers: the recorder's thread counts, whoever scrapes reads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from necroscope import __version__, clock
from necroscope.clock import NS
from necroscope.query.case.symptom import is_symptom
from necroscope.record.metrics import declared as d
from necroscope.record.metrics.cores import Cores
from necroscope.record.metrics.owners import owner_of, pod_of
from necroscope.record.metrics.slots import Labels, Rising, Slots, largest
from necroscope.sense.sensor import Look
from necroscope.show.metrics.metric import Family, Metric, Series
from necroscope.vocabulary.event import SYMPTOM_SOURCES, Event
from necroscope.vocabulary.model import Census, ContainerState, Sample, UnitState

if TYPE_CHECKING:
    from necroscope.record.recorder import RecorderStatus

_RESULTS = {
    "job-failed": "failed",
    "ray-job-failed": "failed",
    "job-finished": "succeeded",
    "job-succeeded": "succeeded",
    "ray-job-ended": "succeeded",
    "job-stalled": "stalled",
}
_LONG_CGROUP = 100


class Metrics:
    """Filled by the recorder's thread; `families` may be asked by another."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._lock = threading.Lock()
        self.labels = dict(labels)
        self._counts = {one.name: Slots(one.most) for one in d.METRICS if one.kind == "counter"}
        self._gauges: dict[str, dict[Labels, float]] = {one.name: {} for one in d.METRICS if one.kind == "gauge"}
        self._sums = {one.signal: one for one in d.SUMMED}
        self._rising, self._cores = Rising(), Cores()
        self._families_seen = False
        # Zombies by owner at the look before, of each of the two ways to know them.
        self._owned: dict[bool, dict[str, float]] = {}
        self._pods: dict[str, str] = {}
        self._runs: dict[str, tuple[int, int]] = {}
        self._began_ns = clock.now().realtime_ns
        self._set(d.STARTED, self._began_ns / NS)
        self._set(d.BUILD, 1.0, __version__)
        for one in d.METRICS:
            if one.kind == "counter" and not one.labels:
                self.count(one, 0.0)

    # -- what the recorder tells -----------------------------------------------------------------------------

    def looked(self, looks: Sequence[Look]) -> None:
        """Looks of sensors."""
        with self._lock:
            for look in looks:
                self._look(look)

    def measured(self, samples: Sequence[Sample]) -> None:
        """What the recorder measured of itself."""
        with self._lock:
            self._sum(samples)

    def happened(self, events: Iterable[Event]) -> None:
        """Events, each once."""
        with self._lock:
            for event in events:
                self._event(event)

    def stands(self, status: RecorderStatus) -> None:
        """How it goes."""
        with self._lock:
            self._raise_to(d.SAMPLES, status.samples)
            self._raise_to(d.LOST, status.lost)
            self._set(d.TROUBLES, len(status.troubles))
            self._set(d.STORE_BYTES, status.bytes)
            if status.hours_left is not None:
                self._set(d.STORE_HOLDS, status.hours_left * 3600)
            self._rising.forget()

    # -- what others tell ------------------------------------------------------------------------------------

    def count(self, metric: Metric, amount: float, *labels: str) -> None:
        """Count something of the recorder's own."""
        with self._lock:
            self._count(metric, amount, *labels)

    def put(self, metric: Metric, value: float, *labels: str) -> None:
        """A gauge of the recorder's own."""
        with self._lock:
            self._set(metric, value, *labels)

    def held(self, least_s: float) -> set[str]:
        """Cores that have been held in the kernel for so long by now; of the recorder's thread only."""
        return {cpu for cpu, run_s in self._cores.in_kernel_s.items() if run_s >= least_s}

    def families(self) -> list[Family]:
        """Everything, as it stands."""
        with self._lock:
            found = [(metric, self._series(metric)) for metric in d.METRICS]
            labels = self.labels
        return [*found, (d.node_info(labels), [Series(tuple(labels.values()), 1.0)])]

    # -- inside ----------------------------------------------------------------------------------------------

    def _series(self, metric: Metric) -> list[Series]:
        if metric.kind == "counter":
            return list(self._counts[metric.name].series())
        found = largest(self._gauges[metric.name], metric.most)
        # Times of which there are too many add up to nothing.
        return found[: metric.most] if metric is d.VERDICT_AT else found

    def _count(self, metric: Metric, amount: float, *labels: str) -> None:
        self._counts[metric.name].add(labels, amount, clock.elapsed_s())

    def _raise_to(self, metric: Metric, value: float) -> None:
        self._count(metric, self._rising.by(metric.name, (), value))

    def _set(self, metric: Metric, value: float, *labels: str) -> None:
        self._gauges[metric.name][labels] = value

    def _look(self, look: Look) -> None:
        self._set(self._sums["sensor_seen"], float(bool(look.reading.samples) or not look.reading.unseen), look.sensor)
        if (handle := _SENSORS.get(look.sensor)) is not None:
            handle(self, look)

    def _plain(self, look: Look) -> None:
        self._sum(look.reading.samples)

    def _sum(self, samples: Iterable[Sample]) -> None:
        """Signals that are metrics as they are; over labels that a metric does not have, the sum."""
        levels: dict[tuple[str, Labels], float] = {}
        for sample in samples:
            metric = self._sums.get(sample.signal)
            if metric is None:
                continue
            labels = sample.labels[: len(metric.labels)]
            if metric.kind == "counter":
                self._count(metric, self._rising.by(sample.signal, sample.labels, sample.value), *labels)
            else:
                levels[metric.name, labels] = levels.get((metric.name, labels), 0.0) + sample.value
        for (name, labels), value in levels.items():
            self._gauges[name][labels] = value

    def _cpu(self, look: Look) -> None:
        for one in self._cores.look(look.reading.samples, clock.elapsed_s()):
            self._count(d.SATURATED_S, one.seconds, one.cpu, one.mode)
        self._set(d.SATURATED, self._cores.now)
        self._set(d.SATURATED_RUN, self._cores.longest_s)

    def _census(self, look: Look) -> None:
        self._sum(look.reading.samples)
        for record in look.reading.records:
            if not isinstance(record, Census) or record.zombies is None:
                continue
            if not self._families_seen:
                self._owners((one.path, one.zombies) for one in record.by_parent)

    def _named(self, look: Look) -> None:
        """Names from the kernel's memory say more than the cgroup above; in a namespace, only they count zombies."""
        self._sum(look.reading.samples)
        found = [(one.labels[0], one.value) for one in look.reading.samples if one.signal == "memcg_zombies_family"]
        if found:
            self._families_seen = True
            self._owners(found)

    def _owners(self, found: Iterable[tuple[str, float]]) -> None:
        now: dict[str, float] = {}
        for path, zombies in found:
            now[owner_of(path)] = now.get(owner_of(path), 0.0) + zombies
        self._born(now)
        owners: dict[Labels, float] = dict.fromkeys(self._gauges[d.ZOMBIES_BY_OWNER.name], 0.0)
        owners |= {(owner,): zombies for owner, zombies in now.items()}
        # One that is gone is told as 0, so that an alert sees it end; only the largest are remembered.
        kept = sorted(owners, key=lambda one: -owners[one])[: 4 * d.ZOMBIES_BY_OWNER.most]
        self._gauges[d.ZOMBIES_BY_OWNER.name] = {one: owners[one] for one in kept}

    def _born(self, now: Mapping[str, float]) -> None:
        """What came since the look before. At the first look, whoever owns zombies has none that came."""
        before = self._owned.get(self._families_seen)
        largest_first = sorted(now, key=lambda owner: -now[owner])
        for owner in largest_first[: 4 * d.ZOMBIES_BORN.most]:
            came = 0.0 if before is None else now[owner] - before.get(owner, 0.0)
            if came > 0:  # places are for those that leak, not for those that have zombies
                self._count(d.ZOMBIES_BORN, came, owner)
        self._owned[self._families_seen] = dict(now)

    def _throttle(self, look: Look) -> None:
        for sample in look.reading.samples:
            if sample.signal == "throttle_throttled_seconds":
                more = self._rising.by(sample.signal, sample.labels, sample.value)
                if more > 0:
                    self._count(d.THROTTLED_S, more, *pod_of(sample.labels[0], self._pods))

    def _containers(self, look: Look) -> None:
        states = [one for one in look.reading.records if isinstance(one, ContainerState)]
        if states:
            self._pods = {one.id: one.name for one in states if one.id and one.name.count("/") == 2}

    def _units(self, look: Look) -> None:
        for record in look.reading.records:
            if isinstance(record, UnitState) and (record.failures or record.restarts):
                well, ill = record.successes or 0, record.failures or 0
                if well + ill:
                    self._runs[record.name] = well, ill
        if len(self._runs) > 2_000:
            self._runs.clear()
        worst = sorted(self._runs, key=lambda name: -self._runs[name][1])[: d.UNIT_SUCCESS.most]
        shares: dict[Labels, float] = {(name,): self._runs[name][0] / sum(self._runs[name]) for name in worst}
        self._gauges[d.UNIT_SUCCESS.name] = shares

    def _event(self, event: Event) -> None:
        if event.source in SYMPTOM_SOURCES:
            self._symptom(event)
        elif event.kind == "unit-restart":
            self._count(d.UNIT_RESTARTS, event.count or 1, event.subject)
        elif event.kind == "container-restart":
            self._count(d.CONTAINER_RESTARTS, event.count or 1, event.subject)
        elif event.kind == "recorder-gap":
            self._count(d.GAPS, 1, event.subject)
            missing_ns = (event.to_ns or 0) - (event.from_ns or 0)
            self._count(d.GAP_S, max(0, missing_ns) / NS, event.subject)

    def _symptom(self, event: Event) -> None:
        if event.at_ns < self._began_ns - NS and event.source == "kmsg":
            return  # of before: the first look reads all of the kernel's log
        if event.kind == "nic-reset":
            self._count(d.NIC_RESETS, 1, event.device or event.subject, event.reason)
        if event.source != "mark" or is_symptom(event):
            self._count(d.SYMPTOMS, 1, event.kind)
        if result := _RESULTS.get(event.kind):
            self._count(d.JOBS, 1, result)


_SENSORS: Mapping[str, Callable[[Metrics, Look], None]] = {
    "cpu": Metrics._cpu,
    "run-delay": Metrics._plain,
    "pressure": Metrics._plain,
    "vmstat": Metrics._plain,
    "nic": Metrics._plain,
    "tcp": Metrics._plain,
    "memcg": Metrics._census,
    "zombie-names": Metrics._named,
    "throttle": Metrics._throttle,
    "containers": Metrics._containers,
    "systemd": Metrics._units,
}
