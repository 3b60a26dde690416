"""What the recorder may cost, and what it gives up, step by step, when it costs more. Pure decisions, no clock.

CPU is the share of one core that everything of ours takes together: the recorder, perf, and all other children. More
than the budget over a minute, or four times as much over ten seconds, sheds the next step; the effect of a step is
awaited before the one after it. Two minutes far below the budget take a step back; a step that is shed again soon
after that is kept for twice as long, so that nobody makes us go to and fro.

The order is by what a reader misses least. Never shed: the counters of cores, the kernel's log, events, and samples.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

WINDOW_S = 60.0
FLOOD_S, FLOOD = 10.0, 4.0
CALM = 0.6
HOLD_S, LONGEST_HOLD_S = 120.0, 3600.0
AGAIN_S = 600.0
START_S = 20.0

SYMBOLS, PROCESSES, ZOMBIE_NAMES, FREQUENCY = "symbols", "processes", "zombie-names", "frequency"
ORDER = (SYMBOLS, PROCESSES, ZOMBIE_NAMES, FREQUENCY)
"""What is shed, the first first."""
UNSEEN: Mapping[str, str] = {
    SYMBOLS: "functions of programs that are new to the recorder have no names",
    PROCESSES: "only processes that were sampled are looked at: who waits for a core and never gets it is not seen",
    ZOMBIE_NAMES: "new zombies are counted and not named",
    FREQUENCY: "samples are taken at 29 Hz instead of 97",
}
"""What cannot be seen while a step is shed."""

CPU, MEMORY, DESCRIPTORS = "CPU", "memory", "descriptors"
_STEPS: Mapping[str, tuple[str, ...]] = {
    CPU: ORDER,
    MEMORY: (SYMBOLS, ZOMBIE_NAMES),
    DESCRIPTORS: (SYMBOLS,),
}


@dataclass(frozen=True, slots=True)
class Budget:
    """What everything of ours may take together: a share of one core, bytes (PSS), open descriptors."""

    cpu: float = 0.04
    memory_bytes: int = 250_000_000
    descriptors: int = 256

    @classmethod
    def of(cls, cpus: int) -> Budget:
        """The default for a node. CPU: 4 % of a core, or two thousandths of all cores where that is more. Memory:
        250 MB, and 2 MB for each core beyond 16, whose samples and stacks wait. Descriptors: perf has some on each."""
        return cls(max(0.04, 0.002 * cpus), 250_000_000 + 2_000_000 * max(0, cpus - 16), 256 + 8 * cpus)


@dataclass(frozen=True, slots=True)
class Use:
    """What was used by a moment: CPU seconds since some start, and the rest where it was measured just now."""

    at_s: float
    cpu_s: float
    memory_bytes: int | None = None
    descriptors: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A step that is shed from now on, or no longer; `why` has the numbers."""

    step: str
    shed: bool
    why: str

    @property
    def text(self) -> str:
        """A sentence for the timeline."""
        what = UNSEEN[self.step] if self.shed else f"not so any more: {UNSEEN[self.step]}"
        return f"{what}; {self.why}"


@dataclass(slots=True)
class _Ladder:
    """One resource: how many of its steps are shed."""

    steps: tuple[str, ...]
    level: int = 0
    hold_s: float = HOLD_S
    changed_s: float = 0.0
    fell_s: float | None = None

    def climb(self, at_s: float) -> None:
        again = self.fell_s is not None and at_s - self.fell_s < AGAIN_S
        self.hold_s = min(2 * self.hold_s, LONGEST_HOLD_S) if again else self.hold_s if self.level else HOLD_S
        self.level, self.changed_s = self.level + 1, at_s

    def fall(self, at_s: float) -> None:
        self.level, self.changed_s, self.fell_s = self.level - 1, at_s, at_s

    @property
    def active(self) -> tuple[str, ...]:
        return self.steps[: self.level]


@dataclass(slots=True)
class Governor:
    """Asked once a second with what was used so far; returns what changes. What the start takes is not counted.

    `able`: the steps that can be taken here.
    """

    budget: Budget
    able: tuple[str, ...] = ORDER
    _cpu: deque[tuple[float, float]] = field(default_factory=deque)
    _ladders: dict[str, _Ladder] = field(default_factory=dict)
    _shed: tuple[str, ...] = ()
    _began_s: float | None = None

    def __post_init__(self) -> None:
        for name, steps in _STEPS.items():
            self._ladders[name] = _Ladder(tuple(step for step in steps if step in self.able))

    @property
    def shed(self) -> tuple[str, ...]:
        """What is shed now, in the order of shedding."""
        return self._shed

    def decide(self, use: Use) -> list[Change]:
        """What is shed from now on and what no longer."""
        self._began_s = use.at_s if self._began_s is None else self._began_s
        if use.at_s - self._began_s < START_S:
            return []
        self._remember(use)
        why = self._decide_cpu(use.at_s)
        limits = (
            (MEMORY, use.memory_bytes, self.budget.memory_bytes),
            (DESCRIPTORS, use.descriptors, self.budget.descriptors),
        )
        for name, value, limit in limits:
            if value is not None:
                why = self._decide_level(name, use.at_s, value, limit) or why
        return self._changes(why)

    def _remember(self, use: Use) -> None:
        self._cpu.append((use.at_s, use.cpu_s))
        while len(self._cpu) > 2 and use.at_s - self._cpu[1][0] >= WINDOW_S:
            self._cpu.popleft()

    def share(self, window_s: float) -> float | None:
        """The share of a core over the last `window_s`; None while less than that is known."""
        at_s, cpu_s = self._cpu[-1]
        first = next((one for one in reversed(self._cpu) if at_s - one[0] >= window_s), None)
        return None if first is None else max(0.0, cpu_s - first[1]) / (at_s - first[0])

    def _decide_cpu(self, at_s: float) -> str:
        ladder, limit = self._ladders[CPU], self.budget.cpu
        since_s = at_s - ladder.changed_s
        for window_s, most in ((WINDOW_S, limit), (FLOOD_S, FLOOD * limit)):
            share = self.share(window_s)
            if share is not None and share > most and since_s >= window_s and ladder.level < len(ladder.steps):
                ladder.climb(at_s)
                return (
                    f"the recorder and all it runs took {share:.1%} of a core over {window_s:.0f} s, budget {limit:.1%}"
                )
        share = self.share(WINDOW_S)
        if share is not None and share < CALM * limit and since_s >= ladder.hold_s and ladder.level:
            ladder.fall(at_s)
            return f"the recorder and all it runs took {share:.1%} of a core over {WINDOW_S:.0f} s, budget {limit:.1%}"
        return ""

    def _decide_level(self, name: str, at_s: float, value: int, limit: int) -> str:
        ladder = self._ladders[name]
        since_s = at_s - ladder.changed_s
        unit, shown = ("MB", 1_000_000) if name == MEMORY else ("", 1)
        why = f"{name} of the recorder and all it runs: {value / shown:,.0f} {unit}".rstrip()
        why += f", budget {limit / shown:,.0f} {unit}".rstrip()
        if value > limit and since_s >= WINDOW_S and ladder.level < len(ladder.steps):
            ladder.climb(at_s)
            return why
        if value < (1 + CALM) / 2 * limit and since_s >= ladder.hold_s and ladder.level:
            ladder.fall(at_s)
            return why
        return ""

    def _changes(self, why: str) -> list[Change]:
        wanted = {step for ladder in self._ladders.values() for step in ladder.active}
        before, self._shed = self._shed, tuple(step for step in ORDER if step in wanted)
        back = [Change(step, False, why) for step in before if step not in wanted]
        return back + [Change(step, True, why) for step in self._shed if step not in before]
