"""The checks, one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from necroscope.config import Config
from necroscope.errors import Unavailable
from necroscope.quantity import share, size, span
from necroscope.record.doctor.trial import Trial, tried
from necroscope.record.plan import retention_of
from necroscope.sense.cgroups.hierarchies import layout
from necroscope.sense.containers.cgroup_drivers import kubelet_driver, runtime_drivers
from necroscope.sense.host import Host
from necroscope.show.doctor.checkup import Check, Checkup
from necroscope.store.lock import is_held
from necroscope.store.write.retention import disk_of, hours_held

NEEDED = {
    "kmsg": "symptoms: the kernel's log tells of them",
    "cpu": "starved cores",
    "memcg": "zombie cgroups",
}
"""Sensors without which most verdicts cannot be made, and what they see."""
LEAST_H = 24.0


def examine(host: Host, config: Config, store: Path) -> Checkup:
    """Everything; takes about six seconds. Changes nothing that stays."""
    trial, refused = _trial(host, config)
    checks = [*refused, *_perf(trial, config), *_sensors(trial)] if trial is not None else refused
    hours = _hours(store, config, trial.bytes_per_s) if trial is not None else None
    checks += [*_store(store, config, hours), *drivers(host)]
    if trial is None:
        return Checkup(tuple(checks))
    return Checkup(tuple(checks), trial.cpu_share, trial.memory_bytes, trial.bytes_per_s, hours)


def _trial(host: Host, config: Config) -> tuple[Trial | None, list[Check]]:
    try:
        return tried(host, config), []
    except Unavailable as error:
        return None, [Check("recording", "blind", error.message, error.hint)]


def _perf(trial: Trial, config: Config) -> Iterator[Check]:
    if not config.record.perf:
        yield Check("samples", "note", "the settings switch perf off: no core is asked who was on it", "perf = true")
    elif trial.complaint or not trial.samples:
        text = trial.complaint or "perf runs, and no sample came"
        yield Check("samples", "blind", text, "record as root, or with CAP_PERFMON; install linux-perf")
    else:
        yield Check("samples", "fine", f"{config.record.frequency_hz} Hz with stacks on every core")
    for event in trial.events:
        if event.kind == "perf-lacks":
            yield Check("samples", "note", event.text)


def _sensors(trial: Trial) -> Iterator[Check]:
    for name in sorted(trial.seen | trial.unseen.keys()):
        unseen = trial.unseen.get(name)
        if unseen is None:
            if name in NEEDED:
                yield Check(name, "fine", NEEDED[name])
        elif name in NEEDED and name not in trial.seen:
            yield Check(name, "blind", f"{NEEDED[name]}, but {unseen.reason}", unseen.hint)
        else:
            yield Check(name, "note", unseen.reason, unseen.hint)


def _store(store: Path, config: Config, hours: float | None) -> Iterator[Check]:
    if is_held(store):
        yield Check("store", "fine", f"a recorder writes {store} now")
    place = next(one for one in (store, *store.parents) if one.exists())
    if not os.access(place, os.W_OK):
        yield Check("store", "wrong", f"{place} cannot be written", "run as root, or give --store")
        return
    disk, limits = disk_of(place), retention_of(config)
    limit_bytes = limits.limit_bytes(disk)
    text = f"{store}: at most {size(limit_bytes)} of {size(disk.total_bytes)}, {size(disk.free_bytes)} free"
    if disk.free_bytes < limits.free_bytes:
        yield Check("store", "wrong", f"{text}: less than is to stay free", "make room, or set min_free_bytes")
    elif hours is not None and hours < LEAST_H:
        yield Check("store", "note", f"{text}: holds {span(hours * 3600)}", "set max_bytes of [store], or another path")
    else:
        yield Check("store", "fine", text)


def _hours(store: Path, config: Config, bytes_per_s: float | None) -> float | None:
    place = next(one for one in (store, *store.parents) if one.exists())
    if not bytes_per_s:
        return None
    limits = retention_of(config)
    return hours_held(limits.limit_bytes(disk_of(place)), limits, bytes_per_s)


def drivers(host: Host) -> Iterator[Check]:
    """A kubelet whose cgroup driver differs from its runtime's."""
    kubelet = kubelet_driver(host)
    if kubelet is None:
        return
    for runtime in runtime_drivers(host, layout(host).mode == "v2"):
        said = f"the kubelet uses {kubelet.driver} ({kubelet.source}), {runtime.program} {runtime.driver}"
        if runtime.driver == kubelet.driver:
            yield Check("cgroup-driver", "fine", f"{said} ({runtime.source})")
        else:
            hint = f"set cgroupDriver of the kubelet and of {runtime.program} to systemd, one node at a time, drained"
            yield Check("cgroup-driver", "wrong", f"{said} ({runtime.source})", hint)


def summary(found: Checkup) -> str:
    """What recording takes, in a sentence; empty where it could not be tried."""
    if found.cpu_share is None or found.memory_bytes is None or found.bytes_per_s is None:
        return ""
    holds = f"; at this load the store holds {span(found.hours * 3600)}" if found.hours is not None else ""
    disk = f"{size(round(found.bytes_per_s))}/s on disk"
    return f"recording takes {share(found.cpu_share)} of one core, {size(found.memory_bytes)} memory, {disk}{holds}"
