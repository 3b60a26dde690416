"""What recorder, opener and parser say to each other: one JSON value a packet, all sizes bounded.

    request  {"id", "kind": "object" | "map", "key", "pid", "path", "inode", "build_id", "places": [...]}
    opened   {"id", "reason"}                              opener -> recorder; an empty reason: handed over
    answer   {"id", "reason", "kept", "more", "ranges": [[start, end, name | null], ...]}

A range is all that one name covers, or null for a stretch without one. What comes from the parser is checked like
anything that a stranger wrote: it reads strangers' files.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from necroscope.sense.confined.refusal import Refusal

OBJECT, MAP = "object", "map"
READY = b"ready"
REQUEST_BYTES = 1 << 16
ANSWER_BYTES = 1 << 17
MOST_PLACES = 512
_ENOUGH_BYTES = 96 << 10
_LONGEST_NAME = 512
_LAST = (1 << 64) - 1

Range = tuple[int, int, str | None]


@dataclass(frozen=True, slots=True)
class Request:
    """Names for places in a file that a process maps, or for addresses in the map that it wrote. No place: look at the
    file now, names are asked later."""

    id: int
    kind: str
    key: str
    pid: int
    path: str = ""
    inode: int = 0
    build_id: str = ""
    places: tuple[int, ...] = ()

    def packet(self) -> bytes:
        """As bytes; the places that fit."""
        return json.dumps(asdict(self)).encode()


@dataclass(frozen=True, slots=True)
class Answer:
    """Ranges for the places of a request. `kept`: the parser can name more of it without the file; `more`: there is
    more in the file than could be read at once."""

    id: int
    reason: Refusal | None = None
    kept: bool = False
    more: bool = False
    ranges: tuple[Range, ...] = field(default=())


def request_of(data: bytes) -> Request:
    """A packet of the recorder, whom children trust."""
    value = json.loads(data)
    value["places"] = tuple(value["places"])
    return Request(**value)


def answer_packet(answer: Answer) -> bytes:
    """As bytes; ranges that would make it too long are left out and will be asked again."""
    size = 0
    kept = []
    for start, end, name in answer.ranges:
        short = None if name is None else name[:_LONGEST_NAME]
        size += 64 + 6 * len(short or "")
        if size > _ENOUGH_BYTES:
            break
        kept.append((start, end, short))
    value = {"id": answer.id, "reason": answer.reason, "kept": answer.kept, "more": answer.more, "ranges": kept}
    return json.dumps(value).encode()


def answer_of(data: bytes) -> Answer | None:
    """A packet of the parser or the opener; None for what makes no sense."""
    try:
        value = json.loads(data)
        reason = Refusal(value["reason"]) if value["reason"] else None
        ranges = tuple(map(_range, value.get("ranges", ())[: 2 * MOST_PLACES]))
        return Answer(int(value["id"]), reason, value.get("kept") is True, value.get("more") is True, ranges)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _range(value: Any) -> Range:
    start, end, name = value
    if not (type(start) is int and type(end) is int and 0 <= start < end <= _LAST):
        raise ValueError("no range")
    if name is not None and not isinstance(name, str):
        raise ValueError("no name")
    return start, end, None if name is None else name[:_LONGEST_NAME]
