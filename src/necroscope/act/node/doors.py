"""What `act` asks of a node and does to it: one narrow protocol for each kind of thing. Tests put a node of their own
behind them.

Everything that asks raises `Unavailable` where the node cannot be asked. What acts returns a note in words, empty where
there is nothing to say, and may fail at any point: what became of it is asked afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class UnitView:
    """A unit as systemd tells it. `stops_too` are units that systemd stops with it; `settings` its properties as text.

    `stop_timeout_s` is None where the unit may take for ever.
    """

    name: str
    names: tuple[str, ...] = ()
    load_state: str = ""
    active_state: str = ""
    sub_state: str = ""
    result: str = ""
    fragment: str = ""
    unit_file_state: str = ""
    invocation: str = ""
    restarts: int = 0
    stop_timeout_s: float | None = 90.0
    stops_too: tuple[str, ...] = ()
    triggered_by: tuple[str, ...] = ()
    refuses_stop: bool = False
    killed: bool = False
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def running(self) -> bool:
        """Whether it runs, or is about to: between two automatic restarts too."""
        return self.active_state not in ("inactive", "failed", "")


@dataclass(frozen=True, slots=True)
class ContainerView:
    """A container as its engine tells it. `policy` is `always`, `on-failure:3`, ...; `started_by` names what would
    start it again: an orchestrator or a unit."""

    id: str
    name: str
    running: bool
    policy: str
    stop_timeout_s: int
    engine: str
    socket: str
    sets_policy: bool
    started_by: str = ""
    cgroup: str = ""


@dataclass(frozen=True, slots=True)
class ProcessView:
    """A process. `start_ticks` tells it apart from a later one with its number; `unit` is the service that it is in."""

    pid: int
    start_ticks: int
    name: str
    cgroups: tuple[str, ...] = ()
    kernel: bool = False

    @property
    def identity(self) -> str:
        """What it is known again by."""
        return f"{self.pid}:{self.start_ticks}"


@dataclass(frozen=True, slots=True)
class HeldZombie:
    """A zombie: its path, what pins it (`page-cache`, `tmpfs`, `anon`, `kernel`; empty: unknown), and the files that
    were seen to, each with `device:inode` where that was read."""

    path: str
    kinds: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()


class Units(Protocol):
    """systemd."""

    def unit(self, name: str) -> UnitView | None:
        """The unit of this name or alias; None where systemd knows none."""

    def files(self, names: Sequence[str]) -> dict[str, bytes]:
        """Paths and bytes of all unit files and drop-ins of these names; of a link, `-> ` and its target."""

    def links(self, names: Sequence[str]) -> list[str]:
        """Paths of the links in /etc and /run that enable units of these names."""

    def stop(self, name: str) -> str:
        """Stop it and wait until it has stopped."""

    def start(self, name: str) -> str:
        """Start it; does not wait."""

    def reload(self) -> None:
        """Read all unit files again."""

    def reboot(self) -> None:
        """Ask for a reboot."""


class PathDoor(Protocol):
    """Files, links and folders by absolute path, below the root in which systemd lives; no link is followed."""

    def state(self, path: str) -> str:
        """What is there, as text that can be compared and put back."""

    def set(self, path: str, state: str) -> None:
        """Make it so: from `absent` to something, or from something to `absent`, at once or not at all."""

    def unlink(self, path: str, identity: str) -> bool:
        """Remove a file if it is the one with this `major:minor:inode`; whether it was."""

    def tidy(self, path: str) -> None:
        """Remove what a killed `set` left beside the path."""


class Engine(Protocol):
    """Container engines with a Docker-compatible socket."""

    def container(self, name: str) -> ContainerView | None:
        """The one container of this name or id; None where no engine knows one."""

    def set_policy(self, view: ContainerView, policy: str) -> None:
        """Set its restart policy."""

    def stop(self, view: ContainerView) -> str:
        """Stop it and wait."""

    def start(self, view: ContainerView) -> str:
        """Start it."""


class Memory(Protocol):
    """Zombies, the page cache, and directories of memory cgroups."""

    def zombies(self, below: str) -> list[HeldZombie]:
        """The zombies below a cgroup. `Unavailable` where kernel memory cannot be read."""

    def count(self, below: str) -> int:
        """How many zombies there are below a cgroup."""

    def identity(self, path: str) -> str:
        """`device:inode` of a path, not followed; empty where there is nothing."""

    def directory(self, cgroup: str) -> str:
        """The directory of a live memory cgroup; empty where there is none."""

    def empty_directories(self, below: str) -> list[tuple[str, str]]:
        """Directories of empty memory cgroups below, deepest first, with their identities."""

    def drop_cache(self, files: Sequence[tuple[str, str]]) -> str:
        """Drop the page cache of files that are still who they were."""

    def reclaim(self, directory: str, budget_s: float) -> str:
        """Reclaim what a subtree holds, for so many seconds at most."""

    def remove(self, directories: Sequence[tuple[str, str]]) -> str:
        """Remove empty cgroup directories that are still who they were."""

    def user_of(self, identity: str) -> int | None:
        """A process that has a file open or mapped; None where none is seen to."""


class Processes(Protocol):
    """Processes by number."""

    def process(self, pid: int) -> ProcessView | None:
        """A living process."""

    def end(self, pid: int, identity: str) -> str:
        """SIGTERM to exactly this process, and wait a while."""

    def callers(self) -> list[ProcessView]:
        """This program and its ancestors, up to init: the way by which somebody is here."""


@dataclass(frozen=True, slots=True)
class Node:
    """All doors of one node. `boot_id` is read anew by each caller who has to know."""

    units: Units
    paths: PathDoor
    engine: Engine
    memory: Memory
    processes: Processes
    boot: Boot


class Boot(Protocol):
    """Which boot this is."""

    def id(self) -> str:
        """The kernel's boot id."""
