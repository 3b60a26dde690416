"""`python -m bench.soak --seconds 10800 --log FILE`: a recorder on duty under changing load, looked at from outside.

Every ten seconds the load changes: nothing, a busy core, a storm of processes, cgroups made and removed, a reset of a
network device every five seconds. Prometheus scrapes every five seconds, a pager is down all the time. Each minute is a
line of the log: memory, descriptors, threads, CPU, scrapes. The end says whether the bars hold: memory grows by at most
1 % an hour, descriptors and threads do not, a scrape takes at most 50 ms at p99. Exit code 1 where one does not.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from bench.budget import cpu_s, pss_of, tree
from necroscope.lab.environment.symptom_source import SymptomSource

NECROSCOPE = (sys.executable, "-P", "-m", "necroscope")
CHANGE_S, SCRAPE_S, RESET_S = 10.0, 5.0, 5.0
WARM = 1 / 3
SLOPE_PER_HOUR, SCRAPE_P99_S = 0.01, 0.050
LONG_S = 3 * 3600.0
MANY = 100
_BUSY = "while True: pass"
_FORKS = "import subprocess\nwhile True: subprocess.run(['/bin/true'])"
_CGROUPS = """
import os, pathlib, sys
top = pathlib.Path(sys.argv[1])
for number in range(1 << 30):
    path = top / f'necroscope-soak-{os.getpid()}-{number}'
    path.mkdir(); path.rmdir()
"""
_LINE = (
    "ena 0000:00:06.0 eth9: TX q 1 is paused for too long (threshold 5000000). usecs since napi 5123456. "
    "napi scheduled: 1. napi CPU: 0. msecs since interrupt: 5123"
)


@dataclass(frozen=True, slots=True)
class Seen:
    """One look from outside. Memory in bytes: of the recorder itself (RSS), and of all it runs (PSS)."""

    at_s: float
    load: str
    rss: int
    pss: int
    descriptors: int
    threads: int
    cpu_s: float
    scrape_ms: float
    scrape_worst_ms: float


def main() -> None:
    """Run, and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=LONG_S)
    parser.add_argument("--every", type=float, default=60.0, help="seconds between two lines of the log")
    parser.add_argument("--log", type=Path, default=Path("soak.log"))
    given = parser.parse_args()
    with given.log.open("w") as log, tempfile.TemporaryDirectory(prefix="necroscope-soak-") as folder:
        looks, scrapes_s = soak(Path(folder), given.seconds, given.every, log)
        verdict = judged(looks, scrapes_s)
        print(json.dumps(verdict), file=log)
    print(json.dumps(verdict, indent=2))
    sys.exit(1 if verdict["broken"] else 0)


def soak(folder: Path, seconds: float, every_s: float, log: TextIO) -> tuple[list[Seen], list[float]]:
    """The looks, and how long each scrape took."""
    source = SymptomSource(folder / "kmsg")
    (folder / "necroscope.toml").write_text("[[sinks]]\nkind = 'json'\nurl = 'http://127.0.0.1:9/'\ntimeout_s = 1\n")
    port = 9478
    options = ["--store", str(folder / "store"), "--kernel-log", str(source.path), "--metrics", f"127.0.0.1:{port}"]
    command = [*NECROSCOPE, "record", *options, "--config", str(folder / "necroscope.toml")]
    looks, scrapes_s, recent_s = list[Seen](), list[float](), list[float]()
    with contextlib.ExitStack() as ending, (folder / "recorder.log").open("wb") as said:
        recorder = subprocess.Popen(command, stderr=said)
        ending.callback(_end, recorder)
        loads = _loads(ending)
        began_s = time.monotonic()
        time.sleep(5.0)
        next_change, next_scrape, next_reset, next_look = 0.0, 5.0, 60.0, every_s
        name = ""
        while (at_s := time.monotonic() - began_s) < seconds:
            if recorder.poll() is not None:
                sys.exit(
                    f"the recorder ended with {recorder.returncode}: {(folder / 'recorder.log').read_text()[-500:]}"
                )
            if at_s >= next_change:
                name, next_change = next(loads), at_s + CHANGE_S
            if at_s >= next_scrape:
                recent_s.append(_scrape(port))
                next_scrape = at_s + SCRAPE_S
            if at_s >= next_reset:
                source.write(_LINE)
                next_reset = at_s + RESET_S
            if at_s >= next_look:
                looks.append(_look(recorder.pid, at_s, name, recent_s))
                scrapes_s += recent_s
                recent_s = []
                next_look = at_s + every_s
                print(json.dumps(asdict(looks[-1])), file=log, flush=True)
            time.sleep(0.2)
    return looks, scrapes_s


def judged(looks: list[Seen], scrapes_s: list[float]) -> dict[str, object]:
    """The bars. The first third is warming up; the slope of a run of minutes says little, and is only told."""
    warm = looks[int(len(looks) * WARM) :]
    hours = np.array([one.at_s for one in warm]) / 3600
    rss = np.array([one.rss for one in warm], float)
    slope = float(np.polyfit(hours, rss, 1)[0] / rss.mean()) if len(warm) > 2 else 0.0
    p99_s = float(np.quantile(scrapes_s, 0.99)) if scrapes_s else 0.0
    half = len(warm) // 2
    first, last = warm[:half] or warm, warm[half:]
    broken = []
    if looks and looks[-1].at_s >= 0.95 * LONG_S and slope > SLOPE_PER_HOUR:
        broken.append(f"memory grows by {slope:.2%} an hour")
    for what in ("descriptors", "threads"):
        before, after = (max(getattr(one, what) for one in part) for part in (first, last))
        if after > before + 2:
            broken.append(f"{what} grew from {before} to {after}")
    # The 99th of a hundred is the worst of few: then the median has to hold.
    many = len(scrapes_s) >= MANY
    usual_s = p99_s if many else float(np.median(scrapes_s or [0.0]))
    if usual_s > SCRAPE_P99_S:
        broken.append(f"a scrape takes {1000 * usual_s:.0f} ms at {'p99' if many else 'the median'}")
    return {
        "seconds": looks[-1].at_s if looks else 0.0,
        "rss_mb": [round(one.rss / 1e6, 1) for one in (warm[0], warm[-1])] if warm else [],
        "rss_slope_per_hour": round(slope, 4),
        "descriptors": looks[-1].descriptors if looks else 0,
        "threads": looks[-1].threads if looks else 0,
        "cpu_share": round((warm[-1].cpu_s - warm[0].cpu_s) / (warm[-1].at_s - warm[0].at_s), 4)
        if len(warm) > 1
        else 0,
        "scrapes": len(scrapes_s),
        "scrape_p99_ms": round(1000 * p99_s, 1),
        "broken": broken,
    }


def _look(pid: int, at_s: float, load: str, scrapes_s: list[float]) -> Seen:
    status = Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    children = tree(pid)
    total = sum(sum(cpu_s(one)) for one in children)
    mean_ms = 1000 * sum(scrapes_s) / len(scrapes_s) if scrapes_s else 0.0
    return Seen(
        round(at_s, 1),
        load,
        int(fields["VmRSS"].split()[0]) << 10,
        sum(map(pss_of, children)),
        len(list(Path(f"/proc/{pid}/fd").iterdir())),
        int(fields["Threads"]),
        round(total, 2),
        round(mean_ms, 1),
        round(1000 * max(scrapes_s, default=0.0), 1),
    )


def _scrape(port: int) -> float:
    began_s = time.monotonic()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        answer.read()
    return time.monotonic() - began_s


def _loads(ending: contextlib.ExitStack) -> Iterator[str]:
    """One after the other, round and round; the one before has ended."""
    mount = next((path for path in (Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")) if path.is_dir()), Path("/"))
    programs: dict[str, tuple[str, ...]] = {
        "nothing": (),
        "a busy core": (_BUSY,),
        "processes": (_FORKS,),
        "cgroups": (_CGROUPS, str(mount)),
    }
    running: subprocess.Popen[bytes] | None = None
    ending.callback(lambda: running and _end(running))
    while True:
        for name, program in programs.items():
            if running is not None:
                _end(running)
            running = subprocess.Popen([sys.executable, "-c", *program]) if program else None
            yield name


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


if __name__ == "__main__":
    main()
