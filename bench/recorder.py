"""What recording costs the node, live, everything on: CPU, memory, bytes per sample, a fixed workload's slowdown.

Needs root. Ten minutes of a storm of short processes, then ten of steady full load, then pairs of the same piece of
work with and without the recorder. NECROSCOPE_BENCH_SECONDS shortens the two runs (the figures then say so).
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.budget_loads import SYSCALLS, WORK, running
from necroscope.store.format.segment import read_segment
from necroscope.store.read.reader import Store

SECONDS = float(os.environ.get("NECROSCOPE_BENCH_SECONDS", "600"))
EXECS_PER_S = 1000
PAIRS = 7
NECROSCOPE = [sys.executable, "-m", "necroscope"]
BUSY = f"""{WORK}
    sorted(words)
{SYSCALLS}
    with open("/dev/zero", "rb") as zeros:
        zeros.read(1 << 18)
"""
STORM = """
import os, sys, time
turn, due = 1 / float(sys.argv[1]), time.monotonic()
while True:
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
    due = max(due + turn, time.monotonic() - 1)
    time.sleep(max(0.0, due - time.monotonic()))
"""
FIXED = """
import json, os, zlib
words = [str(n / 7) for n in range(2000)]
for _ in range(1500):
    text = json.dumps(words)
    json.loads(text)
    zlib.compress(text.encode(), 3)
    for _ in range(200):
        os.stat("/usr")
"""


@dataclass(frozen=True, slots=True)
class Use:
    """What recorder and perf have used by a moment."""

    cpu_s: float
    memory: int


def main() -> None:
    """Print the tables."""
    if os.geteuid() != 0:
        sys.exit("this benchmark records all CPUs and needs root")
    cores = os.cpu_count() or 1
    print(f"Recorder and perf together, {SECONDS:.0f} s each, start and end of both included in the CPU time:\n")
    columns = ["load", "CPU, of one core", "after 1 min", "memory after 1 min", "at the end", "most"]
    columns += ["samples", "lost", "bytes/sample"]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    storm = [sys.executable, "-c", STORM, str(EXECS_PER_S // cores)]
    print(live(f"{EXECS_PER_S:,} execs/s", [storm] * cores), flush=True)
    print(live("all cores busy", [[sys.executable, "-c", BUSY]] * cores), flush=True)
    print(f"\n{pairs()}", flush=True)


def live(name: str, loads: Sequence[Sequence[str]]) -> str:
    """One line: a recording beside a load."""
    with tempfile.TemporaryDirectory() as folder, running(loads):
        store = Path(folder) / "store"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [*NECROSCOPE, "record", "-q", "--store", str(store), "--for", f"{SECONDS:.0f}s"]
        recorder = subprocess.Popen(command)
        uses = watch(recorder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        samples, lost = counts(store)
        size = sum(file.stat().st_size for file in store.rglob("*") if file.is_file())
    minute = min(uses, key=lambda at: abs(at - 60.0))
    last = max(uses)
    steady = (uses[last].cpu_s - uses[minute].cpu_s) / (last - minute)
    cells = (
        name,
        f"{spent / SECONDS:.2%}",
        f"{steady:.2%}",
        mb(uses[minute].memory),
        f"{mb(uses[last].memory)} ({uses[last].memory / uses[minute].memory - 1:+.1%})",
        mb(max(use.memory for use in uses.values())),
        f"{samples:,}",
        f"{lost:,}",
        f"{size / max(samples, 1):.2f}",
    )
    return f"| {' | '.join(cells)} |"


def watch(recorder: subprocess.Popen[bytes]) -> dict[float, Use]:
    """Uses by seconds since the start, until the recorder ends; only the moments when perf ran beside it."""
    began, uses = time.monotonic(), {}
    while recorder.poll() is None:
        seen = [use for pid in (recorder.pid, *children(recorder.pid)) if (use := use_of(pid)) is not None]
        if len(seen) > 1:
            uses[time.monotonic() - began] = Use(sum(use.cpu_s for use in seen), sum(use.memory for use in seen))
        time.sleep(1.0)
    if recorder.returncode or not uses:
        sys.exit(f"the recorder ended with {recorder.returncode}, seen with perf {len(uses)} times")
    return uses


def children(pid: int) -> list[int]:
    """Direct children of a process, whichever of its threads started them."""
    try:
        found = [one.read_text() for one in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return []
    return [int(word) for text in found for word in text.split()]


def use_of(pid: int) -> Use | None:
    """CPU time and resident memory of a process, and perf's rings, which the kernel does not count as resident."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        memory = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
        rings = sum(span(line) for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if "perf_event" in line)
    except (OSError, IndexError):
        return None
    return Use((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), memory + rings)


def span(line: str) -> int:
    """Bytes of a line of /proc/PID/maps."""
    first, last = line.split(maxsplit=1)[0].split("-")
    return int(last, 16) - int(first, 16)


def counts(store: Path) -> tuple[int, int]:
    """Samples in the store, and records reported as lost."""
    tables = [read_segment(segment) for segment in Store(store).snapshot().segments]
    samples = sum(one["samples"].num_rows for one in tables if "samples" in one)
    events = [row for one in tables if "events" in one for row in one["events"].to_pylist()]
    return samples, sum(row["count"] for row in events if row["kind"] == "samples-lost")


def pairs() -> str:
    """A fixed piece of work's CPU time, with and without the recorder, alternating."""
    growth, alone, beside = [], [], []
    work_s()
    for turn in range(PAIRS):
        order = (False, True) if turn % 2 else (True, False)
        times = {recorded: with_recorder() if recorded else work_s() for recorded in order}
        alone.append(times[False])
        beside.append(times[True])
        growth.append(times[True] / times[False] - 1)
    return (
        f"A fixed piece of work on every core, CPU time alone {statistics.median(alone):.2f} s, beside the recorder "
        f"{statistics.median(beside):.2f} s: {statistics.median(growth):+.2%} (median of {PAIRS} pairs, "
        f"{min(growth):+.2%} to {max(growth):+.2%})."
    )


def with_recorder() -> float:
    """The work's CPU time beside a recorder that has settled."""
    with tempfile.TemporaryDirectory() as folder:
        recorder = subprocess.Popen([*NECROSCOPE, "record", "-q", "--store", folder])
        try:
            time.sleep(4.0)
            return work_s()
        finally:
            recorder.terminate()
            recorder.wait()


def work_s() -> float:
    """CPU time of the work, one on each core at once."""
    cores = sorted(os.sched_getaffinity(0))
    started = [subprocess.Popen(["taskset", "-c", str(core), sys.executable, "-c", FIXED]) for core in cores]
    spent = 0.0
    for one in started:
        _, _, used = os.wait4(one.pid, 0)
        spent += used.ru_utime + used.ru_stime
    return spent


def mb(size: int) -> str:
    """Megabytes."""
    return f"{size / 1e6:.0f} MB"
