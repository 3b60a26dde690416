"""Taking a plan back from the bytes that its journal holds, and only where nobody has changed what we made since.

Three ways are compared for each step: what was before, what we made, and what is there now. As we made it: put back.
As before: nothing to do. Anything else is somebody's: it is left alone, and said.
"""

from __future__ import annotations

from necroscope import clock
from necroscope.act.attempt import OnProgress, Stand, stand, to_undo
from necroscope.act.journal import Journal
from necroscope.act.node.doors import Node
from necroscope.act.state_folder import StateFolder
from necroscope.act.steps import reached, state, take_back, tidy, untouched
from necroscope.errors import BadInput, NecroscopeError, Refused
from necroscope.vocabulary.plan import STATELESS, FixReport, Outcome, Step, StepReport

_DONE: tuple[Outcome, ...] = ("done", "already")


def undo(name: str, node: Node, folder: StateFolder, on_progress: OnProgress) -> FixReport:
    """Take back a plan by its id. `Refused`, with nothing changed, where somebody changed what the plan had made."""
    with folder.locked():
        journal = Journal(folder.journal(name))
        try:
            if not journal.records or (plan := journal.records[0].plan) is None:
                raise BadInput(
                    f"There is no plan {name} that was carried out.", "`necroscope fix --history` lists them"
                )
            now = stand(plan, journal.records)
            if not to_undo(now):
                if not now.closed:
                    journal.add("end", ending="undone", text="nothing had been changed")
                return stand(plan, journal.records).report(clock.now().realtime_ns)
            if not any(step.undoable for _, step in to_undo(now)):
                raise Refused(f"{name} cannot be undone: {plan.action} leaves nothing to put back.")
            _unchanged(node, now)
            clean = take_back_all(node, journal, now, on_progress)
            journal.add("end", ending="undone" if clean else "partly-undone")
            return stand(plan, journal.records).report(clock.now().realtime_ns)
        finally:
            journal.close()


def take_back_all(node: Node, journal: Journal, now: Stand, on_progress: OnProgress) -> bool:
    """Take back every step that changed something; whether all of them are as before."""
    clean = True
    for number, step in to_undo(now):
        outcome, note = _one(node, journal, number, step)
        clean = clean and outcome in _DONE
        on_progress(StepReport(step, outcome, note, undone=outcome in _DONE))
    return clean


def foreign(node: Node, now: Stand) -> str:
    """What of a plan somebody has changed since, in words; empty where nothing."""
    for _, step in to_undo(now):
        if step.undoable and step.before != STATELESS:
            there = state(node, step)
            if not reached(step, there) and not untouched(step, there):
                return f"{step.target} was changed since by somebody else: it is neither as we made it nor as it was"
    return ""


def _unchanged(node: Node, now: Stand) -> None:
    if said := foreign(node, now):
        raise Refused(f"{said}.", "decide by hand; nothing was taken back")


def _one(node: Node, journal: Journal, number: int, step: Step) -> tuple[Outcome, str]:
    outcome, note = _taken_back(node, journal, number, step)
    journal.add("undone", number, outcome, note)
    return outcome, note


def _taken_back(node: Node, journal: Journal, number: int, step: Step) -> tuple[Outcome, str]:
    try:
        tidy(node, step)
        there = state(node, step)
        if untouched(step, there):
            return "already", ""
        if not step.undoable:
            return "refused", "cannot be undone"
        if step.before != STATELESS and not reached(step, there):
            return "refused", f"{step.target} was changed since by somebody else: left as it is"
        journal.add("undo-intent", number)
        note = take_back(node, step)
        put_back = step.before == STATELESS or note or untouched(step, state(node, step))
        return ("done", note) if put_back else ("failed", f"{step.target} is not as it was")
    except NecroscopeError as error:
        return "failed", error.message
