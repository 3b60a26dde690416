"""One plan on its way: its journal, its steps and what became of each, as the journal tells it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from necroscope.act.journal import Record
from necroscope.act.steps import KINDS
from necroscope.vocabulary.plan import Ending, FixReport, Plan, Step, StepReport

OnProgress = Callable[[StepReport], None]


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a journal stands. `begun` are steps with an intent and no outcome: what became of them nobody wrote."""

    plan: Plan
    steps: tuple[StepReport, ...]
    ending: Ending
    because: str
    begun: frozenset[int]
    undoing: bool

    @property
    def closed(self) -> bool:
        """Whether nothing more is to be done about it."""
        return self.ending not in ("open", "in-doubt")

    def report(self, at_ns: int = 0) -> FixReport:
        """The same for people."""
        return FixReport(self.plan, self.ending, self.steps, self.because, at_ns or self.plan.made_ns)


def stand(plan: Plan, records: Sequence[Record]) -> Stand:
    """What the records say."""
    steps = [StepReport(step) for step in plan.steps]
    begun: set[int] = set()
    ending: Ending = "open"
    because, undoing = "", False
    for record in records:
        if record.kind == "end":
            ending, because = record.ending or "open", record.text
            undoing = False
        elif record.step is not None and 0 <= record.step < len(steps):
            steps[record.step] = _after(steps[record.step], record)
            if record.kind == "intent":
                begun.add(record.step)
            elif record.kind == "outcome":
                begun.discard(record.step)
            undoing = undoing or record.kind in ("undo-intent", "undone")
            ending = "open"
    return Stand(plan, tuple(steps), ending, because, frozenset(begun), undoing)


def _after(report: StepReport, record: Record) -> StepReport:
    if record.kind == "outcome":
        return replace(report, outcome=record.outcome, note=record.text)
    if record.kind == "undone":
        gone = record.outcome in ("done", "already")
        return replace(report, undone=gone, note=record.text or report.note)
    return report


def to_undo(stand: Stand) -> list[tuple[int, Step]]:
    """The steps that changed something, or may have, in the order in which they are taken back."""
    found = [
        (number, one.step)
        for number, one in enumerate(stand.steps)
        if not one.undone and (number in stand.begun or one.outcome in ("done", "unknown", "failed"))
    ]
    return sorted(found, key=lambda one: (KINDS[one[1].kind].undo_order, -one[0]))
