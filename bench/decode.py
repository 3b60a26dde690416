"""How fast a perf recording becomes symbolised rows, beside `perf script > /dev/null` in the same run. Needs root.

A real recording of at least a million samples (all CPUs, call chains, a mix of programs) is made first; a path in
NECROSCOPE_BENCH_PERF_DATA is used instead. Every run is a process of its own, start-up included, the file in the page
cache; medians of five. Then a stream of a storm of short processes, where nearly all bytes are no samples, and a
steady one: what the decoder costs while recording.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from necroscope.sense.host import Host
from necroscope.sense.perf.session import PerfSession
from necroscope.sense.perf.stream import Decoder
from necroscope.sense.perf.symbols import live_symbols

RUNS = 5
SAMPLES = 1_000_000
LOAD_S = 50
LIVE_S = 12.0
DECODE = """
import json, resource, sys
from pathlib import Path
from necroscope.sense.importers.perf_data import PerfData
from necroscope.sense.perf.samples import SampleBatch
share = (int(sys.argv[2]), int(sys.argv[3]))
samples = stacks = 0
with PerfData(Path(sys.argv[1])) as recording:
    for row in recording.rows(share):
        if isinstance(row, SampleBatch):
            samples += len(row)
            stacks += len(row.stacks)
print(json.dumps([samples, stacks, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))
"""
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
STORM = """
import os, sys, time
turn = 1 / float(sys.argv[1])
due = time.monotonic()
while True:
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
    due += turn
    time.sleep(max(0.0, due - time.monotonic()))
"""


def main() -> None:
    """Print the tables."""
    if os.geteuid() != 0:
        sys.exit("this benchmark records all CPUs and needs root")
    with tempfile.TemporaryDirectory() as folder:
        given = os.environ.get("NECROSCOPE_BENCH_PERF_DATA")
        path = Path(given) if given else record(Path(folder))
        print(compare(path), flush=True)
    print("\nThe decoder while recording, fed every half second, as a share of one core:\n")
    print("| load | records/s | samples/s | MB/s | decoder | decoder per record |\n|---|---|---|---|---|---|")
    spin = "while True: pass"
    print(live("all cores busy", [[sys.executable, "-c", spin]] * (os.cpu_count() or 1)), flush=True)
    print(live("1,000 execs/s", [[sys.executable, "-c", STORM, "1000"]]), flush=True)


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
        samples = json.loads(run([sys.executable, "-c", DECODE, str(path), "0", "1"]))[0]
        if samples >= SAMPLES:
            return path
        seconds *= 2


def compare(path: Path) -> str:
    """The table of the recording."""
    size = path.stat().st_size
    samples, stacks, _ = json.loads(run([sys.executable, "-c", DECODE, str(path), "0", "1"]))
    peers, ones, twos, memory = [], [], [], []
    for _ in range(RUNS):
        peers.append(spend(lambda: run(["perf", "script", "-i", str(path)], quiet=True)))
        ones.append(spend(lambda: memory.append(decode(path, 1))))
        twos.append(spend(lambda: decode(path, 2)))
    peer, one, two = (statistics.median(times) for times in (peers, ones, twos))
    lines = [
        f"{samples:,} samples, {size / 1e6:.0f} MB, {stacks:,} stacks; medians of {RUNS}\n",
        "| | wall | samples/s | MB/s | against perf script |",
        "|---|---|---|---|---|",
        row("`perf script > /dev/null`", peer, samples, size, peer),
        row("decoded and symbolised, one core", one, samples, size, peer),
        row("the same in two processes", two, samples, size, peer),
        f"\nPeak memory of one process: {max(memory) / 2**20:.0f} MiB.",
    ]
    return "\n".join(lines)


def row(name: str, wall_s: float, samples: int, size: int, peer_s: float) -> str:
    """One line of the table."""
    cells = (
        name,
        f"{wall_s:.2f} s",
        f"{samples / wall_s:,.0f}",
        f"{size / 1e6 / wall_s:.0f}",
        f"{peer_s / wall_s:.1f}×",
    )
    return f"| {' | '.join(cells)} |"


def decode(path: Path, processes: int) -> int:
    """Decode in so many processes at once, each on a core of its own; returns the largest one's memory."""
    cores = sorted(os.sched_getaffinity(0))
    started = [
        subprocess.Popen(
            [
                "taskset",
                "-c",
                str(cores[n % len(cores)]),
                sys.executable,
                "-c",
                DECODE,
                str(path),
                str(n),
                str(processes),
            ],
            stdout=subprocess.PIPE,
        )
        for n in range(processes)
    ]
    return max(int(json.loads(one.communicate()[0])[2]) for one in started)


def live(name: str, loads: Sequence[Sequence[str]]) -> str:
    """One line: what the decoder costs beside a load."""
    host = Host()
    decoder = Decoder(live_symbols(host)[0])
    running = [subprocess.Popen(load) for load in loads]
    spent = before = 0.0
    try:
        with PerfSession.start(host) as session:
            end = time.monotonic() + LIVE_S
            measured_from, at_start = end - LIVE_S + 3, (0, 0, 0)
            while (now := time.monotonic()) < end:
                time.sleep(0.5)
                data = b"".join(iter(lambda: session.take(0.0) or b"", b""))
                if now < measured_from:
                    at_start, before = (decoder.stats.records, decoder.stats.samples, decoder.stats.bytes), now
                    decoder.feed(data)
                    continue
                started = time.thread_time()
                decoder.feed(data)
                spent += time.thread_time() - started
            wall_s = time.monotonic() - before
    finally:
        for load in running:
            load.kill()
            load.wait()
    records, samples, size = (
        (now - then) / wall_s
        for now, then in zip((decoder.stats.records, decoder.stats.samples, decoder.stats.bytes), at_start, strict=True)
    )
    share = spent / wall_s
    cells = (
        name,
        f"{records:,.0f}",
        f"{samples:,.0f}",
        f"{size / 1e6:.2f}",
        f"{share:.2%}",
        f"{share / records * 1e6:.1f} µs",
    )
    return f"| {' | '.join(cells)} |"


def spend(work: Callable[[], object]) -> float:
    """How long something takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def run(command: Sequence[str], quiet: bool = False) -> str:
    """A command's output, on one core."""
    core = str(min(os.sched_getaffinity(0)))
    out = subprocess.DEVNULL if quiet else subprocess.PIPE
    done = subprocess.run(["taskset", "-c", core, *command], stdout=out, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} failed: {done.stderr.strip()[-500:]}")
    return done.stdout or ""
