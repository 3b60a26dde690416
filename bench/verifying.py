"""What it costs to check what was sealed: a 5 s window and `why`, with and without the check. Needs no root.

Without it, readers do what they did before segments had manifests: Parquet's own page checksums. Whole commands, start
included, the two ways in turn; medians. NECROSCOPE_BENCH_STORE as for `bench window`, whose store it is; without one,
an hour is made.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.big_store import SEGMENT_S, START_NS, SYMPTOM_EVERY, large_store
from necroscope.clock import NS, iso

RUNS = 15
WAYS = {
    "before": "from necroscope.store.format import sealed_file\n"
    "from necroscope.store.read import reader\n"
    "sealed_file.manifest_of = reader.manifest_of = lambda segment: None\n"
    "from necroscope.cli.main import run\nrun()\n",
    "verified": "from necroscope.cli.main import run\nrun()\n",
}


def main() -> None:
    """Print the table."""
    hours = float(os.environ.get("NECROSCOPE_BENCH_HOURS", "1"))
    with tempfile.TemporaryDirectory(prefix="necroscope-bench-") as scratch:
        store = large_store(Path(scratch), hours)
        middle = START_NS + (round(hours * 3600 / SEGMENT_S) // SYMPTOM_EVERY // 2 * SYMPTOM_EVERY - 1) * SEGMENT_S * NS
        window = ["--at", iso(middle + 3 * NS), "--before", "5s", "--after", "0s"]
        picture = ["-o", str(Path(scratch) / "x.svg"), "-q"]
        print(f"{hours:g} h of 96 cores; medians of {RUNS}\n")
        print("| | before | verified | ratio | CPU before | verified | ratio |\n|---|---|---|---|---|---|---|")
        for name, command in (
            ("`flame` of 5 s", ["flame", *window, *picture]),
            ("`top` of 5 s", ["top", *window, "--against", "none"]),
            ("`why`", ["why", "--at", iso(middle + 7 * NS)]),
        ):
            print(row(name, [*command, "--store", str(store)]), flush=True)


def row(name: str, command: list[str]) -> str:
    """One line: wall times and CPU times, before and verified."""
    taken: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for number in range(RUNS + 1):
        for way, code in WAYS.items():
            spent = spend([sys.executable, "-c", code, *command])
            if number:
                taken[way].append(spent)
    cells = [name]
    for kind in (0, 1):
        before, verified = (statistics.median(one[kind] for one in taken[way]) for way in WAYS)
        cells += [f"{before:.3f} s", f"{verified:.3f} s", f"{verified / before:.2f}"]
    return f"| {' | '.join(cells)} |"


def spend(command: list[str]) -> tuple[float, float]:
    """Wall and CPU time of a command."""
    started = time.perf_counter()
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} failed with {running.returncode}")
    return time.perf_counter() - started, used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
