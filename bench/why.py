"""How long `necroscope why` takes on half a day of a 96-core node with a symptom every ten minutes; start included.

NECROSCOPE_BENCH_STORE and NECROSCOPE_BENCH_HOURS as for `bench window`, whose store it is. Needs no root.
"""

from __future__ import annotations

import json
import os
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
    took, memory, document = [], 0, {}
    for _ in range(runs):
        started = time.perf_counter()
        with tempfile.TemporaryFile() as answer:
            command = [*NECROSCOPE, "why", "--json", "--store", str(store), *arguments]
            asked = subprocess.Popen(command, stdout=answer, stderr=subprocess.DEVNULL)
            _, status, used = os.wait4(asked.pid, 0)
            asked.returncode = os.waitstatus_to_exitcode(status)
            took.append(time.perf_counter() - started)
            memory = max(memory, used.ru_maxrss)
            answer.seek(0)
            document = json.load(answer)
    first = document["groups"][0] if "groups" in document else document
    sure = first["cause"]["confidence"] if first["cause"] else ""
    cells = (what, f"{statistics.median(took):.2f} s", f"{max(took):.2f} s", first["verdict"], str(sure))
    return f"| {' | '.join(cells)} | {memory / 1024:.0f} MiB |"


if __name__ == "__main__":
    main()
