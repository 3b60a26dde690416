"""The vocabulary of change: a plan, its steps, what must hold before each, and what became of them.

A step is one change of one thing, whose state is a text that can be compared: `before` is what it was when the plan was
made, `after` what it shall be. Prior bytes are part of the state of a file, so that a step can be taken back from the
journal alone. Steps whose state cannot be compared (a reload, a dropped cache) have `STATELESS` for both and may be
repeated without harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from necroscope.vocabulary.model import Subject

StepKind = Literal[
    "set-path",
    "reload-units",
    "stop-unit",
    "restart-policy",
    "stop-container",
    "drop-cache",
    "reclaim",
    "remove-cgroups",
    "remove-files",
    "end-process",
    "reboot",
]
ConditionKind = Literal["boot", "unit-files", "invocation", "inode", "unused", "process", "container"]
Outcome = Literal["done", "already", "refused", "failed", "unknown"]
Ending = Literal["applied", "refused", "undone", "failed-and-undone", "partly-undone", "in-doubt", "open"]
"""What became of a plan. `open`: its journal ends in the middle, because somebody is at it or was killed at it."""

STATELESS = ""
ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Condition:
    """What must still be as it was when the plan was made."""

    kind: ConditionKind
    subject: str
    value: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A property of a unit that must read so after systemd has read its files again."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Step:
    """One change. `says` is the change in one line as it is carried out (a call, a path); `shows` are the bytes written
    or removed, line by line. `items` are many things of one kind, each with its identity, that the step is about.
    `undoable`: whether its prior state can be put back."""

    kind: StepKind
    target: str
    says: str
    before: str = STATELESS
    after: str = STATELESS
    shows: tuple[str, ...] = ()
    undoable: bool = True
    conditions: tuple[Condition, ...] = ()
    settings: tuple[Setting, ...] = ()
    items: tuple[tuple[str, str], ...] = ()
    budget_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done about one subject. `reason` says whence it comes; `notes` what one should know of this node;
    `then` are commands that may follow. It holds in the boot `boot_id` until `expires_ns`."""

    id: str
    action: str
    subject: Subject
    made_ns: int
    expires_ns: int
    boot_id: str
    steps: tuple[Step, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
    then: tuple[str, ...] = ()

    @property
    def cause(self) -> str:
        """What attempts are counted by: whoever is acted on."""
        return f"{self.subject.kind} {self.subject.name}"

    @property
    def undoable(self) -> bool:
        """Whether every step can be taken back."""
        return all(step.undoable for step in self.steps)


@dataclass(frozen=True, slots=True)
class StepReport:
    """What became of a step, in words; `undone` once it was taken back."""

    step: Step
    outcome: Outcome | None = None
    note: str = ""
    undone: bool = False


@dataclass(frozen=True, slots=True)
class FixReport:
    """A plan and what became of it so far. `because` says why it did not end as planned."""

    plan: Plan
    ending: Ending
    steps: tuple[StepReport, ...]
    because: str = ""
    at_ns: int = 0


@dataclass(frozen=True, slots=True)
class Action:
    """A kind of change that `fix` knows. `subject` is what it is called with; `not_achieved` what it does not end."""

    name: str
    subject: str
    effect: str
    precondition: str
    risk: str
    cost: str
    undo: str
    not_achieved: str
