"""How long `necroscope why` takes on half a day of a 96-core node with a symptom every ten minutes; start included.

NECROSCOPE_BENCH_STORE and NECROSCOPE_BENCH_HOURS as for `bench window`, whose store it is. Needs no root.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.big_store import SEGMENT_S, START_NS, SYMPTOM_EVERY, large_store
from necroscope.clock import NS, iso

RUNS = 5
NECROSCOPE = [sys.executable, "-m", "necroscope"]


def main() -> None:
    """Print the table."""
    hours = float(os.environ.get("NECROSCOPE_BENCH_HOURS", "12"))
    with tempfile.TemporaryDirectory() as temporary:
        store = large_store(Path(temporary), hours)
        symptoms = round(hours * 3600 / SEGMENT_S) // SYMPTOM_EVERY
        middle = START_NS + (symptoms // 2 * SYMPTOM_EVERY - 1) * SEGMENT_S * NS + 7 * NS
        print(f"{hours:g} h, {symptoms} symptoms; medians of {RUNS}\n")
        print("| asked about | wall | slowest | verdict | confidence | peak RSS |\n|---|---|---|---|---|---|")
        print(row("the latest symptom", store), flush=True)
        print(row("one in the middle", store, "--at", iso(middle)), flush=True)
        print(row("all of them", store, "--all", runs=1), flush=True)


def row(what: str, store: Path, *arguments: str, runs: int = RUNS) -> str:
    """One line."""
    took, answer = [], ""
    for _ in range(runs):
        started = time.perf_counter()
        command = [*NECROSCOPE, "why", "--json", "--store", str(store), *arguments]
        answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        took.append(time.perf_counter() - started)
    document = json.loads(answer)
    first = document["groups"][0] if "groups" in document else document
    cause = first["cause"] or {"confidence": ""}
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    cells = (what, f"{statistics.median(took):.2f} s", f"{max(took):.2f} s", first["verdict"], str(cause["confidence"]))
    return f"| {' | '.join(cells)} | {memory:.0f} MiB |"


if __name__ == "__main__":
    main()
