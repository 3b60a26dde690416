"""What the recorder misses when it, perf or perf's core is taken away, and how soon what happens can be read.

A real `necroscope record` on this machine, one pinned process burning a core. perf is stopped for 8 s; the recorder is;
a SCHED_FIFO process takes perf's core for 4 s. Expected are 97 samples a second of the burnt core from before the
disturbance to after it. Then: marks, cgroups and samples, from the moment they happen until another process reads them.
Needs root and perf; about 5 minutes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from necroscope.clock import NS
from necroscope.query.sql.engine import Engine
from necroscope.sense.perf.launch.options import FREQUENCY_HZ
from necroscope.store.inbox import put
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import Event

RUNS = 5
CORE = (os.cpu_count() or 1) - 1
PROGRAM = str(Path(sys.executable).parent / "necroscope")
BURN = (sys.executable, "-c", "while True: pass")


@dataclass(frozen=True, slots=True)
class Seen:
    """One run: of the burnt core, what was expected and stored, what was reported as lost, and the gaps."""

    seconds: float
    expected: float
    stored: int
    lost: int
    gaps: tuple[str, ...]


def main() -> None:
    """Print the tables."""
    print(f"| what, medians of {RUNS} | seconds | samples expected | stored | worst run | reported lost | gaps |")
    print("|---|---|---|---|---|---|---|")
    disturbances: dict[str, Callable[[int], float]] = {
        "perf stopped": lambda pid: _stopped(_perf_of(pid), 8.0),
        "recorder stopped": lambda pid: _stopped(pid, 8.0),
        "real-time hog on perf's core": lambda pid: _hogged(_perf_of(pid), 4.0),
    }
    for what, disturb in disturbances.items():
        runs = [_run(disturb) for _ in range(RUNS)]
        expected, stored = (statistics.median(getattr(run, name) for run in runs) for name in ("expected", "stored"))
        worst = min(run.stored / run.expected for run in runs)
        gaps = sorted({gap for run in runs for gap in run.gaps})
        print(
            f"| {what} | {statistics.median(run.seconds for run in runs):.1f} | {expected:.0f} | {stored:.0f} "
            f"({100 * stored / expected:.1f} %) | {100 * worst:.1f} % | {sum(run.lost for run in runs)} "
            f"| {', '.join(gaps) or 'none'} |",
            flush=True,
        )
    _latencies()


def _run(disturb: Callable[[int], float]) -> Seen:
    with tempfile.TemporaryDirectory(prefix="necroscope-bench-") as folder:
        return _run_in(Path(folder), disturb)


def _run_in(store: Path, disturb: Callable[[int], float]) -> Seen:
    with _recording(store) as recorder:
        began_ns = time.time_ns()
        time.sleep(2.0)
        seconds = disturb(recorder)
        time.sleep(2.0)
        ended_ns = time.time_ns()
        _wait(store, f"select count(*) n from samples where at_ns > {ended_ns}")
    window = f"at_ns between {began_ns} and {ended_ns}"
    with Engine(Store(store)) as engine:
        (row,) = engine.ask(f"select count(*) n from samples where cpu = {CORE} and {window}").rows()
        rows = list(engine.ask(f'select kind, subject, "count" from events where {window}').rows())
    lost = sum(one["count"] for one in rows if one["kind"] == "samples-lost")
    gaps = tuple(one["subject"] for one in rows if one["kind"] == "recorder-gap")
    return Seen(seconds, FREQUENCY_HZ * (ended_ns - began_ns) / NS, row["n"], lost, gaps)


# -- disturbances ------------------------------------------------------------------------------------------------


def _stopped(pid: int, seconds: float) -> float:
    os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(pid, signal.SIGCONT)
    return seconds


def _hogged(pid: int, seconds: float) -> float:
    """A real-time process on the core where perf was last; the kernel leaves 5 % of it to others, usually."""
    core = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[36])
    with _process("taskset", "-c", str(core), "chrt", "-f", "50", *BURN):
        time.sleep(seconds)
    return seconds


# -- how soon ------------------------------------------------------------------------------------------------------


def _latencies() -> None:
    print(f"\n| from event to readable by another process, medians of {RUNS} | median | longest |\n|---|---|---|")
    with (
        tempfile.TemporaryDirectory(prefix="necroscope-bench-") as temporary,
        _recording(store := Path(temporary)),
        _cgroups() as folder,
    ):
        kinds: dict[str, Callable[[int], str]] = {
            "mark": lambda number: _mark(store, number),
            "cgroup made": lambda number: _cgroup(folder, number),
            "sample of a busy core": lambda _: f"select count(*) n from samples where at_ns >= {time.time_ns()}",
            "signal of a second": lambda _: f"select count(*) n from journal.ticks where at_ns >= {time.time_ns()}",
        }
        for what, happen in kinds.items():
            times = []
            for number in range(RUNS):
                began_s = time.monotonic()
                _wait(store, happen(number))
                times.append(time.monotonic() - began_s)
                time.sleep(0.37)
            print(f"| {what} | {statistics.median(times):.2f} s | {max(times):.2f} s |", flush=True)


def _mark(store: Path, number: int) -> str:
    put(store, Event(time.time_ns(), "mark", "mark", "", f"mark {number}"))
    return f"select count(*) n from events where text = 'mark {number}'"


def _cgroup(folder: Path, number: int) -> str:
    (folder / f"job-{number}").mkdir()
    return f"select count(*) n from events where kind = 'cgroup-mkdir' and subject like '%{folder.name}/job-{number}'"


@contextlib.contextmanager
def _cgroups() -> Iterator[Path]:
    """A cgroup of our own."""
    line = next(line.split() for line in Path("/proc/self/mounts").read_text().splitlines() if " cgroup" in line)
    folder = Path(line[1]) / f"necroscope-bench-{os.getpid()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        for path in [*folder.glob("job-*"), folder]:
            path.rmdir()


# -- the stage -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _recording(store: Path) -> Iterator[int]:
    """The process of a recorder whose samples can be read already, while the last core is burnt."""
    burner = ("taskset", "-c", str(CORE), *BURN)
    with _process(*burner), _process(PROGRAM, "record", "-q", "--store", str(store)) as recorder:
        while not (store / "format.json").exists():
            time.sleep(0.1)
        _wait(store, f"select count(*) n from samples where at_ns > {time.time_ns()}")
        yield recorder.pid
        recorder.terminate()
        recorder.wait(30)


@contextlib.contextmanager
def _process(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _perf_of(recorder: int) -> int:
    for path in Path(f"/proc/{recorder}/task").glob("*/children"):
        for child in path.read_text().split():
            if Path(f"/proc/{child}/comm").read_text().startswith("perf"):
                return int(child)
    raise ProcessLookupError("the recorder has no perf")


def _wait(store: Path, query: str, patience_s: float = 30.0) -> None:
    ends = time.monotonic() + patience_s
    while time.monotonic() < ends:
        with Engine(Store(store)) as engine:
            if next(iter(engine.ask(query).rows()))["n"]:
                return
        time.sleep(0.02)
    raise TimeoutError(query)


if __name__ == "__main__":
    main()
