"""What each core did, seen by the lab itself: independent of the recorder, twice a second."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from necroscope import clock

PERIOD_S = 0.5
# of the fifty ticks between two looks, two may be idle by chance
HELD = 0.95
# the kernel stops real-time threads for a twentieth of each second, all of it within one of two looks
_STOPPED = 0.88
# fields of a cpu line: user nice system idle iowait irq softirq steal
_MODES = {"user": (0, 1), "system": (2,), "irq": (5,), "softirq": (6,), "steal": (7,), "idle": (3, 4)}


@dataclass(frozen=True, slots=True)
class Slice:
    """A core between two looks: the share of each mode, of the time that passed."""

    began_ns: int
    ended_ns: int
    cpu: int
    shares: dict[str, float]

    @property
    def seconds(self) -> float:
        """How long it lasted."""
        return (self.ended_ns - self.began_ns) / clock.NS

    @property
    def busy(self) -> float:
        """The share of time that was not idle."""
        return 1.0 - self.shares["idle"]


class CoreWatch:
    """A thread that looks while the block runs."""

    def __init__(self) -> None:
        self.slices: list[Slice] = []
        self._stop = threading.Event()

    @contextlib.contextmanager
    def watching(self) -> Iterator[CoreWatch]:
        """Look until the end of the block."""
        thread = threading.Thread(target=self._look, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            thread.join(5)

    def between(self, cpu: int, began_ns: int, ended_ns: int) -> list[Slice]:
        """Slices of a core that lie at least half in the window."""
        middle = [(one, (one.began_ns + one.ended_ns) // 2) for one in list(self.slices) if one.cpu == cpu]
        return [one for one, at_ns in middle if began_ns <= at_ns <= ended_ns]

    def held_s(self, cpu: int, began_ns: int, ended_ns: int, mode: str = "") -> float:
        """The longest time without a break in which the core was at 95 % or more, in each look or with the one beside
        it; with a mode, mostly in it."""
        slices = self.between(cpu, began_ns, ended_ns)
        longest = run = 0.0
        for place, one in enumerate(slices):
            beside = max(
                (other.busy for other in slices[max(0, place - 1) : place + 2] if other is not one), default=0.0
            )
            full = one.busy >= HELD or (one.busy >= _STOPPED and (one.busy + beside) / 2 >= HELD - 0.01)
            held = full and (not mode or one.shares[mode] >= 0.6)
            run = run + one.seconds if held else 0.0
            longest = max(longest, run)
        return longest

    def share(self, cpu: int, began_ns: int, ended_ns: int, mode: str = "idle") -> float:
        """The share of a mode over the window."""
        slices = self.between(cpu, began_ns, ended_ns)
        total = sum(one.seconds for one in slices)
        return sum(one.seconds * one.shares[mode] for one in slices) / total if total else 0.0

    def _look(self) -> None:
        before, at_ns = _times(), clock.now().realtime_ns
        while not self._stop.wait(PERIOD_S):
            now, now_ns = _times(), clock.now().realtime_ns
            for cpu, ticks in now.items():
                passed = [after - earlier for after, earlier in zip(ticks, before.get(cpu, ticks), strict=True)]
                total = max(1, sum(passed[:8]))
                shares = {mode: sum(passed[index] for index in fields) / total for mode, fields in _MODES.items()}
                self.slices.append(Slice(at_ns, now_ns, cpu, shares))
            before, at_ns = now, now_ns


def _times() -> dict[int, list[int]]:
    rows = (line.split() for line in Path("/proc/stat").read_text().splitlines() if line.startswith("cpu"))
    return {int(name[3:]): [int(field) for field in fields] for name, *fields in rows if name != "cpu"}
