"""The vocabulary of a case: everything that was read of a recording around one symptom, frozen.

`query/case` reads it, once; `diagnose` judges it and reads nothing; `case_file` keeps it. Lists are bounded: what was
left out of a list is summed up in its last entry, or not needed. Moments are UTC nanoseconds, shares are parts of a
core's time, None is unknown and never zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from necroscope.clock import NS
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.leak_facts import LeakFacts
from necroscope.vocabulary.model import MODES
from necroscope.vocabulary.verdict import Complaint, Strip

RunKind = str
"""How it was found, as `query/case/cores/starvation_kinds.toml` names it. full: next to no idle time; held: nearly all
of it in the kernel; interrupted: most of it in interrupts; stopped: not quite full, and somebody waited nevertheless;
taken: a part of a longer busy time, which somebody took; sampled: full by samples alone, without counters."""
Context = Literal["", "softirq", "irq"]
"""Empty: a process. Interrupts are nobody's."""

SUSPECTS_MOST, STACKS_MOST, EVERYBODYS_STACKS_MOST = 12, 120, 300
"""Suspects of a line-up, and stacks of each of them and of all together; the lightest stacks are summed up in one."""
PIDS_MOST, WAITS_MOST, CALLERS_MOST, QUOTAS_MOST, EVENTS_MOST = 50, 30, 400, 20, 50


@dataclass(frozen=True, slots=True)
class Run:
    """One core, busy without a break. `shares` are of its time, by mode of `MODES`; they add up to about 1."""

    cpu: int
    from_ns: int
    to_ns: int
    shares: tuple[float, ...]
    counted: bool = True
    """False where only samples tell of it."""
    kind: RunKind = "full"

    @property
    def seconds(self) -> float:
        """How long it lasted."""
        return (self.to_ns - self.from_ns) / NS

    @property
    def window(self) -> Window:
        """From and to."""
        return self.from_ns, self.to_ns

    def share(self, mode: str) -> float:
        """Its share of time in a mode."""
        return self.shares[MODES.index(mode)]

    @property
    def kernel(self) -> float:
        """Its share of time in the kernel, interrupts of both kinds included."""
        return self.share("system") + self.share("irq") + self.share("softirq")

    @property
    def busy(self) -> float:
        """Its share of time that it was not idle."""
        return 1.0 - self.share("idle")

    def overlaps(self, window: Window) -> bool:
        """Whether it has time in common with a window."""
        return self.from_ns <= window[1] and self.to_ns >= window[0]


# -- who was on a core ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stack:
    """Samples of one shape. `functions` are the kernel's, outermost first, without what compilers append to names;
    `leaf` is the innermost function, whosever; `kernel` says whether that is the kernel's. `weight` is seconds."""

    functions: tuple[str, ...]
    leaf: str
    kernel: bool
    weight: float


@dataclass(frozen=True, slots=True)
class Suspect:
    """Somebody on a core. `share` is of the core's time, `before` the same in quiet times; None: nothing to compare.

    `chance` is how likely a count as high as this is, if nothing differed from quiet times. `pids` are the first by
    time, `processes` how many there were. `cgroups` are those that looks at its processes found, which may be of
    another hierarchy than `cgroup`, that of the samples. `kernel` is the share of its time in the kernel.
    """

    name: str
    cgroup: str
    context: Context
    pids: tuple[int, ...]
    seconds: float
    share: float
    before: float | None
    chance: float
    kernel: float
    stacks: tuple[Stack, ...] = ()
    cgroups: tuple[str, ...] = ()
    processes: int = 1

    @property
    def pid(self) -> int | None:
        """Its process; None where several of that name took turns."""
        return self.pids[0] if len(self.pids) == 1 else None

    @property
    def excess(self) -> float:
        """How much more of the core it took than in quiet times."""
        return self.share - (self.before or 0.0)


@dataclass(frozen=True, slots=True)
class LineUp:
    """Everybody on the core, the largest excess first; the same by cgroup, and all together.

    `sampled` is the share of the core's time that samples tell about; `blocks` is how many quiet windows there were.
    """

    suspects: tuple[Suspect, ...] = ()
    by_cgroup: tuple[Suspect, ...] = ()
    everybody: Suspect | None = None
    sampled: float = 0.0
    blocks: int = 0


@dataclass(frozen=True, slots=True)
class Wait:
    """A process that waited for the core, how long, and of how many seconds that is known. What a CPU quota stopped is
    no waiting for a core, and neither is what the recorder itself waited."""

    name: str
    pid: int
    seconds: float
    known_s: float
    cgroup: str = ""


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who called functions by which work of other cores is ordered: on any core, in the window of the
    starvation and in quiet times. `functions` are those of its stacks that were asked for."""

    name: str
    cgroup: str
    functions: tuple[str, ...]
    seconds: float
    before_s: float
    pids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Callers:
    """Who called such functions; `window_s` and `quiet_s` are how long was looked at."""

    window_s: float
    quiet_s: float
    callers: tuple[Caller, ...] = ()


@dataclass(frozen=True, slots=True)
class Quota:
    """A cgroup that a CPU quota stopped: seconds stopped a second, in the window and in quiet times."""

    cgroup: str
    stopped: float
    before: float | None = None


@dataclass(frozen=True, slots=True)
class Starvation:
    """A core without idle time before the symptom, who was on it, who waited for it, and the numbers of that time.

    `whole` is the busy time of which `run` is the part that is looked at. `numbers` are counters by name: `NAME` is the
    rate a second in the run, `NAME_before` that of quiet times, `NAME_lift` how many times as much, `NAME_core` that of
    this core; gauges are their last value. `quiet` are the windows that it was compared with. `callers` is None where
    nobody asked. `average_busy` is that of all cores together, `elsewhere_idle` the idle share of the other ones.
    """

    run: Run
    whole: Run
    line_up: LineUp
    quiet: tuple[Window, ...] = ()
    numbers: dict[str, float] = field(default_factory=dict)
    waits: tuple[Wait, ...] = ()
    callers: Callers | None = None
    average_busy: float | None = None
    elsewhere_idle: float | None = None
    quotas: tuple[Quota, ...] = ()
    strip: Strip | None = None


# -- what else was read --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedCore:
    """The core that the complaint is about: `said` by its own words, or because the interrupts of its queue go there
    (`interrupts` are their names)."""

    cpu: int
    said: bool
    source: str
    queue: int | None = None
    interrupts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """Time that was not recorded, of which sensor (`sensors`: counters only), and what the recorder says about it."""

    from_ns: int
    to_ns: int
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class Blind:
    """A sensor that could not see, since when, and why."""

    sensor: str
    at_ns: int
    text: str


@dataclass(frozen=True, slots=True)
class RecorderStart:
    """A recorder that began around the symptom: its first second of work is its own making."""

    at_ns: int
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class HardwareEvent:
    """A complaint of the hardware near the symptom."""

    at_ns: int
    kind: str
    subject: str = ""


@dataclass(frozen=True, slots=True)
class OtherSymptom:
    """Another symptom of the recording, with the starvations that may belong to it, in short: without numbers."""

    symptom: Complaint
    named: NamedCore | None = None
    starvations: tuple[Starvation, ...] = ()


@dataclass(frozen=True, slots=True)
class Boot:
    """Zombies since one boot: the first and last count with their times, and the count when the first symptom came."""

    from_ns: int
    first: tuple[int, int]
    last: tuple[int, int]
    at_symptom: int | None = None
    symptom_ns: int | None = None

    @property
    def per_hour(self) -> float | None:
        """How fast they came; None where two looks are too near."""
        passed = self.last[0] - self.first[0]
        return (self.last[1] - self.first[1]) * 3600 * NS / passed if passed >= 600 * NS else None


@dataclass(frozen=True, slots=True)
class Case:
    """A symptom and everything that was read around it.

    `recorded` is the recording's extent, `lookback` the time in which a core must have been starved to be the reason.
    `counted`: the cores' own counters were read second by second; else only averages over up to `averages_of_s`, or
    samples, tell of the cores. `covered` and `covered_close` are the shares of the last 45 s and the last 15 s before
    the symptom that counters tell about, `busy_before` how busy all cores together were in these 45 s.
    `starvations` come in the order in which they were found. `others` is None where nobody looked at other symptoms.
    `lost_ns` are moments at which samples were lost, `damaged` the tables of which something cannot be read.
    """

    symptom: Complaint
    recorded: Window
    lookback: Window
    counted: bool
    cores: int
    covered: float = 0.0
    covered_close: float = 0.0
    busy_before: float | None = None
    averages_of_s: float = 0.0
    kernel: str = ""
    """The running kernel's release; empty: not recorded."""
    named: NamedCore | None = None
    starvations: tuple[Starvation, ...] = ()
    strip: Strip | None = None
    """The core that suits best at first sight, where none was starved."""
    gaps: tuple[Gap, ...] = ()
    blinds: tuple[Blind, ...] = ()
    starts: tuple[RecorderStart, ...] = ()
    lost_ns: tuple[int, ...] = ()
    hardware: tuple[HardwareEvent, ...] = ()
    others: tuple[OtherSymptom, ...] | None = None
    leaks: LeakFacts = field(default_factory=LeakFacts)
    boots: tuple[Boot, ...] = ()
    damaged: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
