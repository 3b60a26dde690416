"""A process that computes on one core, recorded, with a symptom in the kernel's log at its end.

It has the highest usual priority; something else wants the core too. Right when `top` shows what it took, by samples of
`cycles` where the processor counts them, and `why` names it and its core. Leaves the store and its truth.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from guests.jobs.program import OUT, ask, document, recording, say, symptom

CORE, HOG, WAITER = 1, "table-packer", "order-feed"
QUIET_S, HELD_S, AFTER_S = 40.0, 8.0, 6.0
_AROUND = ("--event", "nic-tx-timeout")
# What processors that count are called.
_COUNTERS = {"armv8_pmuv3", "armv8_pmuv3_0", "cpu", "cpu_core"}
# As the lab writes it down.
TRUTH = {"scenario": "pinned-hog", "cause": "user-hog", "cpu": CORE, "subject": {"kind": "process", "name": HOG}}
_NAMED = """
import ctypes, os, sys, time
ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)
os.sched_setaffinity(0, {int(sys.argv[2])})
"""
_HOG = f"{_NAMED}os.setpriority(os.PRIO_PROCESS, 0, -20)\nwhile True: pass\n"
_WAITER = f"{_NAMED}while True:\n    sum(range(2000)); time.sleep(0.02)\n"


def main() -> int:
    """0 when everything was right."""
    with process(_WAITER, WAITER), recording():
        time.sleep(QUIET_S)
        with process(_HOG, HOG) as pid:
            time.sleep(HELD_S)
        stalled = f"Time since last napi {HELD_S * 1e6:.0f} usec. napi scheduled: 1"
        symptom(f"TX q 1 is paused for too long (threshold 5000000). {stalled}")
        time.sleep(AFTER_S)
    truth = {**TRUTH, "process": {"name": HOG, "pid": pid}, "decoys": []}
    (OUT / "truth.json").write_text(json.dumps(truth, indent=2) + "\n", "utf-8")
    say(ask("sql", "select event, count(*) as samples, sum(weight) as weight from samples group by event")[1])
    say(ask("top", *_AROUND)[1])
    say(ask("why")[1])
    seen, named = shown(document("top", *_AROUND), _event(), pid), named_by(document("why"), pid)
    say(f"top: {'right' if seen else 'WRONG'}; why: {'right' if named else 'WRONG'}")
    return 0 if seen and named else 1


def shown(top: dict[str, Any], event: str, pid: int) -> bool:
    """Whether the hog has at least half of the time that it took, by samples of this event. Of a window that was not
    seen as a whole (an emulated machine stands still when its host is busy), half of what was seen."""
    took = [row["cores"] for row in top["rows"] if (row["name"], row["detail"]) == (HOG, str(pid))]
    least = HELD_S / 2 * top["seen"] / (top["core_seconds"] / top["cores"])
    return top["event"].partition("/")[0] == event and len(took) == 1 and bool(took[0] >= least)


def named_by(verdict: dict[str, Any], pid: int) -> bool:
    """Whether the hog and its core are named."""
    cause = verdict["cause"] or {}
    process = cause.get("process") or {}
    named = (cause.get("kind"), cause.get("cpu"), process.get("name"), process.get("pid"))
    return (verdict["verdict"], *named) == ("explained", TRUTH["cause"], CORE, HOG, pid)


def _event() -> str:
    devices = {path.name for path in Path("/sys/bus/event_source/devices").iterdir()}
    return "cycles" if devices & _COUNTERS else "cpu-clock"


@contextlib.contextmanager
def process(code: str, name: str) -> Iterator[int]:
    """A process on the core, with a name of its own; its pid."""
    started = subprocess.Popen([sys.executable, "-c", code, name, str(CORE)])
    try:
        yield started.pid
    finally:
        os.kill(started.pid, signal.SIGKILL)
        started.wait()


if __name__ == "__main__":
    sys.exit(main())
