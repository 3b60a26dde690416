"""A recorded incident as a large machine with a hardware PMU would have recorded it.

Cores without work are not sampled, samples are of cycles with periods that differ by a factor of ten, cores change
their speed, and most of the cores have nothing to do with the incident.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from necroscope.sense.perf.event_names import is_time
from necroscope.sense.perf.idle import is_idle
from necroscope.store.format.arrow import Tables
from necroscope.store.format.segment import read_segment, write_segment
from necroscope.store.read.catalog import segments
from necroscope.vocabulary.model import MODES

SPEED_S = 3
"""How long a core keeps its speed."""


def as_pmu_machine(store: Path, folder: Path, cores: int = 96, event: str = "cycles", seed: int = 1) -> Path:
    """A copy of the sealed part of a store."""
    pick = np.random.default_rng(seed)
    folder.mkdir()
    (folder / "segments").mkdir()
    for name in ("format.json", "STORE.json", "store.json"):
        if (store / name).exists():
            (folder / name).write_bytes((store / name).read_bytes())
    for segment in segments(store):
        tables = read_segment(segment)
        changed = {**tables, **_samples(tables, event, pick), **_cores(tables, cores)}
        write_segment(folder / "segments", changed, segment.first, segment.last)
    return folder


def _samples(tables: Tables, event: str, pick: np.random.Generator) -> Tables:
    if "samples" not in tables:
        return {}
    samples, stacks = tables["samples"], tables["stacks"]
    frames = dict(zip(stacks["stack_id"].to_pylist(), stacks["frames"].to_pylist(), strict=True))
    names = samples["event"].to_pylist()
    timed = np.array([is_time(name) for name in names])
    idle = np.array([is_idle(frames.get(one, "")) for one in samples["stack_id"].to_pylist()])
    at_ns, cpu = samples["at_ns"].to_numpy(), samples["cpu"].to_numpy()
    speed = np.exp(np.sin(at_ns // (SPEED_S * 10**9) * 1.7 + cpu * 2.3) * 1.1) * 1.6
    period = samples["weight"].to_numpy() * speed * 10 ** pick.uniform(-0.5, 0.5, at_ns.size)
    weight = np.where(timed, np.rint(period), samples["weight"].to_numpy()).astype(np.int64)
    columns = {name: samples[name] for name in samples.column_names}
    columns["weight"] = pa.array(weight, samples.schema.field("weight").type)
    called = pa.array([event if yes else name for yes, name in zip(timed, names, strict=True)], pa.string())
    columns["event"] = called.cast(samples.schema.field("event").type)
    return {"samples": pa.table(columns).filter(pa.array(~(idle & timed))).cast(samples.schema)}


def _cores(tables: Tables, cores: int) -> Tables:
    """With cores that do nothing, up to so many."""
    if "cores" not in tables:
        return {}
    real = tables["cores"]
    known = set(real["cpu"].to_pylist())
    looks = real.filter(pa.array(real["cpu"].to_numpy() == min(known)))
    nothing = np.zeros(looks.num_rows, np.int32)
    more = []
    for cpu in range(cores):
        if cpu in known:
            continue
        columns = {name: looks[name] for name in looks.column_names}
        columns |= {f"{mode}_ms": pa.array(nothing, pa.int32()) for mode in MODES}
        columns |= {"idle_ms": looks["passed_ms"], "cpu": pa.array(np.full(looks.num_rows, cpu, np.int32))}
        more.append(pa.table(columns).cast(real.schema))
    return {"cores": pa.concat_tables([real, *more])}
