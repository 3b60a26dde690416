"""The vocabulary of a validation: what a recording has before and after a change, and what that proves.

Moments are UTC nanoseconds. None is unknown, never zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from necroscope.vocabulary.case import Boot, Run
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.leak_facts import LeakFacts
from necroscope.vocabulary.model import Evidence, Subject
from necroscope.vocabulary.verdict import Cause, Complaint

Outcome = Literal["pass", "fail", "inconclusive"]
Question = Literal["growth", "symptoms", "residue"]
"""growth: have the leak and the restarts stopped; symptoms: are symptoms and starved cores gone; residue: what is left
of before, and when will it matter."""


@dataclass(frozen=True, slots=True)
class Change:
    """The intervention that is judged, in words, and when it was."""

    at_ns: int
    text: str


@dataclass(frozen=True, slots=True)
class Jobs:
    """Jobs, as marks tell of them."""

    started: int = 0
    succeeded: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a change.

    `looks` and `directories` are counts of zombies, and of directories left behind, with their times, oldest first;
    `starved` are cores held in the kernel while somebody waited; `rates` are counters by name, per second. `covered`
    is the share of the window for which the cores' counters were read, `systemd_looks` how often systemd was asked.
    `blind` are sensors that could not see when it ended.
    """

    window: Window
    looks: tuple[tuple[int, int], ...] = ()
    directories: tuple[tuple[int, int], ...] = ()
    leaks: LeakFacts = field(default_factory=LeakFacts)
    symptoms: tuple[Complaint, ...] = ()
    starved: tuple[Run, ...] = ()
    rates: tuple[tuple[str, float], ...] = ()
    jobs: Jobs = Jobs()
    covered: float = 0.0
    systemd_looks: int = 0
    blind: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """How long it is."""
        return max(1, self.window[1] - self.window[0]) / 1e9


@dataclass(frozen=True, slots=True)
class ValidationFacts:
    """Everything that is judged. `before` is None where nothing of that time was recorded.

    `long_before` are the symptoms of up to a day before the change, `long_s` how much of that day was recorded.
    `wanted_s` is how long after the change was to be looked at; `cause` what `why` names for the last symptom before
    the change, and `at_symptom` how many zombies there were when symptoms came, where they have to do with it.
    `booted_ns` is when the node booted after the change.
    """

    change: Change
    wanted_s: float
    after: Side
    before: Side | None = None
    long_before: tuple[Complaint, ...] = ()
    long_s: float = 0.0
    cause: Cause | None = None
    at_symptom: int | None = None
    boots: tuple[Boot, ...] = ()
    booted_ns: int | None = None
    zombies_before: int | None = None
    """The last count before the change."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question. `needs` says what would make an inconclusive one conclusive."""

    question: Question
    outcome: Outcome
    claim: str
    evidence: tuple[Evidence, ...] = ()
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """A rate before and after; `worse`: it rose by more than it does by itself."""

    name: str
    unit: str
    before: float | None
    after: float | None
    worse: bool = False


@dataclass(frozen=True, slots=True)
class Validation:
    """What a change did. `notes` tell of what could not be read."""

    facts: ValidationFacts
    answers: tuple[Answer, ...]
    measures: tuple[Measure, ...] = ()
    leaker: Subject | None = None
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The worst of the answers."""
        found = {one.outcome for one in self.answers}
        return "fail" if "fail" in found else "inconclusive" if "inconclusive" in found else "pass"

    def answer(self, question: Question) -> Answer:
        """The answer to a question."""
        return next(one for one in self.answers if one.question == question)

    @property
    def healed_only(self) -> bool:
        """Whether the symptoms are gone, or were never there, and what causes them is not."""
        return self.answer("growth").outcome == "fail" and self.answer("symptoms").outcome != "fail"
