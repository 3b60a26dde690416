"""A recording in which everything that anybody can name has the names that a test wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from necroscope.clock import NS
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import ParentCount, Sample, Signal
from stage.everything import UNIT, USE, ZOMBIE
from stage.looked import Frames, One, batch
from stage.recorded import START_NS, look

IN_KERNEL: Frames = (("ret_from_fork", "[kernel]"), ("worker_thread", "[kernel]"))
SIGNALS = (
    Signal("systemd_unit_restarts", "restarts", "counter", "", ("unit",)),
    Signal("systemd_units", "units", "gauge", "", ("active_state",)),
    Signal("containers", "containers", "gauge", "", ("engine", "state")),
    Signal("container_known", "containers", "gauge", "", ("container", "id")),
    Signal("memcg_zombies_below", "cgroups", "gauge", "", ("parent",)),
    Signal("throttle_periods", "periods", "counter", "", ("cgroup",)),
    Signal("nic_rx_packets", "packets", "counter", "", ("device",)),
    Signal("interrupts_served", "interrupts", "counter", "", ("irq", "name")),
)


def fill(folder: Path, names: Sequence[str]) -> None:
    """Every place in which a recorder writes down somebody's name, with every name."""
    writer = Writer(folder, flush_s=1e9, segment_s=1e9, signals=SIGNALS)
    samples, events, records, looks = [], [], [], []
    for number, name in enumerate(names):
        at_ns = START_NS + number
        safe = name.replace("\x1f", "").replace("\x1e", "")
        # A file's name never begins with a bracket where modules are written down.
        file = f"./{safe}" if safe.startswith("[") else safe
        frames = (("main", file), (safe, file), ("do_syscall_64", "[kernel]"))
        forged = ((safe, "[kernel]"), ("main", "a.out"))
        bpf = (*IN_KERNEL, (f"bpf_prog_6deef7357e7b4530_{safe}", "[bpf]"), (safe, "[bpf]"))
        pids = {"pid": 1000 + number, "tid": 1000 + number}
        samples += [
            One(at_ns, frames, comm=name, cgroup=name, event=name, **pids),
            One(at_ns + 1, forged, comm=name, cgroup="/", **pids),
            One(at_ns + 2, bpf, comm=name, cgroup="/", pid=5000 + number, tid=5000),
            One(at_ns + 3, IN_KERNEL, comm=name, cgroup="/", pid=7000 + number, tid=7000),
        ]
        for source in ("kmsg", "perf", "systemd", "containers", "mark"):
            kinds = (name, "mark") if source == "mark" else ("container-restart",)
            events += [Event(at_ns, kind, source, name, f"{name} died of {name}") for kind in kinds]
        records += [
            replace(UNIT, name=name, control_group=name, wanted_by=(name,), triggered_by=(name,)),
            replace(USE, pid=number + 1, comm=name, cgroup=name),
            replace(USE, pid=number + 1, comm=name, cgroup="/", user_s=0.0, rss_bytes=0),
            replace(ZOMBIE, path=name, family=name),
        ]
        looks += [Sample(signal.name, 1.0, tuple(name for _ in signal.labels)) for signal in SIGNALS]
        looks.append(Sample("interrupts_served", 1.0, ("7", name)))
        writer.add_zombies(at_ns, [ParentCount(name, 1)])
    writer.add_samples(batch(samples))
    writer.add_events(events)
    writer.add_records(START_NS, records)
    writer.add_signals(START_NS, looks, "odd")
    for number in range(3):
        writer.add_signals(START_NS + number * NS, look(number), "cpu")
    writer.close()
