"""Any five seconds of half a day of a 96-core node: flame graphs and heat maps of a store of 402 M samples, beside a
store of two minutes and beside FlameScope. Needs no root; 4 GB of disk and ten minutes, most of it for making it.

NECROSCOPE_BENCH_STORE names a folder for the large store, which is made when it is not there and kept; without it, it
is temporary. NECROSCOPE_BENCH_HOURS is how long it is (12). FlameScope's functions are taken from a checkout in
NECROSCOPE_BENCH_FLAMESCOPE; without one, the peer is a plain folding pass over the same text.

Cold means that the files of the window are not in the page cache when it is asked for; names of folders are.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench.big_store import PERIOD_NS, START_NS, Node, build, large_store
from necroscope.clock import NS, iso
from necroscope.query.cores.core_heat import around, core_heat
from necroscope.query.events.landmarks import symptoms
from necroscope.query.profile.flame import NARROWEST, Flame, flame
from necroscope.query.profile.profile import profile
from necroscope.query.profile.tree import tree
from necroscope.query.samples.chunks import chunks
from necroscope.query.select import Select
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import Window

RUNS = 7
WINDOWS = 40
COMMANDS = 12
CORES = 96
LENGTH_NS = 5 * NS
SMALL_S = 120
NECROSCOPE = [sys.executable, "-m", "necroscope"]

PEER = """
import sys, time, types
sys.path.insert(0, sys.argv[2])
def module(name, **names):
    made = sys.modules[name] = types.ModuleType(name)
    made.__dict__.update(names)
    return made
module("flask", abort=None)
module("magic", from_file=lambda path, mime: "text/plain")
module("cachetools", cached=lambda cache: lambda function: function, LRUCache=lambda maxsize: None)
app = module("app", __path__=[sys.argv[2] + "/app"])
app.config = module("app.config", PROFILE_DIR="/")
from app.perf import flame_graph
for _ in range(5):
    flame_graph.stack_times.clear()
    flame_graph.stack_index.clear()
    started = time.perf_counter()
    flame_graph.perf_generate_flame_graph(sys.argv[1])
    print(time.perf_counter() - started)
"""

PLAIN = """
import re, sys, time
event, frame = re.compile(r"^(.+?) +[0-9]+ .*: *[0-9]* *[^ ]+:$"), re.compile(r"^[\\t ]*[0-9a-f]+ (.+) \\((.*?)\\)$")
for _ in range(5):
    started = time.perf_counter()
    root, stack = {}, []
    for line in open(sys.argv[1]):
        if found := event.match(line):
            stack = [found.group(1)]
        elif found := frame.match(line):
            stack.insert(1, found.group(1))
        elif stack:
            at = root
            for name in stack:
                at = at.setdefault(name, [0, {}])
                at[0] += 1
                at = at[1]
            stack = []
    print(time.perf_counter() - started)
"""

MEASURE = """
import resource, subprocess, sys, time
started = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def main() -> None:
    """Print the tables."""
    with tempfile.TemporaryDirectory(prefix="necroscope-bench-") as scratch:
        hours = float(os.environ.get("NECROSCOPE_BENCH_HOURS", "12"))
        small = Path(scratch) / "small"
        node = Node(CORES)
        large = large_store(Path(scratch), hours, node)
        build(small, SMALL_S / 3600, CORES, node)
        del node
        stores = {"2 minutes": (small, SMALL_S), f"{hours:g} h": (large, int(hours * 3600))}
        segments = Store(large).snapshot().segments
        taken = sum(path.stat().st_size for one in segments for path in one.path.iterdir())
        print(f"{hours:g} h: {len(segments):,} segments, {taken / 2**30:.2f} GiB\n")
        _in_process(stores)
        _by_command(large, int(hours * 3600), Path(scratch))
        _heat_maps(large, int(hours * 3600))
        _peer(small, Path(scratch))
        _memory(large, int(hours * 3600), Path(scratch))


def _windows(seconds: int, count: int) -> list[Window]:
    chance = random.Random(7)
    ends = [START_NS + int(chance.uniform(5, seconds) * NS) for _ in range(count)]
    return [(end - LENGTH_NS, end) for end in ends]


def _drawn(store: Store, window: Window) -> Flame:
    made = profile(store, Select(window), detail="stacks")
    return flame(tree(made.counts, narrowest=NARROWEST), made.seconds, made.core_seconds, made.per_weight)


def _evict(store: Path, window: Window) -> None:
    for segment in Store(store).snapshot((window[0], window[1] + 10 * NS)).segments:
        for path in segment.path.iterdir():
            fd = os.open(path, os.O_RDONLY)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _quantiles(times: Sequence[float]) -> tuple[float, float]:
    """Median and 95th percentile."""
    return statistics.median(times), sorted(times)[min(len(times) - 1, int(0.95 * len(times)))]


def _in_process(stores: dict[str, tuple[Path, int]]) -> None:
    print(
        f"Any 5 s, {CORES * 97 * 5:,} samples, to the layout of a flame graph, in process; {WINDOWS} random windows\n"
    )
    print("| store | cold median | cold p95 | warm median | warm p95 |\n|---|---|---|---|---|")
    found: dict[str, list[float]] = {}
    for name, (folder, seconds) in stores.items():
        store, cold, warm = Store(folder), [], []
        _drawn(store, _windows(seconds, 1)[0])
        for window in _windows(seconds, WINDOWS):
            _evict(folder, window)
            cold.append(_timed(partial(_drawn, store, window)))
            warm.append(_timed(partial(_drawn, store, window)))
        found[name] = [*_quantiles(cold), *_quantiles(warm)]
        print(f"| {name} | {' | '.join(f'{1000 * one:.0f} ms' for one in found[name])} |", flush=True)
    first, *_, last = found.values()
    print(f"| ratio | {' | '.join(f'{b / a:.2f}' for a, b in zip(first, last, strict=True))} |\n", flush=True)


def _by_command(folder: Path, seconds: int, scratch: Path) -> None:
    print("The same through the command line, start included, to an SVG file\n")
    print("| | median | p95 | user + system |\n|---|---|---|---|")
    for name in ("cold", "warm"):
        times, spent = [], []
        for window in _windows(seconds, COMMANDS):
            if name == "cold":
                _evict(folder, window)
            before = os.times()
            times.append(_timed(partial(_command, folder, window, scratch)))
            after = os.times()
            spent.append(after.children_user + after.children_system - before.children_user - before.children_system)
        middle, high = _quantiles(times)
        print(f"| {name} | {middle:.3f} s | {high:.3f} s | {statistics.median(spent):.3f} s |", flush=True)
    print()


def _command(folder: Path, window: Window, scratch: Path) -> None:
    at = ["--at", iso(window[1]), "--before", "5s", "--after", "0s"]
    command = [*NECROSCOPE, "flame", *at, "-o", str(scratch / "x.svg"), "--store", str(folder), "-q"]
    subprocess.run(command, check=True)


def _heat_maps(folder: Path, seconds: int) -> None:
    print(f"Core heat map with its marks, in process; medians of {RUNS}\n")
    print("| window | columns | median |\n|---|---|---|")
    store, found = Store(folder), []
    middle = START_NS + seconds // 2 * NS
    for name, window in (
        ("10 minutes", (middle - 300 * NS, middle + 300 * NS - 1)),
        (f"{seconds / 3600:g} h", (START_NS, START_NS + seconds * NS - 1)),
    ):
        grid = _heat(store, window)
        found.append(statistics.median(_timed(partial(_heat, store, window)) for _ in range(RUNS)))
        print(f"| {name} | {grid} | {1000 * found[-1]:.0f} ms |", flush=True)
    print(f"| ratio | | {found[-1] / found[0]:.2f} |\n", flush=True)


def _heat(store: Store, window: Window) -> int:
    snapshot = store.snapshot(around(window))
    symptoms(snapshot, window)
    return core_heat(snapshot, Select(window)).columns


def _peer(folder: Path, scratch: Path) -> None:
    text, window = scratch / "perf.txt", (START_NS + 40 * NS, START_NS + 45 * NS - 1)
    store = Store(folder)
    _write_text(store, window, text)
    checkout = os.environ.get("NECROSCOPE_BENCH_FLAMESCOPE", "")
    name = "FlameScope's functions" if checkout else "a plain folding pass"
    command = [sys.executable, "-c", PEER if checkout else PLAIN, str(text), checkout]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    theirs = statistics.median(map(float, printed.split()))
    ours = statistics.median(_timed(partial(_drawn, store, window)) for _ in range(RUNS))
    print(f"The same 5 s, in process, beside {name} on `perf script` text of just these samples")
    print(f"({text.stat().st_size / 1e6:.0f} MB; of a longer file all lines are read)\n")
    print("| | median |\n|---|---|")
    print(f"| {name} | {theirs:.3f} s |\n| necroscope | {ours:.3f} s |\n| ratio | {theirs / ours:.1f} |\n", flush=True)


def _write_text(store: Store, window: Window, path: Path) -> None:
    """Samples as `perf script` prints them."""
    rows = []
    for chunk in chunks(store.snapshot(window), Select(window)):
        stacks = chunk.stacks.frames(chunk.stack)
        for place, frames in enumerate(stacks):
            comm = chunk.comm.names[chunk.comm.codes[place]]
            rows.append((int(chunk.at_ns[place]), comm, int(chunk.tid[place]), int(chunk.cpu[place]), frames))
    with path.open("w") as file:
        for at_ns, comm, tid, cpu, frames in sorted(rows):
            stamp = f"{at_ns // NS % 1_000_000}.{at_ns % NS // 1000:06d}"
            file.write(f"{comm:>16} {tid:5d} [{cpu:03d}] {stamp}: {PERIOD_NS:10d} cpu-clock: \n")
            for frame in reversed(frames.split("\x1e")[:-1]):
                name, _, module = frame.partition("\x1f")
                file.write(f"\tffffffff810013aa {name}+0x1a ({module})\n")
            file.write("\n")


def _memory(folder: Path, seconds: int, scratch: Path) -> None:
    print("Memory and time of a command, start included\n\n| command | window | wall | peak RSS |\n|---|---|---|---|")
    middle = START_NS + seconds // 2 * NS
    spans = {"5 s": 5, "10 minutes": 600, f"{seconds / 3600:g} h": seconds}
    pictures = (["flame", "-o", str(scratch / "x.svg")], ["heatmap", "-o", str(scratch / "y.svg")])
    for verb in (*pictures, ["top", "--against", "none"]):
        for name, length in spans.items():
            begin = START_NS if length == seconds else middle
            window = ["--from", iso(begin), "--to", iso(begin + length * NS - 1)]
            wall_s, rss = _measured([*NECROSCOPE, *verb, *window, "--store", str(folder)])
            print(f"| {verb[0]} | {name} | {wall_s:.2f} s | {rss / 2**20:.0f} MiB |", flush=True)


def _measured(command: list[str]) -> tuple[float, int]:
    # Through a small process: a child begins with the peak of the one that it was forked from.
    printed = subprocess.run([sys.executable, "-c", MEASURE, *command], check=True, capture_output=True, text=True)
    wall_s, rss = printed.stdout.split()
    return float(wall_s), int(rss) * 1024


if __name__ == "__main__":
    main()
