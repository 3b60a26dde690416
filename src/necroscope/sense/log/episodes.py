"""One event of the kernel's log, and what each of its lines adds to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from necroscope.sense.log.kernel_trace import Stack, TraceLine
from necroscope.sense.log.kmsg import LogRecord
from necroscope.sense.log.symptoms import Match
from necroscope.vocabulary.symptom_kind import Kind

US = 1_000_000
_QUEUES_LIMIT = 64
_DEVICE_FIELDS = ("driver", "bus", "device")
_STALLS_US = {"stall_us": 1, "stall_ms": 1000, "stall_s": US}


@dataclass(slots=True, eq=False)
class Episode:
    """One event, growing while its lines come in. `fields` are values by name, the first word on each counting.

    `last_usec` is its last complaint; `heard_usec` also counts the lines of the dump below it.
    """

    kind: Kind
    text: str
    first_usec: int
    last_usec: int
    heard_usec: int
    caller: str = ""
    closed: bool = False
    reported: bool = False
    fields: dict[str, str] = field(default_factory=dict)
    queues: list[str] = field(default_factory=list)
    seen: dict[tuple[str, str], int] = field(default_factory=dict)
    stack: Stack = field(default_factory=Stack)
    stack_done: bool = False


def line_key(found: Match) -> tuple[str, str]:
    """What makes a line the same complaint again."""
    return found.pattern.regex, found.fields.get("queue", "")


def absorb(episode: Episode, found: Match, record: LogRecord) -> None:
    """Take what a line says. The first word counts, except where a later line knows better: one that tells of more."""
    pattern, fields = found.pattern, dict(found.fields)
    knows_better = not pattern.part and pattern.kind.rank > episode.kind.rank
    if knows_better:
        episode.kind = pattern.kind
    _unswap(episode, fields)
    queue = fields.get("queue")
    if queue is not None and queue not in episode.queues and len(episode.queues) < _QUEUES_LIMIT:
        episode.queues.append(queue)
    if queue is not None and queue != episode.queues[0]:
        # Numbers of another queue do not describe the first one.
        fields = {name: value for name, value in fields.items() if name in (*_DEVICE_FIELDS, "reason", "outcome")}
    _absorb_stall(episode, fields)
    _absorb_cpus(episode, fields)
    for name, value in fields.items():
        if knows_better or name in ("reason", "outcome"):
            episode.fields[name] = value
        else:
            episode.fields.setdefault(name, value)
    episode.seen.setdefault(line_key(found), record.usec)
    episode.last_usec = episode.heard_usec = max(episode.heard_usec, record.usec)
    episode.closed = episode.closed or pattern.last


def _unswap(episode: Episode, fields: dict[str, str]) -> None:
    """Two numbers that a driver prints the wrong way round: right where they fit the queue named a line before."""
    cpu, queue = fields.pop("swapped_cpu", None), fields.pop("swapped_queue", None)
    if cpu is None or queue is None:
        return
    latest = episode.queues[-1] if episode.queues else queue
    if latest not in (cpu, queue):
        return
    if queue != latest:
        cpu, queue = queue, cpu
    fields["queue"], fields["napi_cpu"] = queue, cpu


def _absorb_stall(episode: Episode, fields: dict[str, str]) -> None:
    for name, scale in _STALLS_US.items():
        value = fields.pop(name, "")
        if value and len(value) < 16:
            longest = max(int(value) * scale, int(episode.fields.get("stall_us", 0)))
            episode.fields["stall_us"] = str(longest)


def _absorb_cpus(episode: Episode, fields: dict[str, str]) -> None:
    """A stall may name several CPUs, one a line: the first is the symptom's, all are a detail."""
    cpu, first = fields.get("cpu"), episode.fields.get("cpu")
    if cpu is not None and first is not None and cpu != first:
        episode.fields["cpus"] = f"{episode.fields.get('cpus', first)},{cpu}"[:200]


def absorb_trace(episode: Episode, line: TraceLine) -> None:
    """Take a line of the dump below: who ran where, and the stack, until it is complete."""
    kind = episode.kind.trace
    if line.kind == "task" and kind == "task" and str(line.pid) != episode.fields.get("pid"):
        # The dump of another task follows: whoever holds the lock.
        episode.stack_done = True
    if episode.stack_done:
        return
    if line.cpu is not None:
        episode.fields.setdefault("cpu", str(line.cpu))
    if line.pid is not None and kind != "task":
        names = ("invoker", "invoker_pid") if kind == "invoker" else ("task", "pid")
        if line.task:
            episode.fields.setdefault(names[0], line.task)
        episode.fields.setdefault(names[1], str(line.pid))
    episode.stack.add(line)
