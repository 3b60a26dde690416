"""A line of the recorder's log: a thing that matters, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Level = Literal["debug", "info", "warning", "error"]
LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error")


@dataclass(frozen=True, slots=True)
class LogLine:
    """`text` is a sentence for people; `fields` have the same by name, for machines."""

    at_ns: int
    level: Level
    kind: str
    text: str
    fields: Mapping[str, Any] = field(default_factory=dict)
