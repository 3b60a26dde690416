"""The disk schema, declared: every table, column, type and unit. Documentation, files and views derive from it.

A row is written once, into the journal, and sealed into a segment later. Most tables look the same in both; samples
and stacks are packed tighter in a segment (`SEGMENT`) than in the journal (`JOURNAL`). Names and meanings never
change within a format version; a reader refuses a version that is newer than its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from necroscope.vocabulary import event

FORMAT_VERSION = 3

Type = Literal["int32", "int64", "uint64", "float64", "text", "word"]
"""`word` is text that repeats a lot: it is kept as a dictionary."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `optional` ones may be null, which means unknown. `later` ones were added after others had been
    written: files and journals of before lack them, so they come last and are optional."""

    name: str
    type: Type
    help: str
    unit: str = ""
    optional: bool = False
    later: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the store. `order` is how its rows are sorted in a segment; `time` the column that places a row."""

    name: str
    help: str
    columns: tuple[Column, ...]
    order: tuple[str, ...]
    time: str = "at_ns"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in their order."""
        return tuple(column.name for column in self.columns)

    @property
    def later(self) -> frozenset[str]:
        """Columns that older files lack."""
        return frozenset(column.name for column in self.columns if column.later)

    @property
    def as_it_began(self) -> Table:
        """The table without columns that were added later."""
        return replace(self, columns=tuple(column for column in self.columns if not column.later))


def _later(name: str, text: str, kind: Type = "word", unit: str = "") -> Column:
    return Column(name, kind, text, unit, optional=True, later=True)


_AT = Column("at_ns", "int64", "when, UTC", "ns")
_CPU = Column("cpu", "int32", "number of the core")
_PID = Column("pid", "int32", "process; 0 is the idle task, -1 unknown")
_COMM = Column("comm", "word", "name of the thread")
_CGROUP = Column("cgroup", "word", "cgroup path; empty: unknown")
_EVENT = Column(
    "event",
    "word",
    "what triggered the sample: cpu-clock, cycles; or a tracepoint of cgroups, which is an event too",
)
_WEIGHT = Column("weight", "int64", "period that the sample stands for; nanoseconds for clocks", "ns or events")
_SEGMENT = Column("segment", "int64", "number of the segment: the same in samples and stacks of one segment")
_STACK_NUMBER = Column("stack", "int32", "number of the stack within the segment")
_STACK_ID = Column("stack_id", "uint64", "content hash of the stack, the same on every node")
_FRAMES = Column("frames", "text", "frames, outermost first, each as name, 0x1F, module, 0x1E")
_CHUNK = Column("chunk", "int64", "number of the journal that the row came through; (chunk, series) is a key")
_TICK = Column("tick", "int32", "number of the look within the chunk")
_SERIES = Column("series", "int32", "number of the series within the chunk")

SERIES = Table(
    "series",
    "The signals of a chunk: one row for each name and labels, and for each precision they were read in.",
    (
        _CHUNK,
        _SERIES,
        Column("source", "word", "who reads it; its looks are the ticks with this source"),
        Column("name", "word", "name of the signal"),
        Column("labels", "text", 'labels as a JSON object: {"cpu":"0","mode":"user"}'),
        Column("scale", "int64", "steps are counted in units of 1/scale"),
    ),
    ("chunk", "series"),
    time="",
)
TICKS = Table(
    "ticks",
    "When a source was read. A series has a value at every tick of its source, unless a change row says that it ended.",
    (_CHUNK, _TICK, _AT, Column("source", "word", "who was read")),
    ("chunk", "tick"),
)
CHANGES = Table(
    "changes",
    "Values that differ from the tick before. The sum of a series' steps up to a tick, over its scale, is its value.",
    (
        _CHUNK,
        _SERIES,
        _TICK,
        Column("step", "int64", "added to the steps before; null: see value", "1/scale", optional=True),
        Column("value", "float64", "the value itself, where steps cannot hold it", optional=True),
    ),
    ("chunk", "series", "tick"),
    time="",
)
_MODE = "milliseconds of the time before `at_ns` that it spent"
CORES = Table(
    "cores",
    "What each core did between two looks at its counters.",
    (
        Column("at_ns", "int64", "when the later look was, UTC, to the millisecond", "ns"),
        _CPU,
        Column("passed_ms", "int32", "time between the looks", "ms"),
        Column("user_ms", "int32", f"{_MODE} in programs, nice and guests included", "ms", optional=True),
        Column("system_ms", "int32", f"{_MODE} in the kernel", "ms", optional=True),
        Column("irq_ms", "int32", f"{_MODE} in interrupts", "ms", optional=True),
        Column("softirq_ms", "int32", f"{_MODE} in soft interrupts", "ms", optional=True),
        Column("steal_ms", "int32", f"{_MODE} taken away by the hypervisor", "ms", optional=True),
        Column("idle_ms", "int32", f"{_MODE} idle or waiting for I/O", "ms", optional=True),
    ),
    ("cpu", "at_ns"),
)
EVENTS = Table(
    "events",
    "Things that happened at an instant: symptoms, cgroup lifecycle, restarts, clock steps, gaps, marks.",
    (
        Column("id", "uint64", "hash of the other fields"),
        _AT,
        Column("kind", "word", "what happened"),
        Column("source", "word", "who saw it: kmsg, mark, perf, recorder"),
        Column("subject", "word", "what it happened to"),
        Column("text", "text", "what somebody said about it: a line of a log, the words of a mark; may be empty"),
        Column("uncertainty_ns", "int64", "the time is right give or take this", "ns"),
        _later("cpu", "core that it is about", "int32"),
        _later("device", "device, as the log names it"),
        _later("driver", "its driver"),
        _later("queue", "queue of the device", "int32"),
        _later("reason", "why, in the words of who knows it: a driver, systemd, the recorder"),
        _later("pid", "process", "int64"),
        _later("task", "name of the process or thread"),
        _later("cgroup", "the kernel's number of the cgroup, within its hierarchy", "int64"),
        _later("hierarchy", "number of the hierarchy; 0 is the second version's", "int32"),
        _later("path", "path of the cgroup; null where the subject is one, in events of the lives of cgroups"),
        _later("from_ns", "begin of the time that it is about; what a stepped clock showed before", "int64", "ns"),
        _later("to_ns", "end of that time; what a stepped clock showed afterwards", "int64", "ns"),
        _later("count", "how many: restarts, lost samples, repeats of the line", "int64"),
        _later("stall_s", "for how long something stood still", "float64", "s"),
        _later("boot", "id of the boot"),
    ),
    ("at_ns",),
)
ZOMBIES = Table(
    "zombies",
    "Removed memory cgroups that the kernel keeps, by nearest live ancestor.",
    (
        _AT,
        Column("parent", "word", "cgroup path of the nearest live ancestor"),
        Column("zombies", "int64", "zombies below it", "cgroups"),
    ),
    ("parent", "at_ns"),
)
UNITS = Table(
    "units",
    "systemd units that failed, restart, or started or ended since the look before, as systemd reports it.",
    (
        _AT,
        Column("name", "word", "name of the unit"),
        Column("active_state", "word", "ActiveState"),
        Column("sub_state", "word", "SubState"),
        Column("result", "word", "Result of the last run"),
        Column(
            "restarts", "int64", "automatic restarts so far; begins anew when the unit is started by hand", "restarts"
        ),
        Column("exit_code", "word", "how the main process last ended: exited, killed, dumped"),
        Column("exit_status", "int64", "exit status, or number of the signal", optional=True),
        Column("restart_policy", "word", "Restart="),
        Column("since_start_s", "float64", "time since the last start", "s", optional=True),
        Column("unit_file_state", "word", "enabled, disabled, static"),
        Column("control_group", "word", "cgroup of the unit"),
        Column("main_pid", "int64", "main process; 0: none"),
        Column("starts", "int64", "starts since this recorder began", "starts", optional=True),
        Column("successes", "int64", "ends with success that were seen since then", "ends", optional=True),
        Column("failures", "int64", "ends with failure that were seen since then", "ends", optional=True),
        _later("wanted_by", "units that want or require it, a blank between two"),
        _later("triggered_by", "timers, sockets and paths that start it, a blank between two"),
        _later("preset", "what the vendor's preset says: enabled, disabled"),
    ),
    ("name", "at_ns"),
)
PROCESSES = Table(
    "processes",
    "The processes that used the cores most between two looks.",
    (
        _AT,
        Column("pid", "int32", "process"),
        Column(
            "start_ticks", "int64", "start, in clock ticks after boot: with the pid, the process's identity", "ticks"
        ),
        Column("comm", "word", "name of the process"),
        Column("cgroup", "word", "memory cgroup; empty: the process was gone"),
        Column("user_ms", "int64", "used by its code since the look before", "ms"),
        Column("system_ms", "int64", "used by the kernel for it since the look before", "ms"),
        Column("run_delay_ms", "int64", "its threads waited for a core since the look before", "ms", optional=True),
        Column("rss_kib", "int64", "resident memory", "KiB"),
        Column("cpu", "int32", "core that its main thread ran on last; -1: unknown"),
    ),
    ("pid", "start_ticks", "at_ns"),
)
ZOMBIE_NAMES = Table(
    "zombie_names",
    "Zombies by name, each when it was first seen as one; of many at once, the youngest.",
    (
        _AT,
        Column("path", "text", "cgroup path that it had"),
        Column("family", "word", "the path with placeholders for ids and numbers"),
        Column("cgroup", "int64", "id of the cgroup, as in the events of its life"),
        Column("age_s", "float64", "time since it was made", "s", optional=True),
        Column("bytes", "int64", "memory charged to it", "bytes"),
        Column("pinned_by", "word", "what most of that is: tmpfs, page-cache, anon, kernel, unknown; empty: not seen"),
    ),
    ("path", "at_ns"),
)
LIVE_SAMPLES = Table(
    "samples",
    "Samples as the journal has them.",
    (_AT, _CPU, _PID, Column("tid", "int32", "thread"), _COMM, _CGROUP, _EVENT, _WEIGHT, _STACK_ID),
    ("cpu", "at_ns"),
)
LIVE_STACKS = Table(
    "stacks", "Stacks that this journal's samples name, each once.", (_STACK_ID, _FRAMES), ("stack_id",), time=""
)
SAMPLES = Table(
    "samples",
    "One row for each sample of the profile. Row groups go by time; within one, rows go by core, then time.",
    (
        _SEGMENT,
        _AT,
        _CPU,
        _PID,
        Column("thread", "int32", "thread id minus pid: 0 for a main thread"),
        _COMM,
        _CGROUP,
        _EVENT,
        _WEIGHT,
        _STACK_NUMBER,
    ),
    ("cpu", "at_ns"),
)
STACKS = Table(
    "stacks",
    "The stacks of the segment, each once, with how many samples of the segment have it (a roll-up that adds up).",
    (_SEGMENT, _STACK_NUMBER, _STACK_ID, _FRAMES, Column("samples", "int64", "samples in this segment", "samples")),
    ("stack",),
    time="",
)
SECONDS = Table(
    "seconds",
    "Roll-up: samples of each second by core, event and thread name. Sums of sums are right.",
    (
        Column("second", "int64", "second, UTC: at_ns divided by 1,000,000,000, rounded down", "s"),
        _CPU,
        _EVENT,
        _COMM,
        Column("samples", "int64", "samples", "samples"),
        Column("kernel", "int64", "samples of these whose innermost frame is in the kernel", "samples"),
        Column("weight", "int64", "sum of their weights", "ns or events"),
    ),
    ("cpu", "event", "comm", "second"),
    time="",
)
FLAMES = Table(
    "flames",
    "Roll-up: samples of the segment by event, thread name and stack. Left out where it would save little.",
    (
        _SEGMENT,
        _EVENT,
        _COMM,
        _STACK_NUMBER,
        Column("samples", "int64", "samples", "samples"),
        Column("weight", "int64", "sum of their weights", "ns or events"),
    ),
    ("event", "comm", "stack"),
    time="",
)
TASKS = Table(
    "tasks",
    "Roll-up: samples of the segment by event, thread and cgroup. Left out where it would save little.",
    (
        _SEGMENT,
        _EVENT,
        Column("pid", "int32", "process; 0 is the idle task, -1 unknown"),
        Column("thread", "int32", "thread id minus pid: 0 for a main thread"),
        _COMM,
        _CGROUP,
        Column(
            "leaf", "word", "innermost frame (name, 0x1F, module, 0x1E) of samples whose pid is not above 0, else empty"
        ),
        Column("samples", "int64", "samples", "samples"),
        Column("weight", "int64", "sum of their weights", "ns or events"),
    ),
    ("event", "comm", "pid", "thread"),
    time="",
)
_PEAK = "highest share of any look's time, from 0 to 1, that it spent"
CORE_PEAKS = Table(
    "core_peaks",
    "Roll-up of cores: the worst look of every ten seconds.",
    (
        Column("at_ns", "int64", "when the ten seconds begin, UTC: a multiple of 10,000,000,000", "ns"),
        _CPU,
        Column("busy", "float64", f"{_PEAK} not idle"),
        Column("system", "float64", f"{_PEAK} in the kernel"),
        Column("user", "float64", f"{_PEAK} in programs"),
        Column("irq", "float64", f"{_PEAK} in interrupts, soft ones among them"),
        Column("steal", "float64", f"{_PEAK} taken away by the hypervisor"),
        Column("idle", "float64", f"{_PEAK} idle or waiting for I/O"),
        Column("passed_ms", "int32", "longest look; above 6,000 an average", "ms", optional=True, later=True),
    ),
    ("cpu", "at_ns"),
)
SYMPTOMS = Table("symptoms", "The events that tell of trouble, and marks.", EVENTS.columns, ("at_ns",))

JOURNAL = (LIVE_SAMPLES, LIVE_STACKS, SERIES, TICKS, CHANGES, CORES, EVENTS, ZOMBIES, ZOMBIE_NAMES, UNITS, PROCESSES)
SEGMENT = (
    SAMPLES,
    STACKS,
    FLAMES,
    TASKS,
    SECONDS,
    SERIES,
    TICKS,
    CHANGES,
    CORES,
    EVENTS,
    ZOMBIES,
    ZOMBIE_NAMES,
    UNITS,
    PROCESSES,
)
ROLLUP = (CORE_PEAKS, SYMPTOMS, STACKS, FLAMES, TASKS)
"""What is rolled up over many segments."""

SYMPTOM_SOURCES = event.SYMPTOM_SOURCES


Event = event.Event


def valid_text(text: str) -> str:
    """The text as files take it: bytes that were no UTF-8 are written out as `\\x80`."""
    try:
        text.encode()
    except UnicodeEncodeError:
        try:
            return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        except UnicodeEncodeError:
            return text.encode("utf-8", "backslashreplace").decode()
    return text
