"""A small store for exports, the samples in it as plain rows, and speedscope's own importer where node is there."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.query.samples.chunks import chunks
from necroscope.query.select import Select
from necroscope.sense.perf.samples import SampleBatch
from necroscope.show.export.source import Source
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from stage.recorded import PERIOD_NS, STACKS, START_NS, batch, stack

IDLE = (("cpu_startup_entry", "[kernel]"), ("do_idle", "[kernel]"), ("default_idle", "[kernel]"))
ODD = (("operator;()", "lib;odd.so"), ("Ljava/lang;\u00e9 x", "[jit]"), ("\x1b[31mred\n", "[nf_tables]"))
ALL = (*STACKS, IDLE, ODD, ())
COMMS = ("worker", "my thread;1", "swapper/0")
SECONDS, A_SECOND = 6, 30
END_NS = START_NS + SECONDS * NS - 1
RESET = Event(START_NS + 3 * NS, "nic-reset", "kmsg", "eth0", "eth0: reset")
_IMPORTER = Path(__file__).parent / "speedscope"


@dataclass(frozen=True)
class Row:
    """A sample as it was recorded."""

    at_ns: int
    cpu: int
    pid: int
    tid: int
    comm: str
    cgroup: str
    frames: tuple[tuple[str, str], ...]

    @property
    def idle(self) -> bool:
        return self.frames == IDLE


def a_second(number: int, event: str = "cpu-clock") -> SampleBatch:
    """Samples of one second, of all kinds of stacks."""
    at_ns = [START_NS + number * NS + index * (NS // A_SECOND) for index in range(A_SECOND)]
    made = batch(at_ns, [stack(frames) for frames in ALL], comms=COMMS)
    columns = {name: getattr(made, name) for name in SampleBatch.__dataclass_fields__}
    # Stacks, cores, threads and names must not go round in step.
    turn = np.random.default_rng(number).permutation(A_SECOND)
    columns |= {"stack_id": made.stack_id[turn], "events": (event,)}
    return SampleBatch(**columns)


def rows() -> list[Row]:
    """Everything that the store has."""
    frames = {stack(one).stack_id: one for one in ALL}
    return [
        Row(
            int(one.at_ns[index]),
            int(one.cpu[index]),
            int(one.pid[index]),
            int(one.tid[index]),
            one.comms[one.comm[index]],
            one.cgroups[one.cgroup[index]],
            frames[int(one.stack_id[index])],
        )
        for one in map(a_second, range(SECONDS))
        for index in range(len(one))
    ]


def working() -> list[Row]:
    """What the store has, without idle cores."""
    return [row for row in rows() if not row.idle]


def fill(folder: Path, event: str = "cpu-clock", sealed: Sequence[int] = (1, 3)) -> Writer:
    """The store, sealed after these seconds; the rest is in the journal until the writer is closed."""
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    for number in range(SECONDS):
        writer.add_samples(a_second(number, event))
        if number == 3:
            writer.add_events([RESET, Event(START_NS, "nic-reset", "kmsg", "eth1", "before")])
        if number in sealed:
            writer.seal()
    writer.flush()
    return writer


def source(folder: Path, select: Select | None = None, idle: bool = False) -> Source:
    """Samples of a store, ready to be written."""
    chosen = select or Select((START_NS, END_NS))
    return Source(chosen, chunks(Store(folder).snapshot(chosen.window), chosen), idle)


def total_ns(found: Sequence[Row]) -> int:
    """The weight of rows."""
    return len(found) * PERIOD_NS


def speedscope() -> Path:
    """The folder of speedscope's importer, installed when it is not; skips visibly where that cannot be."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("speedscope's importer needs node and npm")
    if not (_IMPORTER / "node_modules" / "speedscope").is_dir():
        command = ["npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"]
        try:
            done = subprocess.run(command, cwd=_IMPORTER, capture_output=True, timeout=120)
        except subprocess.TimeoutExpired:
            pytest.skip("speedscope's importer cannot be installed: npm takes too long")
        if done.returncode:
            shutil.rmtree(_IMPORTER / "node_modules", ignore_errors=True)
            asked = subprocess.run(["npm", "view", "speedscope", "version"], capture_output=True, timeout=60)
            if asked.returncode:
                pytest.skip("speedscope's importer needs a registry of npm packages")
            pytest.fail(f"speedscope's importer cannot be installed: {done.stderr.decode(errors='replace')[-300:]}")
    return _IMPORTER


def opened_in_speedscope(file: Path) -> dict[str, Any]:
    """What speedscope understood of a file, as it would save it."""
    command = ["node", str(speedscope() / "open.cjs"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document
