"""What is to be known about zombies beyond their place in the tree: name, age, pages, references, pins.

Read for hundreds at a time. Everything may change while it is read: the caller checks afterwards that each is still
the cgroup it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from necroscope import clock
from necroscope.sense.kernel.bpf.memory import KernelMemory
from necroscope.sense.kernel.layout import MemcgLayout, Window
from necroscope.sense.kernel.pins import HeldMemory, Pins
from necroscope.sense.kernel.pointers import Pointers
from necroscope.sense.kernel.siblings import Node
from necroscope.vocabulary.model import Pin

_HZ = (100, 250, 300, 1000)
_MOMENT_S = 0.002
# the count starts with a bias that is taken off when it has become one number
_COUNT_MAX = 1 << 62
_PAGES_MAX = 1 << 40


@dataclass(frozen=True, slots=True)
class Zombie:
    """One removed memory cgroup that the kernel still keeps. None: the kernel does not tell.

    `files` are those that were seen to pin it, each with `major:minor:inode`; only where all of them are wanted.
    """

    path: str
    serial: int
    cgroup_id: int
    age_s: float | None
    pages: int
    references: int | None
    pins: tuple[Pin, ...] = ()
    files: tuple[tuple[str, str], ...] = ()


class Details(NamedTuple):
    """What was read about one zombie; `name` is empty where it could not be read."""

    name: bytes
    cgroup_id: int
    age_s: float | None
    pages: int
    references: int | None
    held: HeldMemory


@dataclass(frozen=True, slots=True)
class Ticks:
    """The kernel's tick counter now, and how many ticks make a second."""

    now: int
    hz: int

    def age_s(self, born: int) -> float | None:
        """Seconds since tick `born`; None when that lies in the future or before the boot."""
        if not first_tick(self.hz) <= born <= self.now:
            return None
        return (self.now - born) / self.hz


def first_tick(hz: int) -> int:
    """The counter starts five minutes before it would overflow 32 bits."""
    return (1 << 32) - 300 * hz


def ticks(jiffies: int, uptime_s: float) -> Ticks | None:
    """The kernel's HZ is the one that agrees with the uptime; None when none does, or more than one.

    Five minutes after the boot every HZ gives the same count, so for some seconds around that it is unknown.
    """
    errors = sorted((abs((jiffies - first_tick(hz)) / hz - uptime_s), hz) for hz in _HZ)
    (error, best), (next_error, _) = errors[:2]
    return Ticks(jiffies, best) if error <= 5 + 0.05 * uptime_s and next_error - error > 1.0 else None


class ZombieReader:
    """Reads the details of zombies, and names of cgroups. Ages are those at the moment `now`."""

    def __init__(
        self, memory: KernelMemory, layout: MemcgLayout, pointers: Pointers, pins: Pins | None, now: Ticks | None
    ) -> None:
        self._memory, self._layout, self._pointers, self._pins = memory, layout, pointers, pins
        self.now = now

    def read_details(self, nodes: Sequence[Node], pins: bool = True) -> list[Details]:
        """Details of each; what they hold, the dearest part, only with `pins`."""
        css = [node.css for node in nodes]
        names = self.names([node.cgroup for node in nodes])
        references, charged = self._references(nodes), self._pages(css)
        held = self._held(self._pins, css, charged) if self._pins and pins else [HeldMemory() for _ in css]
        return [
            Details(name, cgroup_id, age, pages, count, one)
            for (name, cgroup_id), age, pages, count, one in zip(
                names, self._ages(css), charged, references, held, strict=True
            )
        ]

    def _held(self, pins: Pins, css: Sequence[int], charged: Sequence[int]) -> list[HeldMemory]:
        """What each holds. Pages leave their list for a moment when the kernel moves them (compaction, batches of a
        CPU), so those that seem to hold none are looked at once more before they are taken for kernel memory."""
        held = pins.read(css)
        bare = [index for index, one in enumerate(held) if charged[index] and not one.on_lists]
        if bare:
            clock.sleep(_MOMENT_S)
            for index, one in zip(bare, pins.read([css[index] for index in bare]), strict=True):
                held[index] = one
        return held

    def names(self, cgroups: Sequence[int]) -> list[tuple[bytes, int]]:
        """Name and id of each cgroup; the root cgroup of v2 is static, all others are on the heap."""
        layout = self._layout
        nodes = self._pointers.heap(self._column(layout.kernfs_node, self._pointers.anywhere(cgroups)))
        rows = list(layout.kernfs.rows(self._gather(layout.kernfs, nodes)))
        names = self._memory.strings(self._pointers.anywhere([row[0] for row in rows]))
        return [(name, row[1]) for name, row in zip(names, rows, strict=True)]

    def _ages(self, css: Sequence[int]) -> list[float | None]:
        # socket_pressure holds the tick of creation until memory pressure of sockets writes a later one
        if self._layout.birth is None or self.now is None:
            return [None] * len(css)
        return [self.now.age_s(born) for born in self._column(self._layout.birth, css)]

    def _pages(self, css: Sequence[int]) -> list[int]:
        return [pages if pages < _PAGES_MAX else 0 for pages in self._column(self._layout.usage, css)]

    def _references(self, nodes: Sequence[Node]) -> list[int | None]:
        if self._layout.reference is None:
            return [None] * len(nodes)
        places = self._pointers.heap([node.reference for node in nodes])
        counts = self._column(self._layout.reference, places)
        return [count if place and count < _COUNT_MAX else None for place, count in zip(places, counts, strict=True)]

    def _column(self, window: Window, addresses: Sequence[int]) -> list[int]:
        return [row[0] for row in window.rows(self._gather(window, addresses))]

    def _gather(self, window: Window, addresses: Sequence[int]) -> bytes:
        return self._memory.gather([one + window.start if one else 0 for one in addresses], window.length)
