"""Carrying out a plan: look, write down, act, look again, write down. Whatever goes wrong is taken back.

every condition of every step is asked first; a plan that is refused here has not begun
for each step:  its conditions and its state again · intent · change · state · outcome
failed          what was done so far is taken back (`failed-and-undone`)
unknown         neither as before nor as planned: stop, and ask a person (`in-doubt`)
"""

from __future__ import annotations

from necroscope import clock
from necroscope.act.attempt import OnProgress, Stand, stand, to_undo
from necroscope.act.conditions import broken
from necroscope.act.journal import Journal
from necroscope.act.node.doors import Node
from necroscope.act.state_folder import StateFolder
from necroscope.act.steps import make, reached, state, tidy, untouched
from necroscope.act.take_back import take_back_all
from necroscope.errors import NecroscopeError, Refused
from necroscope.vocabulary.plan import STATELESS, Ending, FixReport, Outcome, Plan, Step, StepReport


def carry_out(plan: Plan, node: Node, folder: StateFolder, on_progress: OnProgress, again: bool = False) -> FixReport:
    """Carry out a plan that somebody has agreed to. `Refused` where it must not begin: nothing has changed then."""
    with folder.locked():
        _may_begin(plan, node, folder, again)
        journal = Journal(folder.journal(plan.id))
        try:
            journal.add("plan", plan=plan)
            return go_on(plan, node, journal, on_progress)
        finally:
            journal.close()


def go_on(plan: Plan, node: Node, journal: Journal, on_progress: OnProgress) -> FixReport:
    """Make the steps that are not made yet; what was begun and not finished is looked at first."""
    now = stand(plan, journal.records)
    for number, step in enumerate(plan.steps):
        outcome, note = now.steps[number].outcome, now.steps[number].note
        if outcome not in ("done", "already"):
            outcome, note = _one(plan, node, journal, number, step, number in now.begun or outcome == "unknown")
        on_progress(StepReport(step, outcome, note))
        if step.kind == "reboot" and outcome is None:
            return stand(plan, journal.records).report(clock.now().realtime_ns)
        if outcome == "unknown":
            return _end(plan, journal, "in-doubt", note)
        if outcome in ("failed", "refused"):
            return _back(plan, node, journal, on_progress, note)
    return _end(plan, journal, "applied", "")


def _one(plan: Plan, node: Node, journal: Journal, number: int, step: Step, begun: bool) -> tuple[Outcome | None, str]:
    """One step. `begun`: its change may be there already, in whole."""
    try:
        before = state(node, step)
        if reached(step, before):
            ours = begun or _changed_something(plan, journal)
            journal.add("outcome", number, "done" if ours else "already")
            return ("done" if ours else "already"), ""
        problem = broken(node, plan, step)
        if not problem and not untouched(step, before) and step.before != STATELESS:
            problem = f"{step.target} is neither as it was when the plan was made nor as planned"
            if begun:
                journal.add("outcome", number, "unknown", problem)
                return "unknown", problem
    except NecroscopeError as error:
        problem = error.message
    if problem:
        journal.add("outcome", number, "refused", problem)
        return "refused", problem
    tidy(node, step)
    journal.add("intent", number)
    return _made(node, journal, number, step)


def _changed_something(plan: Plan, journal: Journal) -> bool:
    """Whether an earlier step changed anything: what is as planned then may be so because of it, and is undone too."""
    return any(one.outcome == "done" for one in stand(plan, journal.records).steps)


def _made(node: Node, journal: Journal, number: int, step: Step) -> tuple[Outcome | None, str]:
    failed = note = ""
    try:
        note = make(node, step)
    except (NecroscopeError, OSError) as error:
        failed = getattr(error, "message", "") or str(error)
    if step.kind == "reboot" and not failed:
        return None, note  # the node goes down now: the next start tells
    outcome = _outcome(node, step, failed)
    said = failed or note
    journal.add("outcome", number, outcome, said)
    return outcome, said


def _outcome(node: Node, step: Step, failed: str) -> Outcome:
    if step.after == STATELESS:
        return "failed" if failed else "done"
    try:
        now = state(node, step)
    except NecroscopeError:
        return "unknown"
    if reached(step, now):
        return "done"
    return "failed" if untouched(step, now) else "unknown"


def _may_begin(plan: Plan, node: Node, folder: StateFolder, again: bool) -> None:
    """Everything that forbids a plan as a whole. `Refused` says which."""
    if node.boot.id() != plan.boot_id:
        raise Refused(f"{plan.id} was made before this boot.", "ask for the plan again")
    if clock.now().realtime_ns > plan.expires_ns:
        raise Refused(f"{plan.id} has expired.", "ask for the plan again: the node may have changed")
    for name, written in folder.begun():
        before = written.plan
        if before is None:
            continue
        if name == plan.id:
            raise Refused(f"{name} was carried out already.", "ask for the plan again")
        if not stand(before, written.records).closed:
            raise Refused(f"{name} was begun and is not finished.", f"necroscope fix --resume, or fix --undo {name}")
        if before.cause == plan.cause and before.boot_id == plan.boot_id and not again:
            raise Refused(
                f"{plan.cause} was acted on already in this boot ({name}).",
                "see whether that helped; --again makes a second attempt",
            )
    for step in plan.steps:
        if problem := broken(node, plan, step):
            raise Refused(f"{problem[:1].upper()}{problem[1:]}.", "ask for the plan again")
        if step.before != STATELESS and not (untouched(step, now := state(node, step)) or reached(step, now)):
            raise Refused(f"{step.target} has changed since the plan was made.", "ask for the plan again")


def _back(plan: Plan, node: Node, journal: Journal, on_progress: OnProgress, because: str) -> FixReport:
    now: Stand = stand(plan, journal.records)
    if not to_undo(now):
        return _end(plan, journal, "refused", because)
    clean = take_back_all(node, journal, now, on_progress)
    return _end(plan, journal, "failed-and-undone" if clean else "partly-undone", because)


def _end(plan: Plan, journal: Journal, ending: Ending, because: str) -> FixReport:
    journal.add("end", ending=ending, text=because)
    return stand(plan, journal.records).report(clock.now().realtime_ns)
