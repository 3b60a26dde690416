"""Where `necroscope fix` tells what it plans and does: text as it happens, or one JSON document at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from necroscope.cli.shared.options import console

if TYPE_CHECKING:
    from necroscope.act.state_folder import StateFolder
    from necroscope.vocabulary.plan import FixReport, Plan, StepReport

_CODES = {"applied": 0, "undone": 0, "open": 0, "refused": 3, "in-doubt": 3, "failed-and-undone": 1, "partly-undone": 1}


class FixOutput:
    """Plans, steps and endings for people or for machines; `planned`, `ended` and `history` return the exit code."""

    def __init__(self, as_json: bool, no_color: bool, quiet: bool) -> None:
        self._json, self._quiet, self._console = as_json, quiet, console(no_color)

    def say(self, text: str) -> None:
        """One line for people."""
        if not (self._json or self._quiet):
            click.echo(text)

    def planned(self, plan: Plan, saved: bool) -> int:
        """A plan that is not carried out."""
        from necroscope.act.planning.catalogue import BY_NAME
        from necroscope.show.fix.document import plan_document
        from necroscope.show.fix.text import print_plan

        if self._json:
            self._dump(plan_document(plan, BY_NAME[plan.action]))
        elif not self._quiet:
            self._print(lambda: print_plan(plan, BY_NAME[plan.action], self._console, saved))
        return 0

    def step(self, report: StepReport) -> None:
        """A step that has just ended."""
        from necroscope.show.fix.text import print_step

        if not (self._json or self._quiet):
            self._print(lambda: print_step(report, self._console))

    def ended(self, report: FixReport) -> int:
        """What became of a plan."""
        from necroscope.act.planning.catalogue import BY_NAME
        from necroscope.show.fix.document import report_document
        from necroscope.show.fix.text import print_report

        if self._json:
            self._dump(report_document(report, BY_NAME[report.plan.action]))
        elif not self._quiet:
            self._print(lambda: print_report(report, self._console))
        return _CODES[report.ending]

    def history(self, folder: StateFolder) -> int:
        """Every plan that was ever begun."""
        from necroscope.act.attempt import stand
        from necroscope.show.fix.document import history_document
        from necroscope.show.fix.text import print_history

        begun = ((written.plan, written.records) for _, written in folder.begun())
        reports = [stand(plan, records).report(records[0].at_ns) for plan, records in begun if plan is not None]
        if self._json:
            self._dump(history_document(reports))
        elif not self._quiet:
            self._print(lambda: print_history(reports, self._console))
        return 0

    def _print(self, tell: Callable[[], None]) -> None:
        """To a terminal as it is; elsewhere without the spaces that fill lines up."""
        if self._console.is_terminal:
            tell()
            return
        with self._console.capture() as captured:
            tell()
        for line in captured.get().splitlines():
            click.echo(line.rstrip())

    def _dump(self, document: object) -> None:
        import json

        click.echo(json.dumps(document, indent=2))
