"""What perf is asked for, and what is given up where this perf or this kernel lacks it.

Each `Feature` stands for itself: giving up one says nothing about the others. Where a feature is given up without a
loss, its `costs` is empty and nothing is reported.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

FREQUENCY_HZ = 97
RING_BYTES = 2 << 20
RINGS_BYTES = 64 << 20
SMALL_RING_BYTES = 128 << 10
WAKE_S = 0.5
TRACEPOINTS = ("cgroup_mkdir", "cgroup_rmdir", "cgroup_release", "cgroup_attach_task")

# How perf is made to empty its rings before they are half full.
BY_CONTROL, BY_SIGNAL, BY_SAMPLE = "control", "signal", "sample"


@dataclass(frozen=True, slots=True)
class PerfOptions:
    """What perf is asked for. Make one with less by `without`."""

    event: str = "cycles"
    frequency_hz: int = FREQUENCY_HZ
    named: bool = True
    own_frequency: bool = True
    cgroups: bool = True
    build_ids: bool = True
    tracepoints: bool = True
    bare_tracepoints: bool = True
    large_rings: bool = True
    wakes: str = BY_CONTROL

    def without(self, features: Iterable[Feature]) -> PerfOptions:
        """The same, less these. What is not asked for anyway stays as it is."""
        options = self
        for feature in features:
            if feature.asked_by(options):
                options = replace(options, **{feature.field: feature.instead})  # type: ignore[arg-type]
        return options

    def lacking(self, asked: PerfOptions) -> list[str]:
        """What of `asked` is missing here and what that costs, a sentence for each."""
        return [one.costs for one in FEATURES if one.costs and one.given_up(asked, self)]


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that some perfs or kernels lack: how it is given up, and how perf complains of it.

    `option` is the long option of `perf record` that it needs. A `lasting` one is missing as long as perf and the
    kernel are the same ones; the others depend on what else goes on, and are tried anew by each recorder.
    """

    name: str
    field: str
    has: object
    instead: object
    costs: str
    complaint: re.Pattern[str]
    option: str = ""
    lasting: bool = True

    def asked_by(self, options: PerfOptions) -> bool:
        """Whether these options ask for it."""
        return bool(getattr(options, self.field) == self.has)

    def given_up(self, asked: PerfOptions, had: PerfOptions) -> bool:
        """Whether `had` does without what `asked` wanted: for the ways to wake perf, the way that was taken."""
        return bool(getattr(asked, self.field) != self.instead and getattr(had, self.field) == self.instead)


def _says(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# In the order in which they are looked for in a complaint: the most particular words first.
FEATURES: tuple[Feature, ...] = (
    Feature("bare-tracepoints", "bare_tracepoints", True, False, "", _says(r"call-graph=")),
    Feature(
        "build-ids",
        "build_ids",
        True,
        False,
        "mappings carry no build ids (perf --buildid-mmap, Linux 5.12): a program that was replaced while it ran "
        "keeps its functions unnamed",
        _says(r"buildid-mmap|build id in mmap"),
        "buildid-mmap",
    ),
    Feature(
        "cgroups",
        "cgroups",
        True,
        False,
        "samples carry no cgroup (perf --all-cgroups, Linux 5.7): it is read once for each process from /proc, and "
        "unknown for a process that ended before that",
        _says(r"all-cgroups|cgroup events|cgroup tracking|cgroup sampling"),
        "all-cgroups",
    ),
    Feature(
        "control",
        "wakes",
        BY_CONTROL,
        BY_SIGNAL,
        "perf has no control pipe (--control, which perf 5.10 has): a signal wakes it as often instead, and samples "
        "arrive as early",
        _says(r"`control'|--control|control fd|ctl-fd"),
        "control",
    ),
    Feature(
        "signal",
        "wakes",
        BY_SIGNAL,
        BY_SAMPLE,
        "perf takes no wakings (neither --control, which perf 5.10 has, nor --switch-output, which perf 5.4 has): "
        "every sample wakes it, which costs the more CPU the more cores are busy",
        _says(r"switch-output|switch to new file"),
        "switch-output",
    ),
    Feature(
        "tracepoints",
        "tracepoints",
        True,
        False,
        "the cgroup tracepoints cannot be used (tracefs is not there, or perf may not read it): who makes and removes "
        "cgroups is not seen",
        _says(r"cgroup:cgroup_|tracepoint|tracefs|/tracing|trace events|unshare|^mount:"),
        lasting=False,
    ),
    Feature("named", "named", True, False, "", _says(r"name=|'name'")),
    Feature(
        "own-frequency",
        "own_frequency",
        True,
        False,
        "perf takes one frequency for all events: of cgroups that are made or removed in a burst most are missing",
        _says(r"freq=|'freq'|unknown term|bad event or pmu|parser error|invalid term"),
    ),
    Feature(
        "cycles",
        "event",
        "cycles",
        "cpu-clock",
        "no hardware counter samples: the CPU clock does, and does not see code that runs with interrupts off",
        _says(r"overflow-interrupts|cycles.{0,40}not supported|PMU counters are busy"),
        lasting=False,
    ),
    Feature(
        "large-rings",
        "large_rings",
        True,
        False,
        f"the memory for large rings was refused: a ring has {SMALL_RING_BYTES >> 10} KiB, and samples are lost when "
        "perf has no core for seconds",
        _says(r"mapping pages|failed to mmap|perf_event_mlock|mmap-pages"),
        lasting=False,
    ),
)


def named(names: Iterable[str]) -> list[Feature]:
    """The features with these names, in their order; unknown names are none."""
    wanted = set(names)
    return [one for one in FEATURES if one.name in wanted]


def ring_pages(cpus: int, ring_bytes: int = RING_BYTES, page_bytes: int = mmap.PAGESIZE) -> int:
    """Pages of one CPU's ring of about `ring_bytes`: the largest power of two with which all rings fit their limit."""
    most = max(1, min(ring_bytes, RINGS_BYTES // max(1, cpus)) // page_bytes)
    return 1 << (most.bit_length() - 1)


def perf_command(options: PerfOptions, cpus: int, waking: Iterable[str], perf: str = "perf") -> list[str]:
    """The command line of the recording. `waking` are the arguments of the way in which perf is kept awake."""
    return [*_recording(options, cpus, perf), "--all-cpus", *waking, *_events(options), "--output", "-"]


def trial_command(options: PerfOptions, cpus: int, perf: str) -> list[str]:
    """The same for a program that ends at once: what is refused here is refused there, and no CPU is opened twice."""
    return [*_recording(options, cpus, perf), *_events(options), "--output", "-", "--", "true"]


def _recording(options: PerfOptions, cpus: int, perf: str) -> Iterator[str]:
    pages = ring_pages(cpus, RING_BYTES if options.large_rings else SMALL_RING_BYTES)
    yield from (perf, "record", "--quiet", "-g", "--clockid", "mono", "--mmap-pages", str(pages))
    if options.cgroups:
        yield "--all-cgroups"
    if options.build_ids:
        yield "--buildid-mmap"
    if not options.own_frequency:
        yield from ("-F", str(options.frequency_hz))


def _events(options: PerfOptions) -> Iterator[str]:
    """The frequency is the sampled event's own: given for all (`-F 97`), perf would thin out the tracepoints as well,
    and of 20 cgroups made in a row tell a handful. Without `name=`, perf stores the event under all of its terms. Who
    makes cgroups by the thousand is not made to pay for its stacks: nobody asks for them."""
    terms = [f"freq={options.frequency_hz}"] if options.own_frequency else []
    terms += [f"name={options.event}"] if options.named else []
    yield from ("--event", f"{options.event}/{','.join(terms)}/" if terms else options.event)
    for name in TRACEPOINTS if options.tracepoints else ():
        yield from ("--event", f"cgroup:{name}{'/call-graph=no/' if options.bare_tracepoints else ''}")
