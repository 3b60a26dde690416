"""How fast `necroscope import` is beside `perf script > /dev/null` on the same file in the same run. Needs root.

A real recording of at least a million samples (all CPUs, call chains, a mix of programs) is made first; a path in
NECROSCOPE_BENCH_PERF_DATA is used instead. Every run is the whole command, from the start of its process to the store
written, symbolised, with roll-ups; the file is in the page cache, and the program's bytecode is compiled, as it is
where it was installed. The three take turns; medians of five. A run beside which other programs took more than a
twentieth of a core is made again, at most forty times in all.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

RUNS = 5
AGAIN = 40
OTHERS = 0.05
_HZ = os.sysconf("SC_CLK_TCK")
SAMPLES = 1_000_000
LOAD_S = 50
NECROSCOPE = Path(sys.executable).parent / "necroscope"
LOAD = """
import json, os, random, re, subprocess, sys, time
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    rows = [{str(n): [random.random() for _ in range(20)]} for n in range(1000)]
    for _ in range(4):
        text = json.dumps(rows)
        json.loads(text)
        re.findall(r"\\d+[.]\\d", text)
    for _ in range(2000):
        os.stat("/usr")
    for line in ("ls -lR /usr/bin", "gzip -c /bin/sh", "find /usr/share -name x", "true"):
        subprocess.run(line.split(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a command took; memory is that of its largest process. `others`: cores that other programs took."""

    wall_s: float
    cpu_s: float
    memory: int
    others: float


def main() -> None:
    """Print the tables."""
    if os.geteuid() != 0:
        sys.exit("this benchmark records all CPUs and needs root")
    with tempfile.TemporaryDirectory(prefix="necroscope-bench-") as folder:
        given = os.environ.get("NECROSCOPE_BENCH_PERF_DATA")
        path = Path(given) if given else record(Path(folder))
        print(compare(path, Path(folder)), flush=True)


def record(folder: Path) -> Path:
    """A recording of at least a million samples."""
    path, seconds = folder / "perf.data", LOAD_S
    while True:
        loads = [subprocess.Popen([sys.executable, "-c", LOAD, str(seconds)]) for _ in range(os.cpu_count() or 1)]
        command = ["perf", "record", "-B", "-N", "-F", "14000", "-g", "-a", "--clockid", "mono", "-m", "512"]
        command += ["-o", str(path), "--", "sleep", str(seconds)]
        subprocess.run(command, check=True, capture_output=True)
        for load in loads:
            load.wait()
        if samples_of(path) >= SAMPLES:
            return path
        seconds *= 2


def samples_of(path: Path) -> int:
    """How many samples perf itself finds."""
    command = ["perf", "script", "-i", str(path), "-F", "tid", "-G"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as perf:
        assert perf.stdout is not None
        return sum(1 for line in perf.stdout if line.strip())


def compare(path: Path, folder: Path) -> str:
    """The tables of a recording."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    script = ["perf", "script", "-i", str(path)]
    store, text = folder / "store", text_bytes(script)
    imported([cores[0]], path, store, folder)  # compiles the program, and reads every file once
    ways: list[Callable[[], Spent]] = [
        lambda: spend(["taskset", "-c", str(cores[0]), *script], dict(os.environ)),
        lambda: imported(cores[:1], path, store, folder),
        lambda: imported(cores, path, store, folder),
    ]
    quiet = Quiet()
    peers, ones, twos = zip(*([quiet.run(way) for way in ways] for _ in range(RUNS)), strict=True)
    samples, taken = samples_of(path), store_bytes(store)
    size = path.stat().st_size
    lines = [
        f"{samples:,} samples, perf.data {size / 1e6:.0f} MB, as text {text / 1e6:.0f} MB; medians of {RUNS}\n",
        "| | wall | against perf script | CPU | samples/s | largest process |",
        "|---|---|---|---|---|---|",
        row("`perf script > /dev/null`", peers, peers, samples),
        row("`necroscope import`, one core", ones, peers, samples),
        row("`necroscope import`, two cores", twos, peers, samples),
        f"\nStore: {taken / samples:.2f} bytes per sample, everything in; {size / taken:.0f}× smaller than perf.data, "
        f"{text / taken:.0f}× than the text.",
        f"{quiet.repeated} runs were made again because of other programs; beside those that count they took "
        f"{max(one.others for one in (*peers, *ones, *twos)):.1%} of a core at most.",
    ]
    return "\n".join(lines)


class Quiet:
    """Runs that others leave alone."""

    def __init__(self) -> None:
        self.repeated = 0

    def run(self, way: Callable[[], Spent]) -> Spent:
        """What a command takes with (next to) nothing else running, or with it when that never happens."""
        while (found := way()).others > OTHERS and self.repeated < AGAIN:
            self.repeated += 1
        return found


def row(name: str, runs: Sequence[Spent], peers: Sequence[Spent], samples: int) -> str:
    """One line of the table."""
    wall_s, peer_s = (statistics.median(one.wall_s for one in some) for some in (runs, peers))
    cpu_s = statistics.median(one.cpu_s for one in runs)
    cells = (name, f"{wall_s:.2f} s", f"{peer_s / wall_s:.1f}×", f"{cpu_s:.2f} s", f"{samples / wall_s:,.0f}")
    return f"| {' | '.join(cells)} | {max(one.memory for one in runs) / 2**20:.0f} MiB |"


def imported(cores: Sequence[int], path: Path, store: Path, folder: Path) -> Spent:
    """One import into a new store."""
    shutil.rmtree(store, ignore_errors=True)
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [str(NECROSCOPE), "import", str(path), "--store", str(store)]
    return spend(["taskset", "-c", ",".join(map(str, cores)), *command], environment)


def spend(command: Sequence[str], environment: dict[str, str]) -> Spent:
    """Run a command, its output thrown away."""
    started, busy = time.perf_counter(), busy_s()
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        sys.exit(f"{' '.join(command)} failed with {running.returncode}")
    wall_s, cpu_s = time.perf_counter() - started, used.ru_utime + used.ru_stime
    others = max(0.0, busy_s() - busy - cpu_s) / wall_s
    return Spent(wall_s, cpu_s, used.ru_maxrss * 1024, others)


def busy_s() -> float:
    """CPU time of everything so far."""
    user, nice, system, _, _, irq, softirq, *_ = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:])
    return (user + nice + system + irq + softirq) / _HZ


def text_bytes(script: Sequence[str]) -> int:
    """How long the text of `perf script` is; also brings the file into the page cache."""
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as perf:
        assert perf.stdout is not None
        size = 0
        while piece := perf.stdout.read(1 << 20):
            size += len(piece)
        return size


def store_bytes(store: Path) -> int:
    """Everything in the store."""
    return sum(path.stat().st_size for path in store.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
