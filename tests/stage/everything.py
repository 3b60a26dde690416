"""A small recording with rows in every table, sealed and not, and with names that identify somebody."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from necroscope.clock import NS
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import ParentCount, ProcessUse, Sample, Signal, UnitState, ZombieName
from stage.looked import One, batch, look, second
from stage.recorded import START_NS

SECONDS = 9
UNIT = UnitState(
    "acme-agent.service",
    "failed",
    "failed",
    "exit-code",
    3,
    "exited",
    1,
    "always",
    2.5,
    "enabled",
    control_group="/system.slice/acme-agent.service",
    main_pid=7,
)
USE = ProcessUse(1, 99, "acme-agent", "/system.slice/acme-agent.service", 1.0, 0.5, 0.25, 4096, 0)
JOB = "6f1c2a9e8b7d4c3f9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f708192a3b4c5"
ZOMBIE = ZombieName(f"/docker/{JOB}", "/docker/<id>", 4711, 1.5, 8192, "tmpfs")
SECRET = (
    ("main", "acme-trainer"),
    ("acme::Ledger::settle", "libacme.so.2"),
    ("do_syscall_64", "[kernel]"),
    ("bpf_prog_6deef7357e7b4530_acme_filter", "[bpf]"),
    ("nft_do_chain", "[nf_tables]"),
)
SIGNALS = (
    Signal("systemd_unit_restarts", "restarts", "counter", "", ("unit",)),
    Signal("memcg_zombies_below", "cgroups", "gauge", "", ("parent",)),
    Signal("cpu_time_seconds", "seconds", "counter", "", ("cpu", "mode")),
    Signal("nic_rx_packets", "packets", "counter", "", ("device",)),
)
"""Labels of the signals, as sensors declare them."""


def events(number: int) -> list[Event]:
    """What happened in a second after the start."""
    at_ns = START_NS + number * NS + 1
    stuck = f"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [acme-trainer:{number}]"
    said = "deployed /srv/acme/model-v7.bin to 10.20.30.40"
    return [
        Event(at_ns, "nic-reset", "kmsg", "eth0", f"ena 0000:20:03.0 eth0: TX queue {number} timed out"),
        Event(at_ns + 1, "soft-lockup", "kmsg", "cpu1", stuck, cpu=1, task="acme-trainer", pid=number, stall_s=22.0),
        replace(
            Event(at_ns + 5, "oom-kill", "kmsg", "acme-trainer", "", task="my thread", path=f"/kubepods/acme/{JOB}"),
            device="blue7-disk",
            driver="acme",
            reason="acme is full",
            boot="acme-boot",
        ),
        Event(
            at_ns + 2, "cgroup-rmdir", "perf", f"/docker/{JOB}", pid=77, task="acme-agent", cgroup=number, hierarchy=2
        ),
        Event(at_ns + 3, "unit-start", "systemd", "acme-agent.service", "started"),
        Event(at_ns + 4, "acme-rollout", "mark", "blue7.acme.example", said),
    ]


def fill(folder: Path, sealed: tuple[int, ...] = (2, 5), seconds: int = SECONDS) -> Writer:
    """Everything that a store can hold, sealed after some seconds; the rest is in the journal until it is closed."""
    writer = Writer(folder, flush_s=1e9, segment_s=1e9, signals=SIGNALS)
    for number in range(seconds):
        at_ns = START_NS + number * NS
        writer.add_signals(at_ns, look(number), "cpu")
        writer.add_signals(at_ns, _odd(number), "odd")
        own = One(at_ns + 7, SECRET, 0, 300, 301, "acme-trainer", f"/kubepods/acme/{JOB}")
        writer.add_samples(batch([*second(number), own]))
        writer.add_events(events(number))
        writer.add_zombies(at_ns, [ParentCount("/docker", 100 + number)])
        records = replace(USE, pid=number), replace(ZOMBIE, path=f"/docker/{number}{JOB[1:]}")
        writer.add_records(at_ns, [UNIT, *records])
        if number in sealed:
            writer.seal()
    writer.flush()
    return writer


def texts_in(store: Path) -> set[str]:
    """Every text in the segments of a store, also what dictionaries have and no row says."""
    found: set[str] = set()
    for path in store.glob("segments/*/*.parquet"):
        metadata = pq.read_metadata(path)
        columns = [metadata.row_group(0).column(number) for number in range(metadata.num_columns)]
        listed = [one.path_in_schema for one in columns if "RLE_DICTIONARY" in one.encodings]
        table = pq.read_table(path, read_dictionary=listed)
        for column in table.columns:
            if pa.types.is_dictionary(column.type):
                found.update(word for chunk in column.chunks for word in chunk.dictionary.to_pylist())
            elif pa.types.is_string(column.type):
                found.update(column.to_pylist())
    return found


def _odd(number: int) -> list[Sample]:
    """A counter that stands still, one that ends and comes back, one that gets finer, one that steps cannot hold."""
    samples = [Sample("still", 17.0), Sample("finer", number * 1.0 if number < 4 else number + 0.25)]
    if number not in (3, 4):
        samples.append(Sample("comes", 1000.0 + number))
    samples += [
        Sample("systemd_unit_restarts", number, ("acme-agent.service",)),
        Sample("nic_rx_packets", 5, ("eth0",)),
    ]
    samples += [Sample("memcg_zombies_below", number, ("/docker",)), Sample("nic_rx_packets", 5, ("acme0",))]
    return [*samples, Sample("wild", 1e300 * (number + 1) if number % 3 else float(number))]
