"""`necroscope lab score`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from necroscope.cli.shared.options import Span, console, output_options

if TYPE_CHECKING:
    from rich.console import Console

    from necroscope.lab.scoring.marking import Judgement


_MOST_SEEDS = 10_000
_LASTS_S = 45.0


class Seeds(click.ParamType["list[int]"]):
    """Numbers with commas between them, also ranges: 1,2,5-9."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        if isinstance(value, list):
            return value
        found: list[int] = []
        for part in str(value).split(","):
            first, dash, last = part.strip().partition("-")
            if not first.isdecimal() or (dash and not (last.isdecimal() and int(first) <= int(last))):
                self.fail(f"{value!r} are no seeds; write 1,2,3 or 1-10", param, ctx)
            if int(last or first) - int(first) + len(found) >= _MOST_SEEDS:
                self.fail(f"{value!r} are too many seeds; {_MOST_SEEDS:,} are the most", param, ctx)
            found += range(int(first), int(last or first) + 1)
        return found


@click.command()
@click.option("--seeds", type=Seeds(), help="Which seeds: 1,2,3 or 1-10 (default: 1).")
@click.option("--only", multiple=True, help="This scenario only; may be given again.")
@click.option("--for", "for_s", type=Span(), help=f"How long each lasts, roughly (default: {_LASTS_S:.0f}s).")
@click.option("--store", type=click.Path(path_type=Path, file_okay=False), help="Keep the recordings here.")
@click.option("--recorded", type=click.Path(path_type=Path, file_okay=False), help="Judge recordings kept earlier.")
@click.option("--disposable-machine", is_flag=True, help="Run beside a kubelet or containers of others.")
@click.option("--scenarios", "folders", multiple=True, type=click.Path(path_type=Path), help="Folders of your own.")
@output_options
def score(
    seeds: list[int] | None,
    only: Sequence[str],
    for_s: float | None,
    store: Path | None,
    recorded: Path | None,
    disposable_machine: bool,
    folders: Sequence[Path],
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> None:
    """Play scenarios, ask `why`, and compare with the truth.

    `why` is asked twice: at once, while the recorder still writes (TO VERDICT: seconds from the symptom to the first
    answer that names a cause, or to the first of all), and again of the whole recording, which is what is judged
    (TOOK: how long that answer took). Exit code 1 when an answer is wrong or an incident did not show what it must, 3
    when this machine can play none of them.

    \b
    Examples:
      necroscope lab score --seeds 1,2,3 --only seeds-incident --store /tmp/runs
      necroscope lab score --recorded /tmp/runs
    """
    from necroscope.cli.lab.lab import progress_lines
    from necroscope.errors import Unavailable
    from necroscope.lab.catalogue import find, scenarios
    from necroscope.lab.neighbours import refuse_neighbours
    from necroscope.lab.scoring import score as scoring
    from necroscope.lab.scoring.marking import calibration
    from necroscope.lab.scoring.reliability import reliability

    left_out: list[scoring.LeftOut] = []
    if recorded is not None:
        played_only = {"--for": for_s, "--store": store, "--scenarios": folders}
        _refuse({**played_only, "--disposable-machine": disposable_machine})
        judgements = list(scoring.recorded(recorded, only, seeds))
    else:
        chosen = [find(name, folders) for name in only] or list(scenarios(folders).values())
        if not disposable_machine:
            refuse_neighbours()
        say = progress_lines(console(no_color, stderr=True), quiet)
        judgements = []
        for one in scoring.played(chosen, seeds or [1], store, for_s or _LASTS_S, say):
            if isinstance(one, scoring.LeftOut):
                left_out.append(one)
            else:
                judgements.append(one)
        if not judgements:
            raise Unavailable(f"none of them can be played here: {left_out[0].because}")
    if as_json:
        import json

        document = {
            "schema": "necroscope.lab.score/1",
            "runs": [asdict(one) for one in judgements],
            "calibration": calibration(judgements),
            "reliability": [asdict(one) for one in reliability(judgements)],
            "left_out": [asdict(one) for one in left_out],
        }
        click.echo(json.dumps(document, indent=2))
    elif not quiet:
        out = console(no_color)
        _table(out, judgements)
        for absent in left_out:
            out.print(f"left out: {absent.because}", highlight=False, markup=False)
    if any(one.bad for one in judgements):
        raise click.exceptions.Exit(1)


def _refuse(played_only: dict[str, object]) -> None:
    """Nothing is played with --recorded: options about playing would be ignored."""
    from necroscope.errors import BadInput

    if given := [name for name, value in played_only.items() if value]:
        what = " and ".join(given)
        raise BadInput(f"--recorded judges what was recorded, and {what} would be ignored.", f"leave out {what}")


def _table(out: Console, judgements: Sequence[Judgement]) -> None:
    from rich.table import Table
    from rich.text import Text

    from necroscope.lab.scoring.marking import calibration

    table = Table(box=None, pad_edge=False, collapse_padding=True)
    numbers = ("seed", "sure", "to verdict", "took")
    for heading in ("scenario", "seed", "happened", "verdict", "", "sure", "to verdict", "took"):
        table.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    for one in judgements:
        sure = f"{one.confidence:.2f}" if one.confidence is not None else ""
        happened, style = (
            "yes" if one.happened else "NO",
            {"right": "green", "wrong": "bold red"}.get(one.mark, "yellow"),
        )
        answered = f"{one.answered_s:.1f} s" if one.answered_s is not None else ""
        row = (one.scenario, str(one.seed), happened, one.verdict, Text(one.mark, style), sure, answered)
        table.add_row(*row, f"{one.seconds:.1f} s")
    out.print(table)
    for one in judgements:
        if one.because:
            out.print(Text(f"{one.scenario}, seed {one.seed}: {one.because}"), soft_wrap=True)
    out.print(calibration(judgements), highlight=False)
    _worth(out, judgements)


def _worth(out: Console, judgements: Sequence[Judgement]) -> None:
    """What the confidences were worth."""
    from rich.table import Table

    from necroscope.lab.scoring.reliability import reliability

    table = Table(box=None, pad_edge=False)
    for heading in ("confidence", "causes named", "mean confidence", "right", "as other scenarios tell"):
        table.add_column(heading, justify="right")
    for one in reliability(judgements):
        by_others = "" if one.by_others is None else f"{one.by_others:.2f}"
        shares = (f"{one.confidence:.2f}", f"{one.right:.2f}", by_others)
        table.add_row(f"{one.low:.2f}-{one.high:.2f}", str(one.runs), *shares)
    if table.row_count:
        out.print(table)
