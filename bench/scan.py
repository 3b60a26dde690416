"""What `scan` costs with 0, 5,000 and 50,000 zombies, beside the naive way, in the same run. Needs root.

The naive way is the one of the published incident, taken seriously: `find` every cgroup, and read all its memory files.
It counts and names nothing that is dead. Medians of five; every run is a process of its own, start-up included.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from necroscope.lab.actors.zombies import ZombieFarm, own_name
from necroscope.sense.cgroups.hierarchies import layout
from necroscope.sense.host import Host

RUNS = 5
COUNTS = (0, 5_000, 50_000)
PROGRAM = str(Path(sys.executable).parent / "necroscope")
WALK = """
import json, time
from necroscope.scan.scanner import peak_rss_bytes
from necroscope.sense.host import Host
from necroscope.sense.kernel.memcg_walk import walk_memcgs
started = time.perf_counter()
walk = walk_memcgs(Host(), budget_s=30)
took = time.perf_counter() - started
named = sum(family.zombies for family in walk.families)
print(json.dumps([took, peak_rss_bytes(), named, walk.partial]))
"""


@dataclass(frozen=True)
class Spent:
    """What one process took."""

    wall_s: float
    cpu_s: float
    kernel_s: float


def main() -> None:
    """Print the tables."""
    if os.geteuid() != 0:
        sys.exit("this benchmark makes real zombies and needs root")
    mount = layout(Host()).mount_of("memory")
    assert mount is not None
    naive = [
        "sh",
        "-c",
        f"find {mount.path} -type d | wc -l; find {mount.path} -type f -name 'memory.*' -exec cat {{}} + ",
    ]
    print(f"`necroscope --help`: {median(lambda: spend([PROGRAM, '--help']).wall_s):.3f} s\n")
    print("| zombies | scan wall | CPU | of it kernel | peak RSS | by name | naive wall | CPU | scan / naive |")
    print("|---|---|---|---|---|---|---|---|---|")
    walks = []
    for count in COUNTS:
        with ZombieFarm(own_name("bench")) as farm:
            if count:
                farm.make("tmpfs", count, "jobs", "<id>")
            print(row(count, naive), flush=True)
            walks.append(walk_row(count))
    print("\nThe walk of kernel memory alone, its BTF included:\n")
    print("| zombies made | wall | peak RSS of the process | named | partial |\n|---|---|---|---|---|")
    print("\n".join(walks))


def walk_row(count: int) -> str:
    """One line: the walk of kernel memory by itself."""
    walked = [json.loads(run([sys.executable, "-c", WALK])) for _ in range(RUNS)]
    took_s = statistics.median(one[0] for one in walked)
    rss_bytes = statistics.median(one[1] for one in walked)
    return f"| {count:,} | {took_s:.3f} s | {rss_bytes / 2**20:.0f} MiB | {walked[-1][2]:,} | {walked[-1][3]} |"


def row(count: int, naive: Sequence[str]) -> str:
    """One line: scan beside the naive way."""
    scans, peers = [], []
    for _ in range(RUNS):
        scans.append(spend([PROGRAM, "scan", "--json"]))
        peers.append(spend(naive))
    document = json.loads(run([PROGRAM, "scan", "--json"]))
    named = sum(family["zombies"] for family in document["cgroups"]["memory"]["families"])
    ours, theirs = middle(scans), middle(peers)
    cells = (
        f"{count:,}",
        *(f"{seconds:.2f} s" for seconds in (ours.wall_s, ours.cpu_s, ours.kernel_s)),
        f"{document['cost']['rss_bytes'] / 2**20:.0f} MiB",
        f"{named:,}",
        *(f"{seconds:.3f} s" for seconds in (theirs.wall_s, theirs.cpu_s)),
        f"{ours.wall_s / theirs.wall_s:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def spend(command: Sequence[str]) -> Spent:
    """Run a command and see what it took."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    wall_s = time.perf_counter() - started
    return Spent(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_stime)


def run(command: Sequence[str]) -> str:
    """A command's output; scan leaves with 1 on a sick node."""
    return subprocess.run(command, capture_output=True, text=True).stdout


def middle(spent: Sequence[Spent]) -> Spent:
    """The median of each."""
    return Spent(
        statistics.median(one.wall_s for one in spent),
        statistics.median(one.cpu_s for one in spent),
        statistics.median(one.kernel_s for one in spent),
    )


def median(measure: Callable[[], float]) -> float:
    """The median of five."""
    return statistics.median(measure() for _ in range(RUNS))
