"""Rows such as a recorder makes: samples with stacks, looks, events; small, and the same each time."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from necroscope.clock import NS
from necroscope.sense.perf.samples import SampleBatch, Stack, canonical_frame, stack_id
from necroscope.vocabulary.model import Sample

START_NS = 1_767_323_045_000_000_000
PERIOD_NS = 10_309_278

SYSCALL = (("main", "worker"), ("read", "libc.so.6"), ("do_syscall_64", "[kernel]"), ("vfs_read", "[kernel]"))
LOOP = (("main", "worker"), ("spin", "worker"))
WALK = (("do_syscall_64", "[kernel]"), ("memory_stat_show", "[kernel]"), ("mem_cgroup_iter", "[kernel]"))
STACKS = (SYSCALL, LOOP, WALK)


def stack(frames: Sequence[tuple[str, str]]) -> Stack:
    """A stack with its id."""
    number = stack_id(canonical_frame(name, module) for name, module in frames)
    return Stack(number, tuple(name for name, _ in frames), tuple(module for _, module in frames))


def batch(
    at_ns: Sequence[int], stacks: Sequence[Stack], tell: bool = True, cpus: int = 2, comms: Sequence[str] = ("worker",)
) -> SampleBatch:
    """Samples at these times, with these stacks in turn, on the cores in turn."""
    count = len(at_ns)
    turn = np.arange(count)
    return SampleBatch(
        at_ns=np.array(at_ns, np.int64),
        cpu=(turn % cpus).astype(np.int32),
        pid=(100 + turn % 3).astype(np.int32),
        tid=(100 + turn % 3 * 2).astype(np.int32),
        comm=(turn % len(comms)).astype(np.int32),
        comms=tuple(comms),
        cgroup=(turn % 2).astype(np.int32),
        cgroups=("", "/system.slice/worker.service"),
        event=np.zeros(count, np.int32),
        events=("cpu-clock",),
        weight=np.full(count, PERIOD_NS, np.int64),
        stack_id=np.array([stacks[number % len(stacks)].stack_id for number in range(count)], np.uint64),
        stacks=tuple(stacks) if tell else (),
    )


def second(number: int, samples: int = 20, tell: bool = True) -> SampleBatch:
    """Samples of one second after the start."""
    at_ns = [START_NS + number * NS + index * (NS // max(1, samples)) for index in range(samples)]
    return batch(at_ns, [stack(frames) for frames in STACKS], tell)


def look(number: int, cpus: int = 2) -> list[Sample]:
    """Signals of one second after the start: cores that work, a gauge that stands still, one that does not."""
    times = [("user", 0.31), ("system", 0.11), ("idle", 0.56), ("softirq", 0.02)]
    cores = [
        Sample("cpu_time_seconds", round(1000 + number * share, 2), (str(cpu), mode))
        for cpu in range(cpus)
        for mode, share in times
    ]
    noise = random.Random(number).random()
    return [*cores, Sample("host_cpus", float(cpus)), Sample("noise_ratio", noise)]
