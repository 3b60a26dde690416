"""What an incident is played with: processes, control groups, the recorder, and complaints."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from subprocess import PIPE

from bench.unseen.groups import Groups

_WARNING = 4
_CPUS = sorted(os.sched_getaffinity(0))
_LARGE = 8
_MOST = "10000"


@dataclass(frozen=True, slots=True)
class Player:
    """Where things are."""

    actor: Path
    """The compiled actor.c."""

    necroscope: tuple[str, ...]
    """How the program is called."""


class Actor:
    """One process that takes cues."""

    def __init__(self, name: str, process: subprocess.Popen[str]) -> None:
        self.name = name
        self.pid = process.pid
        self._process = process

    def cue(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text + "\n")
        self._process.stdin.flush()

    def answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def go(self, seconds: float) -> Actor:
        self.cue(f"go {seconds}")
        return self

    def wait(self) -> None:
        """Until it has ended by itself."""
        self._process.wait()

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


@dataclass(frozen=True, slots=True)
class Volume:
    """A file system of an incident's own."""

    path: Path
    device: str
    """Its number, as control groups want it."""


@dataclass(slots=True)
class Played:
    """What happened, for the file beside the recording."""

    name: str
    cpus: int = len(_CPUS)
    kernel: str = os.uname().release
    symptoms: list[dict[str, str]] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    busy: dict[str, float] = field(default_factory=dict)
    late_s: dict[str, list[float]] = field(default_factory=dict)
    pids: dict[str, list[int]] = field(default_factory=dict)
    guilty: list[int] = field(default_factory=list)
    """Which of the processes of one name it was."""


class Stage:
    """One incident. Everything that it makes goes with it; the recording stays."""

    def __init__(self, player: Player, name: str, folder: Path) -> None:
        self._player, self._folder = player, folder
        self.played = Played(name)
        self.groups = Groups()
        self.disk = Path(tempfile.mkdtemp(prefix="srv-", dir="/var/tmp"))
        self.shm = Path(tempfile.mkdtemp(prefix="srv-", dir="/run"))
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=90%", "scratch", str(self.shm)], check=True)
        self._actors: list[Actor] = []
        self._services: list[Actor] = []
        self._undo: list[tuple[Path, str]] = []
        self._volumes: list[Path] = []
        self._log = folder / "kernel.log"
        self._lines = 0

    # -- who is there --

    @property
    def scale(self) -> int:
        """How much larger things are on a machine with much memory."""
        return 4 if len(_CPUS) >= _LARGE else 1

    def cpu(self, number: int) -> int:
        """The core that is called this on a machine of 16: others have fewer."""
        return _CPUS[number % len(_CPUS)]

    def actor(
        self,
        name: str,
        *work: object,
        cpu: int | tuple[int, ...] | None = None,
        realtime: int = 0,
        nice: int = 0,
        idle: bool = False,
        group: str = "",
        ready: bool = True,
        **settings: str,
    ) -> Actor:
        """A process called `name`, in a group called like it unless one is given.

        Where no group can have real-time priority, its group has the most weight instead.
        """
        program = self.program(name)
        options: list[object] = []
        path = group or f"/node/{name}"
        if realtime and not self.groups.realtime:
            realtime, settings = 0, {"cpu_weight": _MOST, **settings}
            self._before_all(path)
        for procs in self.groups.make(path, realtime=realtime > 0, **settings):
            options += ["-g", procs]
        if cpu is not None:
            cores = cpu if isinstance(cpu, tuple) else (cpu,)
            options += ["-c", ",".join(str(self.cpu(core)) for core in cores)]
        options += ["-r", realtime] if realtime else []
        options += ["-n", nice] if nice else []
        options += ["-i"] if idle else []
        return self.started(name, [str(program), *map(str, (*options, *work))], ready)

    def _before_all(self, path: str) -> None:
        above = path.strip("/").split("/")[:-1]
        for depth in range(1, len(above) + 1):
            if above[:depth] != ["node"]:
                self.groups.make("/".join(above[:depth]), cpu_weight=_MOST)

    def actors(self, name: str) -> list[Actor]:
        return [actor for actor in self._actors if actor.name == name]

    def program(self, name: str) -> Path:
        """The same program under another name."""
        path = self.disk / "bin" / name.replace("/", "-")
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            shutil.copy(self._player.actor, path)
        return path

    def started(self, name: str, command: list[str], ready: bool = True) -> Actor:
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        process = subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, cwd="/", env=environment)
        actor = Actor(name, process)
        self._actors.append(actor)
        self.played.pids.setdefault(name, []).append(actor.pid)
        if ready and actor.answer() != "ready":
            raise RuntimeError(f"{name} did not start")
        return actor

    def service(
        self,
        name: str,
        cpu: int | None,
        every_ms: float,
        work_ms: float,
        group: str = "",
        journal: Path | None = None,
        **settings: str,
    ) -> Actor:
        """Something that needs a core at fixed times, and notices when it, or its disk, comes late."""
        if not self.groups.realtime:
            settings = {"cpu_weight": "1", **settings}
        work = (round(every_ms * 1000), round(work_ms * 1000))
        waits_for = () if journal is None else (journal,)
        service = self.actor(name, "serve", *work, *waits_for, cpu=cpu, group=group, **settings)
        self._services.append(service)
        return service

    def daily_life(self, *free: int) -> None:
        """What runs on any node: a little of everything, none of it on cores that are to be left `free`."""
        cores = [core for core in range(2, 16) if core not in free]
        for index, (name, every_ms, work_ms) in enumerate(_DAILY):
            self.actor(name, "serve", every_ms * 1000, work_ms * 1000, cpu=cores[(5 * index) % len(cores)])

    def setting(self, path: str, value: str) -> None:
        """Of the kernel; the old value comes back at the end."""
        file = Path(path)
        self._undo.append((file, file.read_text().strip()))
        file.write_text(value)

    def volume(self, mebibytes: int) -> Volume:
        """An empty disk in memory; its commits wait for the data of all files, as by default before Linux 5.6."""
        image, path = self.shm / f"volume-{len(self._volumes)}.img", self.disk / f"volume-{len(self._volumes)}"
        with image.open("wb") as file:
            file.truncate(mebibytes << 20)
        path.mkdir()
        subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
        subprocess.run(["mount", "-o", "loop,dioread_lock", str(image), str(path)], check=True)
        self._volumes.append(path)
        number = path.stat().st_dev
        return Volume(path, f"{os.major(number)}:{os.minor(number)}")

    # -- what happens --

    @contextmanager
    def recording(self, quiet_s: float, after_s: float = 7.0, *, real_log: bool = False) -> Iterator[None]:
        """The recorder runs: `quiet_s` before the block, `after_s` after it.

        It reads a kernel log of the incident's own, or the real one, which is never written.
        """
        self._log.touch()
        log = [] if real_log else ["--kernel-log", str(self._log)]
        command = [*self._player.necroscope, "record", "--store", str(self._folder / "store"), *log]
        recorder = subprocess.Popen(command, start_new_session=True)
        try:
            time.sleep(2.5 + quiet_s)
            self.lateness()
            yield
            self.played.late_s = self.lateness()
            time.sleep(after_s)
        finally:
            recorder.send_signal(signal.SIGTERM)
            recorder.wait(60)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """While somebody takes a core: how busy each was is kept."""
        began, before = _time(), _core_times()
        yield
        after = _core_times()
        self.played.held = [began, _time()]
        self.played.busy = {cpu: round(_busy(before[cpu], after[cpu]), 2) for cpu in after}

    def take(self, seconds: float, *actors: Actor) -> None:
        """These work for so long."""
        with self.taken():
            for actor in actors:
                actor.go(seconds)
            for actor in actors:
                actor.answer()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def lateness(self) -> dict[str, list[float]]:
        """Of each service: the latest, and how late it was in all, since it was asked before."""
        late = {}
        for service in self._services:
            service.cue("late")
            with suppress(ValueError):
                late[service.name] = [float(word) for word in service.answer().split()]
        return late

    # -- who complains --

    def kernel(self, kind: str, text: str) -> None:
        """A line of the kernel's log, as a driver writes it."""
        from necroscope import clock
        from necroscope.sense.host import Host
        from necroscope.sense.log.log_clock import log_clock

        usec = (clock.now().monotonic_ns - (log_clock(Host()).offset_ns or 0)) // 1000
        with self._log.open("a") as log:
            log.write(f"{_WARNING},{self._lines},{usec},-;{text}\n")
        self._lines += 1
        self.complained(kind, text)

    def mark(self, kind: str, text: str, **about: object) -> None:
        """What somebody on the node tells the recorder."""
        options = [word for name, value in about.items() for word in (f"--{name}", str(value))]
        self.complained(kind, text)
        command = [*self._player.necroscope, "mark", text, "--kind", kind, "--store", str(self._folder / "store")]
        subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)

    def complained(self, kind: str, text: str) -> None:
        self.played.symptoms.append({"kind": kind, "at": _time(), "text": text})

    # -- the end --

    def end(self) -> None:
        for actor in reversed(self._actors):
            actor.end()
        for file, value in reversed(self._undo):
            file.write_text(value)
        for path in (*self._volumes, self.shm):
            subprocess.run(["umount", "--lazy", str(path)], check=False)
        for folder in (self.disk, self.shm):
            shutil.rmtree(folder, ignore_errors=True)
        self.groups.remove()
        (self._folder / "played.json").write_text(json.dumps(_fields(self.played), indent=1) + "\n")


_DAILY = (
    ("chronyd", 1000, 1),
    ("node-metrics", 500, 12),
    ("sshd-session", 200, 1),
    ("fluent-tail", 60, 5),
    ("dns-cache", 20, 1),
    ("backup-index", 40, 12),
)


def _time() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _fields(played: Played) -> dict[str, object]:
    return {name: getattr(played, name) for name in Played.__slots__}


def _core_times() -> dict[str, list[int]]:
    lines = Path("/proc/stat").read_text().splitlines()
    return {
        words[0][3:]: [int(word) for word in words[1:]]
        for words in map(str.split, lines)
        if words[0].startswith("cpu") and words[0] != "cpu"
    }


def _busy(before: list[int], after: list[int]) -> float:
    spent = [now - then for then, now in zip(before, after, strict=True)][:8]
    return 1 - (spent[3] + spent[4]) / max(1, sum(spent))
