"""What recording costs where a neighbour makes it dear: very many processes, zombies, or cgroups that come and go.

Needs root. Each load is made by ordinary programs of this file, settles for NECROSCOPE_BENCH_SETTLE seconds under the
recorder, and is measured for NECROSCOPE_BENCH_SECONDS; then all of it is removed. NECROSCOPE_BENCH_LOADS names some of
the loads only. The share is that of one core: the CPU time of the recorder, perf and all their children.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.budget_loads import LOADS, Load
from necroscope.clock import LAST_NS, NS
from necroscope.query.rows import rows_of
from necroscope.record.budget.shedding import SHEDS
from necroscope.record.perf_rows import CHURN
from necroscope.store.read.reader import Store

SECONDS = float(os.environ.get("NECROSCOPE_BENCH_SECONDS", "60"))
SETTLE_S = float(os.environ.get("NECROSCOPE_BENCH_SETTLE", "25"))
NECROSCOPE = [sys.executable, "-m", "necroscope"]
_HZ = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Measured:
    """What a recorder and everything it started used: shares of a core, and proportional set sizes in bytes."""

    start: float
    recorder: float
    perf: float
    children: float
    pss: int
    descriptors: int
    store_bytes_per_s: float

    @property
    def share(self) -> float:
        """Of one core, all together."""
        return self.recorder + self.perf + self.children


def main() -> None:
    """Print the table."""
    if os.geteuid() != 0:
        sys.exit("this benchmark records all CPUs and needs root")
    chosen = os.environ.get("NECROSCOPE_BENCH_LOADS", "").split() or list(LOADS)
    print(f"Shares of one core over {SECONDS:.0f} s, after {SETTLE_S:.0f} s to settle:\n")
    columns = ["load", "all ours", "recorder", "perf", "children", "CPU of the start", "PSS", "files", "store"]
    print(f"| {' | '.join([*columns, 'reported'])} |\n|{'---|' * (len(columns) + 1)}")
    for name in chosen:
        print(row(name, LOADS[name]), flush=True)


def row(name: str, load: Load) -> str:
    """One line: a recorder beside a load."""
    with tempfile.TemporaryDirectory() as folder, load() as what:
        store = Path(folder) / "store"
        found = measured(store)
        reported = reported_by(store)
    cells = (
        what or name,
        *(f"{share:.2%}" for share in (found.share, found.recorder, found.perf, found.children)),
        f"{found.start:.2f} s",
        f"{found.pss / 1e6:.0f} MB",
        f"{found.descriptors}",
        f"{found.store_bytes_per_s / 1024:.1f} KiB/s",
        reported,
    )
    return f"| {' | '.join(cells)} |"


def measured(store: Path) -> Measured:
    """Record into a store and look at the recorder from outside."""
    recorder = subprocess.Popen([*NECROSCOPE, "record", "-q", "--store", str(store)])
    try:
        time.sleep(SETTLE_S)
        first, size, began = uses(recorder.pid), bytes_of(store), time.monotonic()
        time.sleep(SECONDS)
        last, grown, took = uses(recorder.pid), bytes_of(store) - size, time.monotonic() - began
        if recorder.poll() is not None:
            sys.exit(f"the recorder ended with {recorder.returncode}")
        pss, files = sum(map(pss_of, tree(recorder.pid))), sum(map(files_of, tree(recorder.pid)))
    finally:
        recorder.terminate()
        recorder.wait()
    shares = [(after - before) / took for before, after in zip(first, last, strict=True)]
    return Measured(sum(first), *shares, pss, files, grown / took)


def uses(pid: int) -> tuple[float, float, float]:
    """CPU seconds of the recorder, of its perf, and of other children, those that ended included."""
    own = cpu_s(pid)
    perf = other = 0.0
    for child in tree(pid)[1:]:
        one = sum(cpu_s(child))
        if (name := comm(child)) == "perf":
            perf += one
        else:
            other += one if name else 0.0
    return own[0], perf, own[1] + other


def cpu_s(pid: int) -> tuple[float, float]:
    """CPU seconds of a process, and of its children that ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0, 0.0
    user, system, child_user, child_system = (int(field) / _HZ for field in fields[11:15])
    return user + system, child_user + child_system


def tree(pid: int) -> list[int]:
    """A process and everything below it."""
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        found.append(one)
        with suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                with suppress(OSError):
                    waiting += map(int, (task / "children").read_text().split())
    return found


def comm(pid: int) -> str:
    """A process's name; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def pss_of(pid: int) -> int:
    """Proportional set size, and perf's rings, which it does not count."""
    try:
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    except OSError:
        return 0
    pss = next((int(line.split()[1]) << 10 for line in rows if line.startswith("Pss:")), 0)
    rings = (line.split(maxsplit=1)[0].split("-") for line in maps if "perf_event" in line)
    return pss + sum(int(high, 16) - int(low, 16) for low, high in rings)


def files_of(pid: int) -> int:
    """Open descriptors."""
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return 0


def bytes_of(store: Path) -> int:
    """What a store takes now."""
    total = 0
    for file in store.rglob("*"):
        with suppress(OSError):
            total += file.stat().st_size
    return total


def reported_by(store: Path) -> str:
    """How many cgroups a second were reported, singly or in sums, and what the recorder gave up."""
    snapshot = Store(store).snapshot()
    rows = rows_of(snapshot, "events", (0, LAST_NS), ["at_ns", "kind", "subject", "count"])
    made = [row["at_ns"] for row in rows if row["kind"] == "cgroup-mkdir"]
    sums = [(row["at_ns"], row["count"] or 0) for row in rows if row["kind"] == CHURN]
    times = [*made, *(at_ns for at_ns, _ in sums)]
    rate = (len(made) + sum(number for _, number in sums)) * NS / max(NS, max(times) - min(times)) if times else 0.0
    shed = [row["subject"] for row in rows if row["kind"] == SHEDS]
    parts = [f"{rate:,.0f} cgroups/s were reported"] if rate > 1 else []
    return "; ".join([*parts, f"shed: {', '.join(shed)}" if shed else "nothing shed"])
