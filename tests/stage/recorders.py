"""Real recorders of a stage, the load they run under, and what they left in their store."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from necroscope.query.sql.engine import Engine
from necroscope.store.format.segment import read_table
from necroscope.store.read.catalog import journals
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import event_of
from necroscope.vocabulary.event_sentence import sentence
from stage.processes import children, wait_for

PROGRAM = str(Path(sys.executable).parent / "necroscope")
BURN = "while True: pass"
FORKS = """
import os, time
while True:
    pid = os.fork()
    if not pid:
        os.execv("/bin/true", ["true"])
    os.waitpid(pid, 0)
    time.sleep(0.004)
"""


def ask(store: Path, query: str) -> list[dict[str, Any]]:
    """The answer to a question, asked in this process."""
    with Engine(Store(store)) as engine:
        return list(engine.ask(query).rows())


def events_of(store: Path, kind: str, like: str = "%") -> list[dict[str, Any]]:
    """Events of a kind, in the order of time, in words; `like`: those whose words are like it."""
    rows = ask(store, f"select * exclude (at) from events where kind = '{kind}' order by at_ns")
    found = [row | {"text": sentence(event_of(row))} for row in rows]
    return [row for row in found if fnmatchcase(row["text"], like.replace("%", "*"))]


def alive(pid: int) -> bool:
    """True while a process runs; one that is dead and not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def perf_of(pid: int) -> int | None:
    """The perf process of a recorder."""
    for child in children(pid):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{child}/comm").read_text().startswith("perf"):
                return child
    return None


@contextlib.contextmanager
def process(*command: str, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """A process that does not outlive its block; stopped ones neither."""
    environment = {**os.environ, **(env or {})}
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


@contextlib.contextmanager
def recorder(
    store: Path, *arguments: str, env: dict[str, str] | None = None, script: str | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A recorder that has begun; `script` runs one in another way, with the store as its argument."""
    command = [sys.executable, "-c", script] if script else [PROGRAM, "record", "-q", "--store"]
    before = set(journals(store)) if store.exists() else set()
    with process(*command, str(store), *arguments, env=env) as started:
        wait_for(lambda: _begun(store, before, started), "the recorder's first row", 30.0)
        yield started


@contextlib.contextmanager
def load(cpu: int | None = None, forks: bool = False) -> Iterator[int]:
    """A process that burns a core, pinned to one if wanted, or makes processes; its pid."""
    pinned = ("taskset", "-c", str(cpu)) if cpu is not None else ()
    with process(*pinned, sys.executable, "-c", FORKS if forks else BURN) as started:
        yield started.pid


def stop(started: subprocess.Popen[str]) -> None:
    """Ask the recorder to end, and see that it did so well."""
    started.send_signal(signal.SIGTERM)
    out, err = started.communicate(timeout=30)
    assert (started.returncode, out, err) == (0, "", "")


def sampled(store: Path, since_ns: int = 0) -> bool:
    """True when samples since then can be read. Cheap, to be asked again and again."""
    snapshot = Store(store).snapshot((since_ns, 1 << 62))
    tables = [snapshot.live.get("samples"), *(read_table(one, "samples", ["at_ns"]) for one in snapshot.segments)]
    return any(table is not None and max(table["at_ns"].to_pylist(), default=0) >= since_ns for table in tables)


def wait_for_samples(store: Path, patience_s: float = 20.0) -> None:
    """Wait until samples from now on can be read."""
    since_ns = time.time_ns()
    wait(lambda: sampled(store, since_ns), "samples", patience_s)


def wait(condition: Callable[[], bool], what: str, patience_s: float) -> None:
    """Like `wait_for`, for conditions that cost something."""

    def unhurried() -> bool:
        time.sleep(0.2)
        return condition()

    wait_for(unhurried, what, patience_s)


def _begun(store: Path, before: set[int], started: subprocess.Popen[str]) -> bool:
    if started.poll() is not None:
        raise AssertionError(f"the recorder ended with {started.returncode}: {started.communicate()[1]}")
    with contextlib.suppress(OSError):
        return any(number not in before and path.stat().st_size > 64 for number, path in journals(store).items())
    return False
