"""What happened, and when: the vocabulary of the timeline.

Everything that an event says stands in typed fields. `text` holds what somebody else said (a line of a log, the words
of a mark, a tool's message); a sentence for people is made from the fields when it is shown (`event_sentence`), and
nobody parses it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

Window = tuple[int, int]
"""From and to, UTC nanoseconds, both inclusive."""

TYPED = (
    "cpu",
    "device",
    "driver",
    "queue",
    "reason",
    "pid",
    "task",
    "cgroup",
    "hierarchy",
    "path",
    "from_ns",
    "to_ns",
    "count",
    "stall_s",
    "boot",
)
"""The fields that an event may leave open, in the order of the store's columns."""

SHORT_ID = 7
"""Hexadecimal digits of a short id."""

SYMPTOM_SOURCES = ("kmsg", "dmesg", "journal", "ray", "mark")
"""Who tells of trouble, among the sources of events: others, in their words."""

CHANGE_KINDS = frozenset({"change", "fix", "deploy", "rollback", "reboot"})
"""Kinds of marks that tell of an intervention: whatever their words say, nothing went wrong by them."""

_BASIC = ("at_ns", "kind", "source", "subject", "text", "uncertainty_ns")
_basic, _typed = attrgetter(*_BASIC), attrgetter(*TYPED)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at an instant, give or take `uncertainty_ns`. None or empty: not known.

    `cgroup` is the kernel's number of a cgroup within `hierarchy`, `path` its path where the subject is something else:
    in the life of a cgroup (`cgroup-mkdir`), the subject is the path. `from_ns` to `to_ns` is the stretch of time that
    the event is about; of a stepped clock, what it showed before and after. `count` says how many (restarts, lost
    samples, repeats of the line), `stall_s` for how long something stood still, `boot` which boot of the machine.
    """

    at_ns: int
    kind: str
    source: str
    subject: str = ""
    text: str = ""
    uncertainty_ns: int = 0
    cpu: int | None = None
    device: str = ""
    driver: str = ""
    queue: int | None = None
    reason: str = ""
    pid: int | None = None
    task: str = ""
    cgroup: int | None = None
    hierarchy: int | None = None
    path: str = ""
    from_ns: int | None = None
    to_ns: int | None = None
    count: int | None = None
    stall_s: float | None = None
    boot: str = ""
    stored_id: int | None = field(default=None, compare=False, repr=False)
    """The id under which a store has it; an event that nobody stored yet has none."""

    @property
    def id(self) -> int:
        """64 bits that depend on the fields only; written as text in JSON. A stored event keeps the id that it got."""
        if self.stored_id is not None:
            return self.stored_id
        said = [f"{name}={value}" for name, value in zip(TYPED, _typed(self), strict=True) if value not in (None, "")]
        data = "\x1f".join([*map(str, _basic(self)), *said]).encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")

    @property
    def short_id(self) -> str:
        """The beginning of the id in hexadecimal, which names the event wherever an id is asked for."""
        return short_id(self.id)

    @property
    def fields(self) -> dict[str, Any]:
        """What it says, by name; what it leaves open is absent."""
        typed = zip(TYPED, _typed(self), strict=True)
        return dict(zip(_BASIC, _basic(self), strict=True)) | {
            name: value for name, value in typed if value not in (None, "")
        }


def short_id(number: int) -> str:
    """The short form of an event's id: in a recording of a thousand events, two share one with a chance of 1 to 500."""
    return f"{number:016x}"[:SHORT_ID]


def event_of(row: Mapping[str, Any]) -> Event:
    """The event of a stored row: columns by name, `id` among them or not; null is what the event leaves open."""
    said = {name: value for name, value in row.items() if value is not None}
    if "id" in said:
        said["stored_id"] = int(said.pop("id"))
    return Event(**said)
