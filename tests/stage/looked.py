"""Recordings whose every sample is known, and profiles with realistic noise, to ask about windows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from necroscope.clock import NS
from necroscope.query.samples.sample_counts import SampleCounts, Task
from necroscope.sense.perf.samples import SampleBatch
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.model import Sample
from stage.recorded import LOOP, PERIOD_NS, START_NS, SYSCALL, WALK, stack

Frames = tuple[tuple[str, str], ...]
IDLE: Frames = (("cpu_startup_entry", "[kernel]"), ("do_idle", "[kernel]"), ("default_idle", "[kernel]"))
TICK: Frames = (*IDLE, ("asm_sysvec_apic_timer_interrupt", "[kernel]"), ("tick_sched_timer", "[kernel]"))
KINDS = (SYSCALL, LOOP, WALK, IDLE, TICK)
HZ = 97


@dataclass(frozen=True)
class One:
    """A sample."""

    at_ns: int
    frames: Frames = LOOP
    cpu: int = 0
    pid: int = 100
    tid: int = 100
    comm: str = "worker"
    cgroup: str = "/a"
    event: str = "cpu-clock"
    weight: int = PERIOD_NS


def text(frames: Iterable[tuple[str, str]]) -> str:
    """The canonical text of frames."""
    return "".join(f"{name}\x1f{module}\x1e" for name, module in frames)


def batch(ones: Sequence[One]) -> SampleBatch:
    """Samples for a writer."""
    known = {frames: stack(frames) for frames in {one.frames for one in ones}}

    def words(values: list[str]) -> tuple[np.ndarray, tuple[str, ...]]:
        names = sorted(set(values))
        return np.array([names.index(value) for value in values], np.int32), tuple(names)

    comm, comms = words([one.comm for one in ones])
    cgroup, cgroups = words([one.cgroup for one in ones])
    event, events = words([one.event for one in ones])
    return SampleBatch(
        at_ns=np.array([one.at_ns for one in ones], np.int64),
        cpu=np.array([one.cpu for one in ones], np.int32),
        pid=np.array([one.pid for one in ones], np.int32),
        tid=np.array([one.tid for one in ones], np.int32),
        comm=comm,
        comms=comms,
        cgroup=cgroup,
        cgroups=cgroups,
        event=event,
        events=events,
        weight=np.array([one.weight for one in ones], np.int64),
        stack_id=np.array([known[one.frames].stack_id for one in ones], np.uint64),
        stacks=tuple(known.values()),
    )


def second(number: int, a_second: int = 60, event: str = "cpu-clock") -> list[One]:
    """Samples of one second after the start: two cores, three processes, all kinds of stacks, never in step."""
    pick = np.random.default_rng(number).integers
    found = []
    for index in range(a_second):
        pid = 100 + int(pick(3))
        found.append(
            One(
                START_NS + number * NS + index * (NS // a_second),
                KINDS[int(pick(len(KINDS)))],
                int(pick(2)),
                pid,
                pid + int(pick(2)) * 10,
                ("worker", "my thread", "agent")[pid - 100],
                ("", "/a", "/a/b")[int(pick(3))],
                event,
            )
        )
    return found


def look(number: int, cpus: Iterable[int] = (0, 1), busy: float = 0.4) -> list[Sample]:
    """Counters of cores, a second later each: `busy` of the time in the kernel, the rest idle."""
    return [
        Sample("cpu_time_seconds", round(100 + number * share, 3), (str(cpu), mode))
        for cpu in cpus
        for mode, share in (("system", busy), ("idle", 1 - busy), ("user", 0.0))
    ]


def record(
    folder: Path, seconds: int = 8, sealed: Sequence[int] = (2, 5), looked: bool = True, event: str = "cpu-clock"
) -> Writer:
    """A store with these seconds, sealed after some of them, the rest in the journal until the writer is closed."""
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    if looked:
        writer.add_signals(START_NS, look(0), "cpu")
    for number in range(seconds):
        writer.add_samples(batch(second(number, event=event)))
        if looked:
            writer.add_signals(START_NS + (number + 1) * NS, look(number + 1), "cpu")
        if number in sealed:
            writer.seal()
    writer.flush()
    return writer


def counts_of(numbers: np.ndarray, stacks: Sequence[str], tasks: Sequence[Task], of_task: np.ndarray) -> SampleCounts:
    """Counts of (stacks, windows)."""
    stack_rows, window_rows = np.nonzero(numbers)
    samples = numbers[stack_rows, window_rows].astype(np.int64)
    windows = tuple((START_NS + 5 * NS * n, START_NS + 5 * NS * (n + 1) - 1) for n in range(numbers.shape[1]))
    weight = samples * (NS / HZ)
    return SampleCounts(
        windows, tuple(tasks), tuple(stacks), of_task[stack_rows], stack_rows, window_rows, samples, weight, "cpu-clock"
    )


def noisy(cores: int, seed: int, planted: float = 0.0, blocks: int = 24) -> SampleCounts:
    """A node at 60 % with bursty work, 5 s a window. `planted` cores of a new function are in the first window.

    Stacks have rates over several magnitudes, a process bursts as a whole, and each of its stacks on its own.
    """
    rng = np.random.default_rng(seed)
    number, processes = (300, 12) if cores == 2 else (4000, 120)
    of_task = rng.integers(processes, size=number)
    stacks = [_path(rng, int(task)) for task in of_task]
    rate = rng.pareto(1.0, number) + 0.02
    rate *= cores * 0.6 * HZ * 5 / rate.sum()
    shape = rng.uniform(1.0, 10.0, number)[:, None]
    bursts = rng.gamma(20, 1 / 20, (processes, blocks + 1))[of_task] * rng.gamma(shape, 1 / shape, (number, blocks + 1))
    numbers = rng.poisson(rate[:, None] * bursts)
    if planted:
        above = stacks[int(np.argsort(rate)[number // 2])]
        stacks.append(above + text([("planted", "[kernel]")]))
        numbers = np.vstack([numbers, np.zeros((1, blocks + 1), np.int64)])
        numbers[-1, 0] = rng.poisson(planted * HZ * 5)
        of_task = np.append(of_task, of_task[int(np.argsort(rate)[number // 2])])
    tasks = [Task(100 + one, 100 + one, f"process{one}", "/") for one in range(processes)]
    return counts_of(numbers, stacks, tasks, of_task)


def _path(rng: np.random.Generator, task: int) -> str:
    """A path of calls: the outer functions are its process's own, the inner ones shared by all."""
    own = [(f"main{task}", f"bin{task}"), *((f"f{task}_{one}", f"bin{task}") for one in rng.integers(8, size=2))]
    kernel = [("do_syscall_64", "[kernel]"), *((f"k{one}", "[kernel]") for one in rng.integers(60, size=5))]
    return text([*own, *kernel] if rng.random() < 0.5 else own)
