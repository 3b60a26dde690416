"""What the store takes: bytes per sample, CPU of writing, time of questions. Synthetic rows with the statistics of a
recording of two busy cores: 97 Hz, jitter of a few microseconds with a long tail, a new stack in every tenth sample
after minutes (a Pitman-Yor process), 300 signals a second of which a third move. Needs no root; about two minutes.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.query.sql.engine import Engine
from necroscope.sense.perf.samples import SampleBatch, Stack, canonical_frame, stack_id
from necroscope.store.format.segment import read_segment, write_segment
from necroscope.store.read.catalog import create
from necroscope.store.read.reader import Store
from necroscope.store.write.retention import Retention
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.model import Sample, Signal

RUNS = 5
CORES = 2
HZ = 97
PERIOD_NS = NS // HZ
START_NS = 1_767_323_045_000_000_000
SEGMENTS = 360
KEEP = Retention(max_bytes=1 << 40, max_age_s=1e9, free_bytes=0)
CPU_TIMES = Signal("cpu_time_seconds", "seconds", "counter", "", ("cpu", "mode"))


class Load:
    """Seconds of a made-up busy node."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self._noise = np.random.default_rng(seed)
        self._functions = [
            f"{prefix}_{number:x}" for prefix in ("do", "sys", "ext4", "PyEval") for number in range(900)
        ]
        self._stacks: list[Stack] = []
        self._drawn: list[int] = []
        self._tasks = [(self._chance.randrange(300, 60_000), f"task-{number % 40}") for number in range(250)]
        self._comms = tuple(dict.fromkeys(comm for _, comm in self._tasks))
        self._running = [0] * CORES
        self._counters = [0.0] * 120
        self._gauges = [0.0] * 180

    def second(self, number: int) -> SampleBatch:
        """The samples of one second."""
        fresh = len(self._stacks)
        cpu = np.repeat(np.arange(CORES, dtype=np.int32), HZ)
        grid = START_NS + number * NS + np.tile(np.arange(HZ) * PERIOD_NS, CORES) + cpu * 4_700_000
        tasks = np.array([self._task(core) for core in cpu.tolist()])
        drawn = [self._draw() for _ in range(cpu.size)]
        count = cpu.size
        pids = np.array([self._tasks[task][0] for task in tasks], np.int32)
        return SampleBatch(
            at_ns=grid + self._jitter(count),
            cpu=cpu,
            pid=pids,
            tid=pids + (tasks % 5 == 0).astype(np.int32),
            comm=np.array([self._comms.index(self._tasks[task][1]) for task in tasks], np.int32),
            comms=self._comms,
            cgroup=(tasks % 12).astype(np.int32),
            cgroups=tuple(f"/system.slice/unit-{number}.service" for number in range(12)),
            event=np.zeros(count, np.int32),
            events=("cpu-clock",),
            weight=np.full(count, PERIOD_NS, np.int64),
            stack_id=np.array([self._stacks[place].stack_id for place in drawn], np.uint64),
            stacks=tuple(self._stacks[fresh:]),
        )

    def look(self) -> list[Sample]:
        """300 signals: 16 times of cores, 104 other counters of all speeds, 180 gauges that mostly stand still."""
        for place in range(len(self._counters)):
            rate = 0.01 * self._chance.randrange(60) if place < 16 else self._noise.poisson(10 ** (place % 6 - 2))
            self._counters[place] += float(rate)
        for place in range(0, len(self._gauges), 4):
            self._gauges[place] += float(self._chance.choice((0, 0, 4096, -8192)))
        modes = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
        times = [
            Sample("cpu_time_seconds", round(self._counters[n], 2), (str(n // 8), modes[n % 8])) for n in range(16)
        ]
        counters = [Sample(f"counter_{n}", self._counters[n]) for n in range(16, 120)]
        return times + counters + [Sample(f"gauge_{n}", value) for n, value in enumerate(self._gauges)]

    def _jitter(self, count: int) -> NDArray[np.int64]:
        late = self._noise.lognormal(np.log(4_000), 1.0, count)
        late += np.where(self._noise.random(count) < 0.015, self._noise.exponential(300_000, count), 0)
        return late.astype(np.int64)

    def _task(self, core: int) -> int:
        if self._chance.random() < 0.2:
            self._running[core] = int(self._chance.paretovariate(0.9)) % len(self._tasks)
        return self._running[core]

    def _draw(self) -> int:
        known, drawn = len(self._stacks), len(self._drawn)
        if self._chance.random() < (300 + 0.5 * known) / (300 + drawn):
            self._stacks.append(self._new_stack())
            self._drawn.append(known)
        else:
            self._drawn.append(self._drawn[self._chance.randrange(drawn)])
        return self._drawn[-1]

    def _new_stack(self) -> Stack:
        base = self._chance.choice(self._stacks) if self._stacks else None
        kept = self._chance.randrange(len(base.frames) + 1) if base else 0
        names = [
            self._functions[int(self._chance.paretovariate(0.6)) % 3600] for _ in range(self._chance.randint(1, 6))
        ]
        frames = (base.frames[:kept] if base else ()) + tuple(names)
        modules = (base.modules[:kept] if base else ()) + tuple(
            "python3.11" if name.startswith("Py") else "[kernel]" for name in names
        )
        identity = stack_id(canonical_frame(*pair) for pair in zip(frames, modules, strict=True))
        return Stack(identity, frames, modules)


def main() -> None:
    """Print the tables."""
    with tempfile.TemporaryDirectory(prefix="necroscope-bench-") as folder:
        _sizes(Path(folder))
        _questions(Path(folder))


def _sizes(folder: Path) -> None:
    print("| recorded | samples | stacks | segments | bytes/sample, all in | writer CPU, of one core | longest call |")
    print("|---|---|---|---|---|---|---|")
    for minutes in (2, 10, 60):
        load, store = Load(), folder / f"{minutes}"
        writer = Writer(store, flush_s=1e9, segment_s=1e9, retention=KEEP, signals=[CPU_TIMES])
        spent = [used for number in range(minutes * 60) for used in _record(writer, load, number)]
        writer.close()
        taken = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
        samples = len(load._drawn)
        print(
            f"| {minutes} min | {samples:,} | {len(load._stacks):,} | {len(list((store / 'segments').iterdir()))} "
            f"| {taken / samples:.2f} | {100 * sum(spent) / (minutes * 60):.2f} % | {1000 * max(spent):.0f} ms |",
            flush=True,
        )


def _record(writer: Writer, load: Load, number: int) -> Iterator[float]:
    samples, look = load.second(number), load.look()
    started = time.process_time()
    writer.add_samples(samples)
    writer.add_signals(START_NS + number * NS, look, "all")
    if number % 120 == 119:
        writer.seal()
    else:
        writer.flush()
    yield time.process_time() - started


def _questions(folder: Path) -> None:
    store = _many_segments(folder / "many", next((folder / "2" / "segments").iterdir()).parent.parent)
    middle = START_NS + SEGMENTS * 60 * NS
    window = (middle, middle + 5 * NS)
    plain = f"at_ns between {window[0]} and {window[1]}"
    flame = "select frames, count(*) from samples join stacks using (stack_id) group by all"
    rows = [
        ("5 s: samples by thread", window, "select comm, count(*) from samples group by 1"),
        ("5 s: flame graph", window, flame),
        ("5 s: cores", window, "select * from cores"),
        ("5 s: signals", window, "select count(*) from signals"),
        ("5 s, no window: samples by thread", None, f"select comm, count(*) from samples where {plain} group by 1"),
        (
            "12 h: samples by core and second, raw",
            None,
            "select at_ns // 1000000000, cpu, count(*) from samples group by 1, 2",
        ),
        (
            "12 h: samples by core and second, roll-up",
            None,
            "select at_ns, cpu, sum(samples) from seconds group by 1, 2",
        ),
        ("12 h: one signal", None, "select count(*) from signals where name = 'counter_17'"),
    ]
    print(f"\n{SEGMENTS} segments of 2 minutes, {SEGMENTS * 120 * HZ * CORES:,} samples; medians of {RUNS}\n")
    print("| question | open store | answer |\n|---|---|---|")
    for name, within, sql in rows:
        opened, answered = zip(*(_ask(store, within, sql) for _ in range(RUNS)), strict=True)
        print(f"| {name} | {statistics.median(opened):.3f} s | {statistics.median(answered):.3f} s |", flush=True)


def _many_segments(folder: Path, source: Path) -> Path:
    """The same two minutes over and over, each at its own time."""
    create(folder)
    (one,) = Store(source).snapshot().segments
    tables = read_segment(one)
    for number in range(SEGMENTS):
        moved = dict(tables)
        for name in ("samples", "ticks"):
            times = pa.array(tables[name]["at_ns"].to_numpy() + number * 120 * NS)
            moved[name] = moved[name].set_column(
                moved[name].column_names.index("at_ns"), moved[name].field("at_ns"), times
            )
        for name in ("series", "ticks", "changes"):
            chunk = pa.array(np.full(tables[name].num_rows, number + 1, np.int64))
            moved[name] = moved[name].set_column(0, moved[name].field("chunk"), chunk)
        write_segment(folder / "segments", moved, number + 1, number + 1)
    return folder


def _ask(store: Path, window: tuple[int, int] | None, sql: str) -> tuple[float, float]:
    started = time.perf_counter()
    with Engine(Store(store), window) as engine:
        opened = time.perf_counter()
        sum(batch.num_rows for batch in engine.ask(sql).batches)
        return opened - started, time.perf_counter() - opened


if __name__ == "__main__":
    main()
