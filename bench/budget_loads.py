"""Loads that make recording dear, each by ordinary programs, each removed when its block ends.

NECROSCOPE_BENCH_PROCESSES, _ZOMBIES and _CGROUPS (a second) make them smaller or larger.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from necroscope.lab.actors.zombies import ZombieFarm, own_name
from necroscope.lab.environment.cgroup_tree import remove_tree
from necroscope.sense.cgroups.hierarchies import layout
from necroscope.sense.host import Host

Load = Callable[[], AbstractContextManager[str]]
"""A context in which the load is there; it yields what to call it."""

PROCESSES = int(os.environ.get("NECROSCOPE_BENCH_PROCESSES", "5000"))
ZOMBIES = int(os.environ.get("NECROSCOPE_BENCH_ZOMBIES", "50000"))
CGROUPS_PER_S = int(os.environ.get("NECROSCOPE_BENCH_CGROUPS", "12000"))

# Two threads in each process; each process wakes every two seconds for a moment, so that no look finds it as it was.
FOREST = """
import _thread, os, random, sys, time
count, parent = int(sys.argv[1]), os.getpid()
def doze():
    while os.getppid() == parent:
        time.sleep(2 * random.uniform(0.5, 1.5))
        sum(range(20000))
for _ in range(count):
    if os.fork() == 0:
        random.seed()
        _thread.start_new_thread(time.sleep, (86400,))
        doze()
        os._exit(0)
print("ready", flush=True)
sys.stdin.read()
os.kill(0, 9)
"""
# Makes and removes cgroups at a steady rate.
MAKER = """
import os, sys, time
folder, rate = sys.argv[1], float(sys.argv[2])
os.chdir(folder)
begun, made = time.monotonic(), 0
while True:
    name = f"job-{os.getpid()}-{made}"
    os.mkdir(name)
    os.rmdir(name)
    made += 1
    if made % 50 == 0:
        ahead = made / rate - (time.monotonic() - begun)
        if ahead > 0:
            time.sleep(ahead)
        elif ahead < -1:
            begun, made = time.monotonic(), 0
"""
WORK = """
import json, os, random, re, zlib
words = [str(random.random()) for _ in range(2000)]
while True:
    text = json.dumps(words)
    json.loads(text)
    zlib.compress(text.encode(), 3)
    re.findall("[0-9]+[.]1", text)
"""
SYSCALLS = """
    for _ in range(300):
        os.stat("/usr")
"""
BUSY = WORK + SYSCALLS


@contextmanager
def idle() -> Iterator[str]:
    """Nothing."""
    yield "idle"


@contextmanager
def busy() -> Iterator[str]:
    """Every core computes."""
    with running([[sys.executable, "-c", BUSY]] * (os.cpu_count() or 1)):
        yield "all cores busy"


@contextmanager
def processes() -> Iterator[str]:
    """Very many processes, of which most sleep."""
    forest = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", FOREST, str(PROCESSES)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert forest.stdin is not None
    assert forest.stdout is not None
    try:
        if forest.stdout.readline() != b"ready\n":
            sys.exit("so many processes cannot be made here")
        yield f"{PROCESSES:,} processes, {2 * PROCESSES:,} threads"
    finally:
        os.killpg(forest.pid, 9)
        forest.stdin.close()
        forest.stdout.close()
        forest.wait()


@contextmanager
def zombies() -> Iterator[str]:
    """Very many zombies."""
    with ZombieFarm(own_name("bench")) as farm:
        farm.make("tmpfs", ZOMBIES, "jobs", "<id>")
        yield f"{ZOMBIES:,} zombies"


@contextmanager
def storm() -> Iterator[str]:
    """Cgroups made and removed again, as fast as asked for, in a hierarchy where that is cheap."""
    mounts = layout(Host()).mounts
    mount = next((one for one in mounts if one.v2), mounts[0])
    folder = Path(mount.path) / own_name("bench-storm")
    folder.mkdir()
    makers = max(2, os.cpu_count() or 1)
    try:
        with running([[sys.executable, "-I", "-S", "-c", MAKER, str(folder), str(CGROUPS_PER_S / makers)]] * makers):
            yield f"{CGROUPS_PER_S:,} cgroups/s asked for"
    finally:
        remove_tree(folder)


@contextmanager
def running(commands: Sequence[Sequence[str]]) -> Iterator[None]:
    """Programs that end with the block."""
    started = [subprocess.Popen(command) for command in commands]
    try:
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


LOADS: dict[str, Load] = {
    "idle": idle,
    "busy": busy,
    "processes": processes,
    "zombies": zombies,
    "storm": storm,
}
