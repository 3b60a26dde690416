"""How fast text of `perf script` becomes rows, beside FlameScope's reader of the same text in the same run. Needs root.

At least 300 MB of text are made first: real recordings (all CPUs, call chains, a mix of programs), printed by `perf
script`, one after the other, none twice; a file in NECROSCOPE_BENCH_PERF_TEXT is used instead. FlameScope's functions
are taken from a checkout in NECROSCOPE_BENCH_FLAMESCOPE; without one, the peer is a plain reader, line by line with
regular expressions, and is called so. Every run is a process of its own, start-up included, the file in the page cache;
medians of three.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.import_perf import LOAD

RUNS = 3
TEXT_BYTES = 300_000_000
SECONDS = 30
OURS = """
import json, resource, sys
from pathlib import Path
from necroscope.sense.importers.perf_script.importer import PerfScript
from necroscope.sense.perf.samples import SampleBatch
samples = stacks = 0
script = PerfScript(Path(sys.argv[1]))
for row in script.rows((int(sys.argv[2]), int(sys.argv[3]))):
    if isinstance(row, SampleBatch):
        samples += len(row)
        stacks += len(row.stacks)
print(json.dumps([samples, stacks, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))
"""
# FlameScope's own functions, without its web server: what they import beside Python is replaced by the least.
FLAMESCOPE = """
import sys, types
sys.path.insert(0, sys.argv[2])
for name, members in {
    "flask": {"abort": None},
    "magic": {"from_file": lambda path, mime: "text/plain"},
    "cachetools": {"cached": lambda cache: lambda function: function, "LRUCache": lambda maxsize: None},
    "app.config": {"PROFILE_DIR": "/"},
}.items():
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)
sys.modules["app"] = types.ModuleType("app")
sys.modules["app"].__path__ = [sys.argv[2] + "/app"]
sys.modules["app"].config = sys.modules["app.config"]
from app.perf.heatmap import perf_read_offsets
print(len(perf_read_offsets(sys.argv[1]).offsets))
"""
PLAIN = r"""
import re, sys
head = re.compile(r"^\s*(\S.*?)\s+(\d+)(?:/(\d+))?\s+(?:\[(\d+)\]\s+)?(\d+\.\d+):\s+(?:(\d+)\s+)?(\S+):\s*$")
frame = re.compile(r"^\s+[0-9a-f]+ (.+) \((.*?)\)$")
samples = 0
stack = []
with open(sys.argv[1], errors="replace") as file:
    for line in file:
        if line[0] == "\t":
            found = frame.match(line)
            stack.append(found.groups() if found else None)
        elif found := head.match(line):
            samples += 1
            fields, stack = found.groups(), []
print(samples)
"""


def main() -> None:
    """Print the table."""
    if os.geteuid() != 0:
        sys.exit("this benchmark records all CPUs and needs root")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as `necroscope import` does: NumPy's threads only spin here
    with tempfile.TemporaryDirectory() as folder:
        given = os.environ.get("NECROSCOPE_BENCH_PERF_TEXT")
        print(compare(Path(given) if given else make(Path(folder))), flush=True)


def make(folder: Path) -> Path:
    """Text of real recordings, one after the other, until it is large enough."""
    text = folder / "perf.txt"
    while not text.exists() or text.stat().st_size < TEXT_BYTES:
        data = folder / "perf.data"
        loads = [subprocess.Popen([sys.executable, "-c", LOAD, str(SECONDS)]) for _ in range(os.cpu_count() or 1)]
        record = ["perf", "record", "-q", "-B", "-N", "-F", "14000", "-g", "-a", "--clockid", "mono", "-m", "512"]
        subprocess.run([*record, "-o", str(data), "--", "sleep", str(SECONDS)], capture_output=True)
        for load in loads:
            load.wait()
        with text.open("ab") as file:
            # perf 6.1 may end before the end of its own recording; what it printed counts.
            subprocess.run(["perf", "script", "--header", "-i", str(data)], stdout=file, stderr=subprocess.DEVNULL)
            file.write(b"\n\n")
    return text


def compare(text: Path) -> str:
    """The table of one text."""
    size = text.stat().st_size
    checkout = os.environ.get("NECROSCOPE_BENCH_FLAMESCOPE", "")
    peer_name = "FlameScope's reader (times only)" if checkout else "a plain reader with regular expressions"
    peer = [FLAMESCOPE, str(text), checkout] if checkout else [PLAIN, str(text)]
    samples, stacks, _ = json.loads(run([OURS, str(text), "0", "1"]))
    spent: dict[str, list[tuple[float, float]]] = {"peer": [], "one": [], "two": []}
    memory = []
    for _ in range(RUNS):
        spent["peer"].append(spend(lambda: run(peer)))
        spent["one"].append(spend(lambda: memory.append(json.loads(run([OURS, str(text), "0", "1"]))[2])))
        spent["two"].append(spend(lambda: both(text)))
    peer_s, one_s, two_s = (medians(spent[name]) for name in ("peer", "one", "two"))
    lines = [
        f"{size / 1e6:.0f} MB of text, {samples:,} samples, {stacks:,} stacks; medians of {RUNS}\n",
        "| | wall | MB/s | against the peer | CPU | MB per CPU second | against the peer |",
        "|---|---|---|---|---|---|---|",
        row(peer_name, peer_s, size, peer_s),
        row("imported, one core", one_s, size, peer_s),
        row("imported, two processes", two_s, size, peer_s),
        f"\nPeak memory of one process: {max(memory) / 2**20:.0f} MiB.",
    ]
    return "\n".join(lines)


def row(name: str, spent: tuple[float, float], size: int, peer: tuple[float, float]) -> str:
    """One line of the table; the CPU's time tells more than the clock's on a machine that has other work."""
    (wall_s, cpu_s), (peer_wall_s, peer_cpu_s) = spent, peer
    wall = f"{wall_s:.2f} s | {size / wall_s / 1e6:.0f} | {peer_wall_s / wall_s:.1f}×"
    return f"| {name} | {wall} | {cpu_s:.2f} s | {size / cpu_s / 1e6:.0f} | {peer_cpu_s / cpu_s:.1f}× |"


def medians(spent: list[tuple[float, float]]) -> tuple[float, float]:
    """Of the wall times and of the CPU times."""
    return statistics.median(wall for wall, _ in spent), statistics.median(cpu for _, cpu in spent)


def both(text: Path) -> None:
    """Two processes, half of the text each."""
    halves = [
        subprocess.Popen([sys.executable, "-c", OURS, str(text), str(number), "2"], stdout=subprocess.DEVNULL)
        for number in range(2)
    ]
    if any(half.wait() for half in halves):
        sys.exit("one of the two processes failed")


def run(arguments: list[str]) -> str:
    """What a program prints."""
    return subprocess.run([sys.executable, "-c", *arguments], check=True, capture_output=True, text=True).stdout


def spend(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds that the work takes: wall, and CPU of the processes it started."""
    before, used = time.perf_counter(), os.times()
    work()
    after = os.times()
    cpu_s = after.children_user + after.children_system - used.children_user - used.children_system
    return time.perf_counter() - before, cpu_s
