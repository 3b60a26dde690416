"""The stage of one run: everything a scenario needs, and the only thing it is given.

What is made through a stage is written down in the run's undo log first and removed at the end, whatever happens.
Everything that could be learned by heart comes from `rng`, which is seeded: names, the core, delays, magnitudes.
"""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from necroscope import clock
from necroscope.errors import BadInput, NecroscopeError
from necroscope.lab.actors import actors, echo, victim
from necroscope.lab.actors.actors import Actor
from necroscope.lab.actors.victims import Victims
from necroscope.lab.cleaning import hierarchies
from necroscope.lab.environment.cgroup_tree import enable_memory, memory_mount
from necroscope.lab.environment.core_watch import CoreWatch
from necroscope.lab.environment.recorder_child import LabRecorder
from necroscope.lab.environment.symptom_source import UNKNOWN, Symptom, SymptomSource, starved_lines, unrelated_lines
from necroscope.lab.names import Names
from necroscope.lab.scoring.asking import OnCall
from necroscope.lab.scoring.run_report import RunReport, Window
from necroscope.lab.undo_log import PREFIX, Entry, UndoLog, process_entry
from necroscope.sense.environment import CONTAINER_SOCKET, SYSTEM_BUS
from necroscope.vocabulary.event import Event

if TYPE_CHECKING:
    from necroscope.lab.environment.network import Network
    from necroscope.lab.environment.podman import ContainerEngine
    from necroscope.lab.environment.systemd import SystemdNode

USUAL_S = 45.0
BASELINE_S = (14.0, 18.0)
AFTER_S = (3.0, 5.0)


class Stage:
    """Made by the runner. See docs/lab.md."""

    def __init__(
        self, seed: str, for_s: float, store: Path, undo_log: UndoLog, ending: contextlib.ExitStack,
        say: Callable[[str], None], decoys: Callable[[Stage], None] = lambda stage: None, asked: bool = False,
    ) -> None:  # fmt: skip
        self.rng = random.Random(seed)
        self.cpus = sorted(os.sched_getaffinity(0))
        self.cpu = self.rng.choice(self.cpus)
        self.other_cpus = [cpu for cpu in self.cpus if cpu != self.cpu]
        self.store = store
        self.say = say
        self.report = RunReport()
        self.cores = CoreWatch()
        self.environment: dict[str, str] = {}
        self.device = ""
        self._undo_log, self._ending = undo_log, ending
        # how much longer than usual the run is
        self.scale = for_s / USUAL_S
        self._names = Names(self.rng)
        self._actors: list[Actor] = []
        self._decoys = decoys
        self.victims = Victims(self._put)
        self.device = self.name("device")
        self.folder = self._folder(Path("/var/tmp"))
        self.source = SymptomSource(self.folder / "kernel.log")
        self.recorder: LabRecorder | None = None
        self.on_call = OnCall(store, self.started) if asked else None
        self.node: SystemdNode | None = None
        self.followed_by: Callable[[Stage], None] | None = None
        """What happens when the incident is over, while everything of it is still there and the recorder runs."""

    # -- draws -------------------------------------------------------------------------------------------

    def name(self, kind: str = "process") -> str:
        """A name that nothing else of this run has: `process`, `unit`, `slice`, `timer`, `container`, `cgroup`, ..."""
        return self._names.draw(kind)

    def seconds(self, least: float, most: float) -> float:
        """A drawn length of time, longer with a longer `--for`."""
        return self.rng.uniform(least, most) * max(1.0, self.scale)

    def sleep(self, seconds: float) -> None:
        """Wait."""
        clock.sleep(seconds)

    # -- places ------------------------------------------------------------------------------------------

    @property
    def root_cgroup(self) -> str:
        """The name of the run's cgroup, the same in every hierarchy."""
        return f"{PREFIX}{self._undo_log.run}"

    def cgroup(self, path: str = "", parent: bool = False) -> Path:
        """The directory of a memory cgroup below the run's own, made if it is not there.

        Where the memory controller has a hierarchy of its own, the same cgroup is made in cgroup2 as well: perf tells
        cgroups of that one. An actor that is spawned into it enters both. `parent`: others will be made below it.
        """
        mount = memory_mount()
        for place in self._twins(path):
            place.mkdir(parents=True, exist_ok=True)
        made = Path(mount.path) / self.root_cgroup / path
        if mount.v2:
            below = made.relative_to(mount.path)
            for folder in (*reversed(below.parents), *((below,) if parent else ())):
                enable_memory(Path(mount.path) / folder)
        return made

    def cgroup_path(self, cgroup: Path) -> str:
        """A memory cgroup's path as the kernel tells it."""
        mount = memory_mount()
        return f"{mount.root.rstrip('/')}/{cgroup.relative_to(mount.path)}"

    def shm(self) -> Path:
        """A folder of the run's own on a tmpfs: what lies there is memory."""
        return self._folder(Path("/dev/shm"))

    def setting(self, path: str, value: str) -> None:
        """Write to a control file, such as a sysctl; the old value comes back at the end."""
        self._undo_log.add(Entry("setting", path=path, old=Path(path).read_text().strip()))
        Path(path).write_text(value)

    # -- processes ---------------------------------------------------------------------------------------

    def spawn(
        self, function: Callable[..., Any], *arguments: Any, name: str = "", cpu: int | None = None, nice: int = 0,
        realtime: int = 0, cgroup: Path | None = None, network: Network | None = None,
    ) -> Actor:  # fmt: skip
        """A process that runs `function(*arguments)`, which stands at the top of a file. Arguments are JSON values.

        `cgroup` is one of `Stage.cgroup`; `realtime` is a priority of SCHED_RR; `network` one of `Stage.network`.
        """
        cgroups: Sequence[Path] = ()
        if cgroup is not None:
            relative = cgroup.relative_to(Path(memory_mount().path) / self.root_cgroup)
            cgroups = [place for place in self._twins(str(relative)) if place.is_dir()]
        actor = actors.start(
            function, arguments, name or self.name(), cpu=cpu, nice=nice, realtime=realtime, cgroups=cgroups,
            started=self.started, network=network.holder if network else 0,
        )  # fmt: skip
        self._ending.callback(actor.end)
        self._actors.append(actor)
        return actor

    def at_end(self, undo: Callable[[], object]) -> None:
        """Call this when the run ends, whatever happens; what was made last is undone first."""
        self._ending.callback(undo)

    def started(self, pid: int) -> None:
        """Write down a process that was just started."""
        self._undo_log.add(process_entry("process", pid))

    def systemd(self, name: str = "", binds: Sequence[Path] = ()) -> SystemdNode:
        """A real systemd, booted in a cgroup of the run (`NAME` below the run's own); the recorder asks its bus.

        Folders of `binds` are there inside under their own names.
        """
        from necroscope.lab.environment.systemd import TRACES, booted, wanted_mounts

        name = name or self.name("node")
        self.cgroup(name)
        own = [mount / self.root_cgroup / name for mount in wanted_mounts()]
        for path in own:
            path.mkdir(parents=True, exist_ok=True)
        machine = f"{self.root_cgroup}-{name}"[:63].rstrip("-")
        for trace in TRACES:
            self._undo_log.add(Entry("folder", path=f"{trace}/{machine}"))
        node = self.node = self._ending.enter_context(booted(machine, own, self.started, binds))
        self.environment[SYSTEM_BUS] = str(node.bus)
        return node

    def containers(self, below: str = "") -> ContainerEngine:
        """A real container engine, in a cgroup of the run (or further below); the recorder asks its socket."""
        from necroscope.lab.environment.podman import CACHE, engine

        if not CACHE.exists():
            self._undo_log.add(Entry("cache", path=str(CACHE)))
        self.cgroup(below)
        for mount in hierarchies():
            (mount / self.root_cgroup / below).mkdir(parents=True, exist_ok=True)
        folder = self._folder(Path("/var/tmp"), "-pod")
        made = self._ending.enter_context(
            engine(folder, str(Path(self.root_cgroup, below, self.name("cgroup"))), self.started)
        )
        self.environment[CONTAINER_SOCKET] = str(made.socket)
        return made

    def network(self) -> Network:
        """A network namespace, joined to ours by a veth pair."""
        from necroscope.lab.environment import network

        holder = self.spawn(network.hold)
        holder.answer()
        device = f"nlab{self._undo_log.run[:5]}{len(self._undo_log.entries()):03x}"
        self._undo_log.add(Entry("link", path=device))
        return network.join(holder.pid, device, 4 * self.rng.randrange(1, 60) + 1)

    # -- the play ----------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """The recorder runs during the block: decoys and a quiet baseline before it, a few quiet seconds after it."""
        self.recorder = LabRecorder(self.store, self.source.path, self.environment, self.started)
        self._ending.callback(self.recorder.kill)
        if self.on_call is not None:
            self._ending.callback(self.on_call.leave)
        self.say("the recorder starts")
        self.recorder.start()
        with self.cores.watching():
            self._decoys(self)
            began_ns = clock.now().realtime_ns
            self.say("quiet time, with decoys: " + (", ".join(one["decoy"] for one in self.report.decoys) or "none"))
            self.sleep(self.rng.uniform(*BASELINE_S) * self.scale)
            self.report.baseline = Window(began_ns, clock.now().realtime_ns)
            yield
            self.say("quiet time after")
            self.sleep(self.rng.uniform(*AFTER_S))
            if self.followed_by is not None:
                self.followed_by(self)
        self.victims.hear()
        if self.on_call is not None:
            self.report.answer = self.on_call.finish()
        self.say("the recorder stops")
        self.recorder.stop()

    @contextlib.contextmanager
    def episode(self) -> Iterator[None]:
        """The block in which a core is being taken; measured by the lab itself."""
        if self.on_call is not None:
            self.on_call.leave()
        began_ns = clock.now().realtime_ns
        self.say(f"core {self.cpu} is taken")
        try:
            yield
        finally:
            self.report.episodes.append(Window(began_ns, clock.now().realtime_ns))

    def symptom(self, text: str = "", *, after: tuple[float, float] = (0.2, 3.0), related: bool = True) -> Symptom:
        """After a drawn delay, a driver complains in the lab's own kernel log; without a text, one is drawn."""
        self.sleep(self.rng.uniform(*after))
        self.victims.hear()
        lines = [text] if text else self._lines(related)
        said = [self.source.write(line) for line in lines][-1]
        self.report.symptoms.append(said)
        self.say(f"symptom: {said.text}")
        if self.on_call is not None:
            self.on_call.ask(said)
        return said

    def mark(self, text: str, *, kind: str = "mark", subject: str = "", at_ns: int = 0) -> None:
        """Put an event on the timeline, as `necroscope mark` does."""
        self._put(Event(at_ns or clock.now().realtime_ns, kind, "mark", subject, text))

    def _put(self, event: Event) -> None:
        from necroscope.store.inbox import put

        put(self.store, event)

    def victim(self, cpu: int | None = None) -> Actor:
        """A process with a little to do on the core all the time; when it could not, marks of kind `stall` tell it."""
        core = self.cpu if cpu is None else cpu
        actor = self.spawn(victim.work, cpu=core)
        self.victims.add(actor, "stall", f"{{name}} ({{pid}}) did not run for {{seconds}} on CPU {core}", core)
        return actor

    def echo(self) -> Actor:
        """An echo server on the core, over a veth pair; marks of kind `slow-echo` tell answers that took long."""
        network = self.network()
        server = self.spawn(echo.serve, network.peer, cpu=self.cpu, network=network)
        client = self.spawn(echo.probe, network.peer)
        self.victims.add(client, "slow-echo", f"an answer of {server.name} ({server.pid}) took {{seconds}}")
        return server

    def decoy(self, decoy: str, **what: str) -> None:
        """Tell the truth about something that looks guilty and is not."""
        self.report.decoys.append({"decoy": decoy, **what})

    # -- measures ----------------------------------------------------------------------------------------

    def held_s(self, mode: str = "", cpu: int | None = None) -> float:
        """The longest time in an episode in which the core was at 95 % or more without a break, mostly in `mode`."""
        core = self.cpu if cpu is None else cpu
        return max(
            (self.cores.held_s(core, one.began_ns, one.ended_ns, mode) for one in self.report.episodes), default=0
        )

    def stalled_s(self) -> float:
        """The longest time in which a victim did not run."""
        return self.victims.longest_s("stall")

    def since_s(self, at_ns: int) -> float:
        """Seconds from then to now."""
        return (clock.now().realtime_ns - at_ns) / clock.NS

    def fallen(self) -> list[str]:
        """Actors that ended badly, and whom nobody had ended."""
        return [f"{one.name} ({one.pid})" for one in self._actors if one.fell]

    def lost(self) -> str:
        """What the recording does not hold although it happened: the last symptom. Empty where nothing is missing."""
        from necroscope.query.events.landmarks import symptoms
        from necroscope.store.read.reader import Store

        known = [one for one in self.report.symptoms if one.kind != UNKNOWN]
        if not known:
            return ""
        around = known[-1].at_ns - 5 * clock.NS, known[-1].at_ns + 5 * clock.NS
        try:
            found = symptoms(Store(self.store).snapshot(around), around)
        except (NecroscopeError, OSError) as error:
            return f"the recording cannot be read: {error}"
        held = any(event.source != "mark" for event in found)
        return "" if held else "the recording does not hold the symptom: its store was full, or the recorder was ended"

    # -- own ---------------------------------------------------------------------------------------------

    def _lines(self, related: bool) -> list[str]:
        if not related:
            return unrelated_lines(self.rng, self.device)
        stalled_s = self.report.episodes[-1].seconds if self.report.episodes else 6.0
        return starved_lines(self.rng, self.device, self.cpu, stalled_s, len(self.cpus))

    def _twins(self, path: str) -> list[Path]:
        if ".." in Path(path).parts or path.startswith("/"):
            raise BadInput(f"{path!r} is not below the run's cgroup")
        mount = memory_mount()
        unified = [one for one in hierarchies() if (one / "cgroup.subtree_control").exists() and str(one) != mount.path]
        return [place / self.root_cgroup / path for place in (Path(mount.path), *unified)]

    def _folder(self, where: Path, tail: str = "") -> Path:
        path = where / f"{self.root_cgroup}{tail}"
        if not path.exists():
            self._undo_log.add(Entry("folder", path=str(path)))
            path.mkdir(mode=0o700)
        return path
