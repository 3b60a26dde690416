"""The walk through the tree of memory cgroups, on any `KernelMemory`.

Bounded in time, nodes and depth, and iterative. Every zombie is streamed into a tally and forgotten; what is kept are
the cgroups that have children and were not visited yet. Live cgroups are named only where a name is needed.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.kernel.bpf.memory import KernelMemory
from necroscope.sense.kernel.files import Files, Inode
from necroscope.sense.kernel.layout import MemcgLayout
from necroscope.sense.kernel.pins import Pins
from necroscope.sense.kernel.pointers import Pointers
from necroscope.sense.kernel.siblings import Node, Siblings
from necroscope.sense.kernel.tally import Tally
from necroscope.sense.kernel.zombies import Details, Ticks, Zombie, ZombieReader
from necroscope.vocabulary.cgroup_family import segment_pattern
from necroscope.vocabulary.model import DirectoryFamily, Family, ParentCount, Pin, PinKind

NODES_MAX = 2_000_000
DEPTH_MAX = 256
UNREADABLE = "<unreadable>"
# the share of the time that is kept for counts and names
_HURRY = 0.25


@dataclass(frozen=True, slots=True)
class Walk:
    """What one walk saw.

    `live` counts online cgroups, the root included. `empty_directories` are live ones with no process and no live
    child. `vanished` were freed while they were read, and are counted nowhere.
    """

    live: int
    zombies: int
    by_parent: tuple[ParentCount, ...] = ()
    families: tuple[Family, ...] = ()
    pinned_by: tuple[Pin, ...] = ()
    empty_directories: tuple[DirectoryFamily, ...] = ()
    partial: bool = False
    reasons: tuple[str, ...] = ()
    failed_reads: int = 0
    vanished: int = 0


@dataclass(slots=True)
class _Place:
    """A cgroup with children. The root's path is empty; None is not known yet."""

    node: Node
    above: _Place | None
    live: bool
    depth: int
    path: str | None = None
    pattern: str = ""


@dataclass(slots=True)
class _NamedZombie:
    """A zombie with its details and its path."""

    node: Node
    details: Details
    path: str
    family: str
    held: dict[PinKind, int]
    files: dict[PinKind, list[str]]
    identities: list[tuple[str, str]]


class Walker:
    """One walk."""

    def __init__(
        self,
        memory: KernelMemory,
        layout: MemcgLayout,
        pointers: Pointers,
        pins: Pins | None = None,
        files: Files | None = None,
        now: Ticks | None = None,
        on_zombie: Callable[[Zombie], None] | None = None,
        files_of_each: bool = True,
    ) -> None:
        self._memory, self._layout, self._pointers, self._files = memory, layout, pointers, files
        self._siblings = Siblings(memory, layout, pointers)
        self._zombie_reader = ZombieReader(memory, layout, pointers, pins, now)
        self._pinned = pins is not None
        self._on_zombie = on_zombie
        self._every_file = on_zombie is not None and files_of_each
        self._tally = Tally()
        self._stack: list[_Place] = []
        self._live = self._seen = self._vanished = self._unpinned = 0
        self._hurry_at = 0.0
        self._watch: Callable[[], float] = clock.elapsed_s
        self.reasons: list[str] = []
        if layout.population is None:
            self.reasons.append("this kernel does not tell which cgroups hold no process")

    def walk(self, deadline: float) -> Walk:
        """Walk until done or until `deadline` on the stop-watch of `clock`."""
        for _ in self.steps(deadline):
            pass
        return self.result()

    def steps(self, deadline: float, watch: Callable[[], float] | None = None) -> Iterator[None]:
        """The same a batch of cgroups at a time, until `deadline` on the given stop-watch. Any time may pass between
        two steps: what changed meanwhile is found like what changes during one.

        Counts and names come first: when three quarters of the time are gone, pins are no longer read.
        """
        watch = watch or clock.elapsed_s
        self._live, self._watch = 1, watch
        self._hurry_at = deadline - (deadline - watch()) * _HURRY
        self._stack = [_Place(self._root(), None, True, 0, "")]
        while self._stack and self._in_bounds(deadline):
            place = self._stack.pop()
            if not self._siblings.still([place.node])[0]:
                continue
            torn = self._siblings.torn
            for batch in self._siblings.children(place.node.css):
                self._take(place, batch)
                yield
                if not self._in_bounds(deadline):
                    break
            if self._siblings.torn > torn:
                self.reasons.append(
                    f"the children of {self._path(place) or '/'} changed faster than they could be read"
                )

    def at(self, now: Ticks | None) -> None:
        """Ages count up to this moment from now on."""
        self._zombie_reader.now = now

    def _in_bounds(self, deadline: float) -> bool:
        stop = ""
        if self._watch() > deadline:
            stop = "the walk ran out of time"
        elif self._seen > NODES_MAX:
            stop = f"the walk stopped after {NODES_MAX} cgroups"
        if stop and stop not in self.reasons:
            self.reasons.append(stop)
        return not stop

    def result(self) -> Walk:
        """What was seen so far."""
        tally = self._tally
        if self._unpinned:
            self.reasons.append(f"time was short: what pins {self._unpinned} of the zombies was not read")
        return Walk(
            live=self._live,
            zombies=tally.zombies,
            by_parent=tally.by_parent(),
            families=tally.families(),
            pinned_by=tally.pinned_by(),
            empty_directories=tally.empty(),
            partial=bool(self.reasons),
            reasons=tuple(self.reasons),
            failed_reads=self._memory.failed_reads + self._pointers.wild,
            vanished=self._vanished,
        )

    def _root(self) -> Node:
        """Up from the cgroup we run in; the tree has one root, whatever our namespace shows."""
        task = self._memory.current_task()
        (cgroups,) = self._pointers.anywhere([self._pointer(task + self._layout.task_cgroups)])
        css = self._pointer(cgroups + self._layout.set_memory) if cgroups else 0
        for _ in range(DEPTH_MAX):
            (css,) = self._pointers.heap([css])
            if not css:
                break
            node = self._siblings.node(css)
            if not node.parent:
                return node
            css = node.parent
        raise Unavailable("the root of the memory cgroups cannot be found in kernel memory")

    def _pointer(self, address: int) -> int:
        return int.from_bytes(self._memory.gather([address], 8), "little")

    # -- one batch of children ---------------------------------------------------------------------------

    def _take(self, place: _Place, batch: list[Node]) -> None:
        layout = self._layout
        zombies: list[Node] = []
        living: list[Node] = []
        for node in batch:
            # neither online nor dying: just being created
            live = bool(node.flags & layout.online) or bool(layout.dying and not node.flags & layout.dying)
            (living if live else zombies).append(node)
            if node.has_children:
                self._push(_Place(node, place, live, place.depth + 1))
        self._seen += len(batch)
        self._live += len(living)
        if zombies:
            self._count_zombies(place, zombies)
        if living and layout.population is not None:
            self._find_empty(place, living)

    def _push(self, place: _Place) -> None:
        if place.depth < DEPTH_MAX:
            self._stack.append(place)
        else:
            reason = f"cgroups deeper than {DEPTH_MAX} levels were not visited"
            self.reasons += [] if reason in self.reasons else [reason]

    def _count_zombies(self, place: _Place, zombies: list[Node]) -> None:
        pins = self._pinned and self._watch() < self._hurry_at
        details = self._zombie_reader.read_details(zombies, pins)
        still = self._siblings.still(zombies)
        self._vanished += still.count(False)
        folder, parent = self._path(place), self._live_parent(place)
        if self._pinned and not pins:
            self._unpinned += still.count(True)
        named: list[_NamedZombie] = []
        for node, one, there in zip(zombies, details, still, strict=True):
            if there:
                name = one.name.decode("utf-8", "surrogateescape") or UNREADABLE
                family = self._tally.family_of(place.pattern, segment_pattern(name))
                zombie = _NamedZombie(
                    node, one, f"{folder}/{name}", family, self._held(node, one) if pins else {}, {}, []
                )
                self._tally.add(family, parent, zombie.path, node.serial, one.age_s, zombie.held)
                named.append(zombie)
        self._tally.add_parent(parent, len(named))
        self._name_files(named)
        if self._on_zombie is not None:
            for zombie in named:
                self._on_zombie(_zombie(zombie))

    def _held(self, node: Node, details: Details) -> dict[PinKind, int]:
        """Bytes by kind. Usage includes what lies below: with children and no pages, the children are the pin."""
        held = details.held
        if held.on_lists or node.has_children:
            return held.bytes
        return {"kernel": details.pages * mmap.PAGESIZE} if details.pages or details.references else {}

    def _name_files(self, named: list[_NamedZombie]) -> None:
        """Names of pinning files, as many as the tally wants, or all of them."""
        wanted: list[tuple[_NamedZombie, PinKind, Inode]] = []
        for zombie in named:
            for kind, inodes in zombie.details.held.inodes.items():
                for inode in inodes:
                    if self._tally.wants_file(zombie.family, kind) or self._every_file:
                        wanted.append((zombie, kind, inode))
        if not wanted or self._files is None:
            return
        for (zombie, kind, inode), name in zip(wanted, self._files.names([one[2] for one in wanted]), strict=True):
            if name is not None:
                zombie.files.setdefault(kind, []).append(name)
                zombie.identities.append((name, self._files.identity(inode)))
                self._tally.add_file(zombie.family, kind, name)

    def _find_empty(self, place: _Place, living: list[Node]) -> None:
        """Live cgroups with no process in them and no live child."""
        window = self._layout.population
        assert window is not None
        cgroups = self._pointers.heap([node.cgroup for node in living])
        data = self._memory.gather([one + window.start if one else 0 for one in cgroups], window.length)
        empty = [
            node
            for node, cgroup, row in zip(living, cgroups, window.rows(data), strict=True)
            if cgroup and not any(row)
        ]
        if not empty:
            return
        names, still = self._zombie_reader.names([node.cgroup for node in empty]), self._siblings.still(empty)
        folder = self._path(place)
        for (name, _), there in zip(names, still, strict=True):
            if there and name:
                text = os.fsdecode(name)
                self._tally.add_empty(f"{place.pattern}/{segment_pattern(text)}", f"{folder}/{text}")

    # -- paths -------------------------------------------------------------------------------------------

    def _path(self, place: _Place) -> str:
        """The path of a place; what lies above it is named on the way, once."""
        unnamed: list[_Place] = []
        one: _Place | None = place
        while one is not None and one.path is None:
            unnamed.append(one)
            one = one.above
        names = self._zombie_reader.names([each.node.cgroup for each in unnamed]) if unnamed else []
        for each, (name, _) in zip(reversed(unnamed), reversed(names), strict=True):
            assert each.above is not None
            text = os.fsdecode(name) or UNREADABLE
            each.path = f"{each.above.path}/{text}"
            each.pattern = f"{each.above.pattern}/{segment_pattern(text)}"
        return place.path or ""

    def _live_parent(self, place: _Place) -> str:
        while not place.live and place.above is not None:
            place = place.above
        return self._path(place) or "/"


def _zombie(zombie: _NamedZombie) -> Zombie:
    details = zombie.details
    return Zombie(
        path=zombie.path,
        serial=zombie.node.serial,
        cgroup_id=details.cgroup_id,
        age_s=details.age_s,
        pages=details.pages,
        references=details.references,
        pins=tuple(Pin(kind, size, tuple(zombie.files.get(kind, ()))) for kind, size in _ranked(zombie.held)),
        files=tuple(zombie.identities),
    )


def _ranked(held: dict[PinKind, int]) -> list[tuple[PinKind, int]]:
    return sorted(held.items(), key=lambda one: -one[1])
