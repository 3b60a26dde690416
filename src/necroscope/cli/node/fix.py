"""`necroscope fix`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.node.fix_output import FixOutput
from necroscope.cli.shared.options import Span, config_option, output_options
from necroscope.cli.shared.times import RULE, Instant
from necroscope.errors import BadInput, Refused, Unavailable

if TYPE_CHECKING:
    from necroscope.act.node.doors import Node
    from necroscope.act.planning.draft import Draft
    from necroscope.act.state_folder import StateFolder
    from necroscope.vocabulary.plan import FixReport, Plan


@click.command(epilog=RULE)
@click.argument("what", required=False)
@click.argument("subjects", nargs=-1)
@click.option("--apply", "apply", is_flag=True, help="Carry the plan out, after asking once.")
@click.option("--yes", is_flag=True, help="With --apply: do not ask. (--undo and --resume never do.)")
@click.option("--again", is_flag=True, help="Act on the same subject a second time in this boot.")
@click.option("--history", is_flag=True, help="What was ever changed here.")
@click.option("--undo", "undo_id", metavar="ID", help="Take a plan back, from the bytes that were kept.")
@click.option("--resume", is_flag=True, help="Finish, or take back, what was interrupted.")
@click.option(
    "--budget", "budget_s", type=Span(), default=2.0, show_default="2s", help="The longest that reclaim may run."
)
@click.option(
    "--store", type=click.Path(path_type=Path), help="The recording that is asked (default: $NECROSCOPE_STORE)."
)
@click.option("--at", "at_ns", type=Instant(), help="The cause of the symptom nearest to this time.")
@click.option("--event", help="The cause of this event: its id, or a kind.")
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where plans and journals are kept (default: /var/lib/necroscope-fix).",
)
@config_option
@output_options
def fix(
    what: str | None,
    subjects: tuple[str, ...],
    apply: bool,
    yes: bool,
    again: bool,
    history: bool,
    undo_id: str | None,
    resume: bool,
    budget_s: float,
    store: Path | None,
    at_ns: int | None,
    event: str | None,
    state: Path | None,
    config_file: Path | None,
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> int:
    """Make it stop: a plan that shows what would change; with --apply, the plan carried out. Reversible.

    Without WHAT, the plan follows from `necroscope why`. WHAT is the id of a finding of `necroscope scan`, the id of a
    plan that was shown, or an action with its subject: stop-unit, disable-unit, mask-unit, neutralise-unit,
    limit-restarts, stop-container, stop-process, free-zombies, remove-leftover, remove-directories, reboot
    (docs/fixing.md).

    \b
    Exit codes:
      0  a plan was shown, carried out or undone; or nothing is to be fixed
      1  it failed, and what had been changed was put back
      2  bad usage or input
      3  refused: nothing was changed; or a person must look

    \b
    Examples:
      necroscope fix                                   what would end the latest symptom
      necroscope fix --apply                           do it, after asking
      necroscope fix disable-unit node-agent.service   by hand
      necroscope fix free-zombies /system.slice        free what has leaked
      necroscope fix fix-5f0c9a12 --apply --yes        a plan that was shown
      necroscope fix --undo fix-5f0c9a12               as it was, byte for byte
    """
    from necroscope.act.node.boot import live_node
    from necroscope.act.state_folder import StateFolder, place

    _check(what, subjects, (history, undo_id is not None, resume), apply, yes)
    if as_json and apply and not yes:
        raise BadInput("--json asks nobody.", "add --yes")
    folder, out = StateFolder(place(state)), FixOutput(as_json, no_color, quiet)
    if history:
        return out.history(folder)
    node = live_node()
    if undo_id is not None:
        report = _undo(undo_id, node, folder, out)
        _mark(report, store)
        return out.ended(report)
    if resume:
        return _resume(node, folder, out)
    plan = _plan(what, subjects, node, folder, store, (at_ns, event), budget_s, config_file)
    if not apply:
        return out.planned(plan, _saved(plan, folder))
    if not yes:
        out.planned(plan, saved=False)
        _agreed(plan)
    from necroscope.act.carry_out import carry_out

    report = carry_out(plan, node, folder, out.step, again)
    _mark(report, store)
    return out.ended(report)


def _check(what: str | None, subjects: tuple[str, ...], others: tuple[bool, ...], apply: bool, yes: bool) -> None:
    if sum(others) + (what is not None) > 1:
        raise BadInput("--history, --undo, --resume and an action exclude each other.", "give one of them")
    if yes and not apply and not any(others):
        raise BadInput("--yes belongs to --apply.", "add --apply")
    if subjects and what is None:
        raise BadInput("A subject needs an action.", "necroscope fix --help")


def _plan(
    what: str | None,
    subjects: tuple[str, ...],
    node: Node,
    folder: StateFolder,
    store: Path | None,
    about: tuple[int | None, str | None],
    budget_s: float,
    config_file: Path | None,
) -> Plan:
    """The plan that is asked for: one that was shown, by hand, of a finding, or of a verdict."""
    from necroscope.act.planning.catalogue import BY_NAME
    from necroscope.act.planning.draft import Draft
    from necroscope.act.planning.plan import plan
    from necroscope.act.state_folder import ID
    from necroscope.store.place import to_write

    if what is not None and ID.fullmatch(what):
        return folder.plan(what)
    draft = Draft(node, what or "", recorder=to_write(store), budget_s=budget_s)
    if what in BY_NAME:
        return plan(draft, subjects)
    if what is not None:
        return _of_finding(what, subjects, draft, config_file)
    return _of_verdict(draft, store, about, config_file)


def _of_finding(name: str, subjects: tuple[str, ...], draft: Draft, config_file: Path | None) -> Plan:
    from necroscope import config
    from necroscope.act.planning.plan import of_finding, plan
    from necroscope.scan.scanner import Scanner
    from necroscope.sense.host import Host

    found = Scanner(Host(), config.load(config_file)).scan().diagnosis.findings
    chosen = [one for one in found if not subjects or one.subject.name == subjects[0]]
    action, subject = of_finding(chosen, name)
    return plan(replace(draft, action=action, reason=f"finding {name} of a scan"), (subject,))


def _of_verdict(
    draft: Draft, store: Path | None, about: tuple[int | None, str | None], config_file: Path | None
) -> Plan:
    from necroscope import config
    from necroscope.act.planning.plan import follow_ups, of_verdict, plan
    from necroscope.cli.shared.blindness import refuse_blank
    from necroscope.cli.shared.recorded_here import refuse_foreign
    from necroscope.explain import explain
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store

    opened = Store(to_read(store))
    refuse_blank(opened)
    refuse_foreign(opened, draft.node.boot.id())
    verdict = explain(opened, config.load(config_file), at_ns=about[0], event=about[1])
    if verdict.verdict == "no-symptom":
        raise click.exceptions.Exit(_nothing_to_fix())
    if verdict.inconclusive:
        raise Refused("Whether there was a symptom cannot be told.", "`necroscope why` says what was not recorded")
    action, subject = of_verdict(verdict)
    assert verdict.cause is not None
    reason = f"{verdict.cause.kind} by {subject}, confidence {verdict.cause.confidence:.2f} (necroscope why)"
    draft = replace(draft, action=action, reason=reason, recorder=opened.folder, then=follow_ups(verdict))
    return plan(draft, (subject,))


def _nothing_to_fix() -> int:
    click.echo("There is no symptom in the recording, and nothing to fix.")
    return 0


def _saved(plan: Plan, folder: StateFolder) -> bool:
    """Whether the plan could be kept, for `fix ID`; who may not write there sees it all the same."""
    try:
        folder.save(plan)
    except (Unavailable, OSError):
        return False
    return True


def _agreed(plan: Plan) -> None:
    if not sys.stdin.isatty():
        raise BadInput("There is nobody to ask.", "add --yes to go on without asking")
    if not click.confirm(f"Carry out {plan.id} on this node?", err=True):
        raise click.Abort


def _undo(name: str, node: Node, folder: StateFolder, out: FixOutput) -> FixReport:
    from necroscope.act.take_back import undo

    return undo(name, node, folder, out.step)


def _resume(node: Node, folder: StateFolder, out: FixOutput) -> int:
    from necroscope.act.resume import resume, unfinished

    left = unfinished(folder)
    if not left:
        out.say("Nothing was interrupted here.")
        return 0
    return max([out.ended(resume(one.plan, node, folder, out.step)) for one in left])


def _mark(report: FixReport, store: Path | None) -> None:
    """Put it on the timeline, where there is one: `validate` measures before and after."""
    from contextlib import suppress

    from necroscope import clock
    from necroscope.store.format.tables import valid_text
    from necroscope.store.inbox import put
    from necroscope.store.place import to_write
    from necroscope.vocabulary.event import Event

    folder, plan = to_write(store), report.plan
    if report.ending == "refused" or not (folder / "format.json").is_file():
        return
    text = f"{report.ending}: {plan.action} {plan.subject.name} ({plan.id})"
    with suppress(Refused, Unavailable, OSError):
        put(folder, Event(clock.now().realtime_ns, "fix", "mark", valid_text(plan.subject.name), valid_text(text)))
