"""What a scenario is: one file with one object, and the truth that a run of it leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from necroscope.lab.stage import Stage

INFINITE = float("inf")


@dataclass(frozen=True, slots=True)
class Need:
    """What a machine must have. `missing` says what is lacking, in words; nothing when all is there."""

    name: str
    missing: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Show:
    """What must be seen for the incident to count as having happened: a figure of the stage within bounds."""

    text: str
    measure: Callable[[Stage], float]
    at_least: float = -INFINITE
    at_most: float = INFINITE
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """Who is meant: `kind` is unit, container, process, cgroup or kernel."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Truth:
    """What a play function returns. `subject` is what an operator acts on, `process` and `pid` who was on the core."""

    cause: str | None
    subject: Subject | None = None
    process: str = ""
    pid: int = 0
    cpu: int | None = None
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One incident, or a healthy control (`cause` is None). `play` makes it on a stage and returns the truth.

    `innocent` says that whoever is on the starved core is not the one to act on. `decoys` are drawn for each run from
    those of the library: how many, at most. `hides` names decoys that would blur this scenario's truth.
    """

    name: str
    summary: str
    play: Callable[[Stage], Truth]
    cause: str | None
    subject: str | None = None
    needs: tuple[Need, ...] = ()
    shows: tuple[Show, ...] = ()
    innocent: bool = False
    decoys: int = 2
    hides: tuple[str, ...] = ()
    verdict: str = ""

    @property
    def right(self) -> str:
        """The verdict that is right: `explained` where there is a cause, unless the scenario says otherwise."""
        return self.verdict or ("explained" if self.cause else "unexplained")
