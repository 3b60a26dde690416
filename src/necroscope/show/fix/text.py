"""Plans and what became of them, for people: what changes first, then risk, cost, undo and what it does not end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.text import Text

from necroscope.clock import NS, iso
from necroscope.quantity import span
from necroscope.show.plain import plain
from necroscope.show.why.layout import bulleted, head, indented, put
from necroscope.vocabulary.plan import Action, FixReport, Plan, StepReport

_ENDINGS = {
    "applied": ("APPLIED", "bold green"),
    "undone": ("UNDONE", "bold green"),
    "refused": ("REFUSED, nothing was changed", "bold yellow"),
    "failed-and-undone": ("FAILED, and everything is as it was before", "bold red"),
    "partly-undone": ("NOT ALL OF IT COULD BE UNDONE", "bold red"),
    "in-doubt": ("STOPPED: it cannot be told what became of a step", "bold red"),
    "open": ("NOT FINISHED", "bold yellow"),
}
_SIGNS = {"done": "✓", "already": "=", "refused": "✗", "failed": "✗", "unknown": "?", None: " "}


def print_plan(plan: Plan, action: Action, console: Console, saved: bool) -> None:
    """What would change, exactly, and how to let it happen."""
    put(console, _plan(plan, action, saved))


def _plan(plan: Plan, action: Action, saved: bool) -> Iterator[RenderableType]:
    title = Text("PLAN  ", style="bold").append(plain(f"{plan.action} {plan.subject.name}"), style="bold cyan")
    yield title.append(f"   {plan.id}", style="dim")
    yield indented(Text(plain(f"Reason: {plan.reason}")))
    yield indented(Text(plain(f"Effect: {action.effect}")))
    yield from head("What would change, in this order")
    for number, step in enumerate(plan.steps, 1):
        yield bulleted(f"{number}.", Text(plain(step.says), style="bold"))
        for line in step.shows:
            yield indented(Text(plain(f"| {line}"), style="dim"), 5)
    yield from head("What to know")
    yield from _facts(plan, action)
    yield from head("Nothing has been changed")
    left = f"necroscope fix {plan.id} --apply" if saved else "the same command with --apply"
    yield indented(Text(left, style="bold green"))
    yield indented(Text(f"asks once more, and holds for {span((plan.expires_ns - plan.made_ns) / NS)}", style="dim"))


def _facts(plan: Plan, action: Action) -> Iterator[RenderableType]:
    rows = [("risk", action.risk), ("cost", action.cost), ("undo", action.undo if plan.undoable else "not possible")]
    rows += [("not achieved", action.not_achieved)]
    for name, value in rows:
        yield bulleted("•", Text(f"{name}: ", style="bold").append(plain(value), style=""))
    for note in plan.notes:
        yield bulleted("•", Text(plain(note)))


def print_step(report: StepReport, console: Console) -> None:
    """One step as it ends."""
    put(console, [_step(report)])


def _step(report: StepReport) -> RenderableType:
    verb = "taken back: " if report.undone else ""
    text = Text(plain(f"{verb}{report.step.says}"))
    if report.note:
        text.append(f"\n{plain(report.note)}", style="dim")
    return bulleted(_SIGNS[report.outcome], text)


def print_report(report: FixReport, console: Console) -> None:
    """What became of it, and what can be done next."""
    put(console, _report(report))


def _report(report: FixReport) -> Iterator[RenderableType]:
    words, style = _ENDINGS[report.ending]
    yield Text(words, style=style).append(f"   {report.plan.id}", style="dim")
    if report.because:
        yield indented(Text(plain(report.because)))
    for line in _next(report):
        yield indented(Text(plain(line), style="green"))


def _next(report: FixReport) -> Iterator[str]:
    plan = report.plan
    if report.ending == "applied":
        if any(one.step.undoable and one.outcome == "done" for one in report.steps):
            yield f"undo:  necroscope fix --undo {plan.id}"
        yield "measure:  necroscope validate"
        yield from (f"then:  {one}" for one in plan.then)
    if report.ending in ("in-doubt", "open"):
        yield f"look at it by hand, then: necroscope fix --resume, or necroscope fix --undo {plan.id}"


def print_history(reports: Sequence[FixReport], console: Console) -> None:
    """Every plan that was begun, the latest last."""
    if not reports:
        put(console, [Text("Nothing was ever changed here by necroscope fix.")])
    for one in reports:
        words, style = _ENDINGS[one.ending]
        line = Text(f"{iso(one.at_ns)}  {one.plan.id}  ")
        line.append(plain(f"{one.plan.action} {one.plan.subject.name}"), style="bold").append("  ").append(words, style)
        put(console, [line, *(_step(step) for step in one.steps if step.outcome is not None)])
        put(console, [indented(Text(plain(one.because), style="dim"))] if one.because else [])
