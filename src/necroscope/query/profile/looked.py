"""A window that was read, with what it is compared with, and why not where there is nothing."""

from __future__ import annotations

from dataclasses import dataclass

from necroscope.clock import NS
from necroscope.query.profile.profile import Profile
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import Window

_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Looked:
    """A window that was read. `words` says which; `baselines` are the windows it is compared with, `other` the
    recording that these are of, if not this one; `uncompared` says why there are none, where some were asked for."""

    store: Store
    profile: Profile
    words: str
    baselines: tuple[Window, ...]
    other: str = ""
    uncompared: str = ""

    @property
    def compared(self) -> bool:
        """Whether there is a baseline."""
        return bool(self.baselines)

    @property
    def seen(self) -> float:
        """The share of the window's time that was looked at."""
        low, high = self.profile.select.window
        return min(1.0, float(self.profile.seconds[0]) * NS / (high - low + 1)) if self.profile.timed else 1.0

    @property
    def conclusive(self) -> bool:
        """Whether at least half of the window was looked at."""
        return self.seen >= _HALF


def known_baselines(made: Profile) -> list[Window]:
    """The baseline windows that were looked at, half of them at least; of what tells no time, there are none."""
    _, *others = zip(made.counts.windows, made.seconds.tolist(), strict=True)
    return [(low, high) for (low, high), seconds in others if made.timed and seconds >= _HALF * (high - low + 1) / NS]


def no_baseline(made: Profile) -> str:
    """Why a window has nothing to be compared with."""
    if not made.timed:
        return "what tells no time is compared with nothing"
    return "no time as long as this was recorded within an hour of it, away from symptoms; try a shorter window"
