"""What to do about a plan whose journal ends in the middle: finish it, or take it back.

It is finished only while the plan holds: same boot, not expired, every condition as it was. A plan that was being taken
back is taken back to its end. Nothing is repeated that is there already, and nothing happens by itself: a person calls.
"""

from __future__ import annotations

from necroscope import clock
from necroscope.act.attempt import OnProgress, Stand, stand
from necroscope.act.carry_out import go_on
from necroscope.act.conditions import broken
from necroscope.act.journal import Journal
from necroscope.act.node.doors import Node
from necroscope.act.state_folder import StateFolder
from necroscope.act.steps import reached, state
from necroscope.act.take_back import foreign, take_back_all
from necroscope.errors import NecroscopeError, Refused
from necroscope.vocabulary.plan import STATELESS, Ending, FixReport, Plan


def unfinished(folder: StateFolder) -> list[Stand]:
    """Plans that were begun and have no end, the oldest first."""
    found = [stand(plan, written.records) for _, written in folder.begun() if (plan := written.plan) is not None]
    return [one for one in found if not one.closed]


def resume(plan: Plan, node: Node, folder: StateFolder, on_progress: OnProgress) -> FixReport:
    """Finish a plan, or take it back where it may not be finished any more. `Refused` where somebody must decide."""
    with folder.locked():
        journal = Journal(folder.journal(plan.id))
        try:
            now = stand(plan, journal.records)
            why_not = "it was being taken back" if now.undoing else _holds_no_more(plan, node, now)
            if not why_not:
                return go_on(plan, node, journal, on_progress)
            if said := foreign(node, now):
                raise Refused(f"{said}.", "make it the one or the other by hand, then resume again")
            clean = take_back_all(node, journal, now, on_progress)
            ending: Ending = "failed-and-undone" if clean else "partly-undone"
            journal.add("end", ending=ending, text=f"taken back: {why_not}")
            return stand(plan, journal.records).report(clock.now().realtime_ns)
        finally:
            journal.close()


def _holds_no_more(plan: Plan, node: Node, now: Stand) -> str:
    """Why a plan may not be finished; empty where it may, or where all of it is there already."""
    left = [one.step for one in now.steps if one.outcome not in ("done", "already")]
    try:
        if all(step.after != STATELESS and reached(step, state(node, step)) for step in left):
            return ""
        if node.boot.id() != plan.boot_id:
            return "the node was booted since"
        if clock.now().realtime_ns > plan.expires_ns:
            return "the plan has expired"
        return next((words for step in left if (words := broken(node, plan, step))), "")
    except NecroscopeError as error:
        raise Refused(f"The node cannot be asked: {error.message}.", error.hint) from error
