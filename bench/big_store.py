"""A large store, made up: H hours of a busy node with many cores, sealed as its recorder would seal it.

    python -m bench.big_store FOLDER [HOURS [CORES]]

Every sample is drawn on its own: its stack from a Pitman-Yor process (discount 0.5, concentration 300, by stick
breaking; 12 h of 96 cores name some 700,000 different ones), its time from the grid of its core with late ticks. A
stack belongs to a program, but every tenth is the kernel's and seen under all of them. Signals are those of one look
after the other for one segment, repeated with other times. Before each symptom one core is held in the kernel for some
seconds by a process that is seen at no other time, so that `why` has something to find. Compression is the quick one,
so that 402 M samples take minutes: files are larger than a recorder's, which costs readers rather than helps them.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.store.format.arrow import Tables, from_columns
from necroscope.store.format.rows import event_rows
from necroscope.store.format.segment import FAST, write_segment
from necroscope.store.format.signals import SignalLog
from necroscope.store.format.tables import CORES as CORE_ROWS
from necroscope.store.format.tables import LIVE_SAMPLES, LIVE_STACKS, Event
from necroscope.store.read.catalog import create, segments
from necroscope.store.read.rollups import Roller
from necroscope.vocabulary.model import Sample

HZ = 97
PERIOD_NS = NS // HZ
START_NS = 1_767_323_050_000_000_000
# 96 cores fill a journal (300,000 rows, signals among them) in half a minute.
SEGMENT_S = 30
DISCOUNT, CONCENTRATION = 0.5, 300.0
MOST_STACKS = 700_000
PROGRAMS = 40
THREADS = 8
SYMPTOM_EVERY = 20
TAKEN_CORE, TAKEN_S = 39, 6
WALK = "".join(
    f"{name}\x1f{module}\x1e"
    for name, module in (
        ("main", "walker"),
        *((name, "[kernel]") for name in ("do_syscall_64", "try_charge_memcg", "shrink_node", "mem_cgroup_iter")),
    )
)
_MODES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


class Node:
    """The stacks of a node and how often each is seen."""

    def __init__(self, cores: int, stacks: int = MOST_STACKS, seed: int = 1) -> None:
        self.cores = cores
        texts, self.program = _stacks(stacks, random.Random(seed))
        self.program = np.append(self.program, np.int16(PROGRAMS))
        self.texts = pa.array([*texts, WALK], pa.string())
        digests = b"".join(hashlib.blake2b(text.encode(), digest_size=8).digest() for text in (*texts, WALK))
        self.ids = np.frombuffer(digests, np.uint64)
        number = np.arange(1, stacks + 1)
        broken = np.random.default_rng(seed).beta(1 - DISCOUNT, CONCENTRATION + number * DISCOUNT)
        left = np.concatenate([[0.0], np.cumsum(np.log1p(-broken))])
        self.reach = 1.0 - np.exp(left[1:])
        self.reach[-1] = 1.0
        self.signals = _signals(cores)

    def segment(self, number: int, seconds: int = SEGMENT_S) -> Tables:
        """The rows of one segment; numbers begin at 1."""
        noise = np.random.default_rng(number)
        begin_ns = START_NS + (number - 1) * SEGMENT_S * NS
        stack = np.searchsorted(self.reach, noise.random(self.cores * HZ * seconds))
        core = min(TAKEN_CORE, self.cores - 1)
        if number % SYMPTOM_EVERY == 0:
            stack.reshape(-1, self.cores)[: TAKEN_S * HZ, core] = len(self.texts) - 1
        seen = np.unique(stack)
        stacks = {"stack_id": self.ids[seen], "frames": self.texts.take(pa.array(seen))}
        return {
            "samples": from_columns(LIVE_SAMPLES, self._samples(stack, begin_ns, seconds, noise)),
            "stacks": from_columns(LIVE_STACKS, stacks),
            "cores": _core_rows(self.cores, begin_ns, seconds, noise, core if number % SYMPTOM_EVERY == 0 else None),
            "events": event_rows(_events(number, begin_ns)),
            **_moved(self.signals, number, begin_ns),
        }

    def _samples(
        self, stack: NDArray[np.int64], begin_ns: int, seconds: int, noise: np.random.Generator
    ) -> dict[str, Any]:
        ticks = np.arange(HZ * seconds, dtype=np.int64) * NS // HZ
        core = np.arange(self.cores, dtype=np.int32)
        late = noise.lognormal(np.log(4_000), 1.0, stack.size)
        late += np.where(noise.random(stack.size) < 0.015, noise.exponential(300_000, stack.size), 0)
        grid = (ticks[:, None] + (core * 97_003 % PERIOD_NS)[None, :]).reshape(-1)
        program = self.program[stack]
        program = np.where(program < 0, noise.integers(0, PROGRAMS, stack.size), program).astype(np.int32)
        pid = 1_000 + program * 50
        return {
            "at_ns": begin_ns + np.minimum(grid + late.astype(np.int64), seconds * NS - 1),
            "cpu": np.tile(core, ticks.size),
            "pid": pid,
            "tid": pid + noise.integers(0, THREADS, stack.size, np.int32),
            "comm": _words(program, [*(f"program-{one}" for one in range(PROGRAMS)), "walker"]),
            "cgroup": _words(program % 12, [f"/system.slice/unit-{one}.service" for one in range(12)]),
            "event": _words(np.zeros(stack.size, np.int32), ["cpu-clock"]),
            "weight": np.full(stack.size, PERIOD_NS, np.int64),
            "stack_id": self.ids[stack],
        }


def build(folder: Path, hours: float, cores: int = 96, node: Node | None = None) -> None:
    """Fill a new store, two segments at a time, and make the roll-ups that its recorder would have made."""
    create(folder)
    made_of = node or Node(cores)
    numbers = range(1, max(1, round(hours * 3600 / SEGMENT_S)) + 1)
    with multiprocessing.get_context("fork").Pool(os.cpu_count(), _begin, (made_of, folder)) as pool:
        for _ in pool.imap_unordered(_seal, numbers, chunksize=4):
            pass
    Roller(folder).tidy(segments(folder), most=len(numbers))


def large_store(scratch: Path, hours: float, node: Node | None = None) -> Path:
    """The store in the folder that NECROSCOPE_BENCH_STORE names, else in `scratch`; made when it is not there."""
    folder = Path(os.environ.get("NECROSCOPE_BENCH_STORE") or scratch / "large")
    if not (folder / "format.json").exists():
        started = time.perf_counter()
        build(folder, hours, node=node)
        print(f"made {folder.name} in {time.perf_counter() - started:.0f} s", flush=True)
    return folder


class _Shop:
    """What the processes that seal segments share."""

    node: Node
    folder: Path


def _begin(node: Node, folder: Path) -> None:
    _Shop.node, _Shop.folder = node, folder
    pa.set_cpu_count(1)


def _seal(number: int) -> None:
    write_segment(_Shop.folder / "segments", _Shop.node.segment(number), number, number, FAST)


def _stacks(count: int, chance: random.Random) -> tuple[list[str], NDArray[np.int16]]:
    """Texts of stacks and the program of each, -1 for those of all: most share their outer frames with an older one."""
    functions = [
        f"{prefix}_{number:x}\x1f{'python3.11' if prefix == 'PyEval' else '[kernel]'}\x1e"
        for prefix in ("do", "sys", "ext4", "PyEval")
        for number in range(900)
    ]
    common = [int(chance.paretovariate(0.6)) % len(functions) for _ in range(1 << 16)]
    stacks: list[tuple[str, ...]] = []
    program = np.empty(count, np.int16)
    for place in range(count):
        base = chance.randrange(place) if place else 0
        program[place] = chance.randrange(PROGRAMS) if place < 8 * PROGRAMS else program[base]
        if place % 10 == 0:
            program[place] = -1
        outer = stacks[base] if place >= 8 * PROGRAMS else (f"main_{program[place]}\x1fprogram\x1e",)
        kept = chance.randint(len(outer) // 2 or 1, len(outer))
        fresh = tuple(functions[common[chance.getrandbits(16)]] for _ in range(chance.randint(1, 6)))
        stacks.append(outer[:kept] + fresh)
    return ["".join(frames) for frames in stacks], program


def _words(codes: NDArray[Any], names: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(names, pa.string()))


def _core_rows(
    cores: int, begin_ns: int, seconds: int, noise: np.random.Generator, taken: int | None = None
) -> pa.Table:
    count = cores * seconds
    share = noise.dirichlet((6.0, 2.0, 0.05, 0.3, 0.01, 1.5), count)
    spent = np.floor(share * 1000).astype(np.int32)
    spent[:, 5] += 1000 - spent.sum(axis=1).astype(np.int32)
    if taken is not None:
        spent.reshape(seconds, cores, 6)[:TAKEN_S, taken] = (0, 1000, 0, 0, 0, 0)
    names = ("user_ms", "system_ms", "irq_ms", "softirq_ms", "steal_ms", "idle_ms")
    columns = {
        "at_ns": begin_ns + np.repeat(np.arange(1, seconds + 1, dtype=np.int64), cores) * NS - 20_000_000,
        "cpu": np.tile(np.arange(cores, dtype=np.int32), seconds),
        "passed_ms": np.full(count, 1000, np.int32),
        **{name: spent[:, place] for place, name in enumerate(names)},
    }
    return from_columns(CORE_ROWS, columns)


def _events(number: int, begin_ns: int) -> Iterator[Event]:
    for place in range(20):
        yield Event(begin_ns + place * NS, "cgroup-mkdir", "perf", f"/system.slice/run-{number}-{place}", "made")
    if number % SYMPTOM_EVERY == 0:
        yield Event(begin_ns + 7 * NS, "nic-reset", "kmsg", "eth0", f"ena 0000:00:05.0 eth0: reset {number}")


def _signals(cores: int) -> Tables:
    """The looks of one segment: times of cores, and 300 others of which a third move."""
    chance = random.Random(2)
    log, times = SignalLog(1, {"cpu_time_seconds": ("cpu", "mode")}, {}), [0.0] * (cores * 8 + 300)
    for tick in range(SEGMENT_S):
        for place in range(len(times)):
            if place < cores * 8 or place % 3 == 0:
                times[place] = round(times[place] + chance.randrange(40) / 100, 2)
        look = [
            Sample("cpu_time_seconds", times[place], (str(place // 8), _MODES[place % 8])) for place in range(cores * 8)
        ]
        look += [Sample(f"signal_{place}", times[cores * 8 + place]) for place in range(300)]
        log.add(tick * NS, look, "all")
    return log.take()


def _moved(tables: Tables, number: int, begin_ns: int) -> Tables:
    moved = dict(tables)
    for name, table in tables.items():
        chunk = pa.array(np.full(table.num_rows, number, np.int64))
        moved[name] = table.set_column(0, table.schema.field("chunk"), chunk)
    times = pa.array(tables["ticks"]["at_ns"].to_numpy() + begin_ns)
    field = moved["ticks"].schema.field("at_ns")
    moved["ticks"] = moved["ticks"].set_column(2, field, times)
    return moved


def main() -> None:
    """Build the store that the arguments say."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder, hours, cores = Path(sys.argv[1]), float((sys.argv[2:] or ["12"])[0]), int((sys.argv[3:] or ["96"])[0])
    started = time.perf_counter()
    build(folder, hours, cores)
    segments = list((folder / "segments").iterdir())
    taken = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    samples = len(segments) * SEGMENT_S * cores * HZ
    print(f"{samples:,} samples, {len(segments):,} segments, {taken:,} bytes, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
