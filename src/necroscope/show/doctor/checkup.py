"""What `doctor` finds: can this node be recorded, what is blind, what it costs, how long it lasts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Grade = Literal["fine", "note", "blind", "wrong"]
"""note: not seen here, and nothing that matters hangs on it; blind: what a verdict needs cannot be seen."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: how it stands, and what to do where it is not fine."""

    name: str
    grade: Grade
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Checkup:
    """All of them, and what recording took while it was tried. None: it could not be tried."""

    checks: tuple[Check, ...]
    cpu_share: float | None = None
    memory_bytes: int | None = None
    bytes_per_s: float | None = None
    hours: float | None = None

    @property
    def exit_code(self) -> int:
        """1: something is wrong; 3: what a verdict needs cannot be seen; else 0."""
        grades = {one.grade for one in self.checks}
        return 1 if "wrong" in grades else 3 if "blind" in grades else 0
