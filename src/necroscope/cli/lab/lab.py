"""`necroscope lab`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.lab.score import score
from necroscope.cli.shared.options import Span, console, output_options

if TYPE_CHECKING:
    from rich.console import Console

    from necroscope.lab.runner import Outcome
    from necroscope.lab.scenario import Scenario

_FOLDERS = click.option(
    "--scenarios",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder with scenarios of your own (also: $NECROSCOPE_SCENARIOS, /etc/necroscope/scenarios).",
)


@click.group()
def lab() -> None:
    """Incidents made for real on this kernel, recorded, with their truth written down.

    \b
    Examples:
      necroscope lab list
      necroscope lab run seeds-incident --seed 3 --store /tmp/incident
      necroscope lab clean
    """


@lab.command("list")
@_FOLDERS
@output_options
def list_(folders: Sequence[Path], as_json: bool, no_color: bool, quiet: bool) -> None:
    """The scenarios, and whether this machine can play them.

    \b
    Example:
      necroscope lab list --json
    """
    from necroscope.lab.catalogue import scenarios
    from necroscope.lab.runner import missing

    found = [(scenario, missing(scenario)) for scenario in scenarios(folders).values()]
    if as_json:
        _write({"schema": "necroscope.lab.list/1", "scenarios": [_described(*one) for one in found]})
    elif not quiet:
        _table(console(no_color), found)


@lab.command()
@click.argument("name")
@_FOLDERS
@output_options
def describe(name: str, folders: Sequence[Path], as_json: bool, no_color: bool, quiet: bool) -> None:
    """What a scenario does, its truth, what it needs and what it must show.

    \b
    Example:
      necroscope lab describe seeds-incident
    """
    from necroscope.lab.catalogue import find
    from necroscope.lab.runner import missing

    scenario = find(name, folders)
    lacking = missing(scenario)
    if as_json:
        _write({"schema": "necroscope.lab.scenario/1", **_described(scenario, lacking)})
    elif not quiet:
        out = console(no_color)
        for line in _lines(scenario, lacking):
            out.print(line, soft_wrap=True, markup=False)


@lab.command()
@click.argument("name")
@click.option("--seed", type=int, default=1, show_default=True, help="Names, core, delays, magnitudes come from it.")
@click.option("--for", "for_s", type=Span(), default="45s", show_default=True, help="How long it lasts, roughly.")
@click.option("--store", type=click.Path(path_type=Path, file_okay=False), help="Keep recording and truth here.")
@click.option("--disposable-machine", is_flag=True, help="Run beside a kubelet or containers of others.")
@click.option("--beside", is_flag=True, help="Do not wait for another run; they will disturb each other.")
@_FOLDERS
@output_options
def run(
    name: str,
    seed: int,
    for_s: float,
    store: Path | None,
    disposable_machine: bool,
    beside: bool,
    folders: Sequence[Path],
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> None:
    """Play a scenario under a recorder; leave the recording (STORE/store) and the truth (STORE/truth.json).

    Everything else that was made is removed, also after Ctrl-C; after kill -9 by the next run or `lab clean`. Exit
    code: 0 it happened, 1 it did not show what it must, 3 this machine cannot play it.

    \b
    Example:
      necroscope lab run seeds-incident --seed 3 --store /tmp/incident
    """
    from necroscope.lab.catalogue import find
    from necroscope.lab.neighbours import refuse_neighbours
    from necroscope.lab.runner import run as play

    scenario = find(name, folders)
    if not disposable_machine:
        refuse_neighbours()
    say = progress_lines(console(no_color, stderr=True), quiet or as_json)
    with _folder(store, f"necroscope-{name}-{seed}-") as folder:
        outcome = play(scenario, seed, folder, for_s, say, beside)
    if as_json:
        _write({"schema": "necroscope.lab.run/1", "happened": outcome.happened, "folder": str(folder), **_run(outcome)})
    elif not quiet:
        _report(console(no_color), outcome)
    if not outcome.happened:
        raise click.exceptions.Exit(1)


@lab.command()
@output_options
def clean(as_json: bool, no_color: bool, quiet: bool) -> None:
    """Remove what killed runs left behind.

    \b
    Example:
      necroscope lab clean
    """
    import os

    from necroscope.errors import NecroscopeError
    from necroscope.lab.runner import clean_abandoned
    from necroscope.quantity import plural

    count, left = clean_abandoned()
    if left:
        raise NecroscopeError(f"still there: {', '.join(left)}", "run it again, as root")
    if as_json:
        _write({"schema": "necroscope.lab.clean/1", "runs": count})
    elif not quiet:
        here = "" if os.geteuid() == 0 else " by runs of yours; those of root are root's to clean"
        click.echo(f"cleaned up after {plural(count, 'run')}" if count else f"nothing was left behind{here}")


lab.add_command(score)


@contextmanager
def _folder(store: Path | None, prefix: str) -> Iterator[Path]:
    """Where a run is kept: a folder that was asked for, or one of its own, which goes when nothing comes of it."""
    import shutil
    import tempfile

    made = None if store is not None else Path(tempfile.mkdtemp(prefix=prefix))
    try:
        yield store or made or Path()
    except BaseException:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        raise


# -- words ------------------------------------------------------------------------------------------------


def _described(scenario: Scenario, lacking: list[str]) -> dict[str, object]:
    subject = {"kind": scenario.subject, "name": None} if scenario.subject else None
    truth = {"cause": scenario.cause, "subject": subject, "verdict": scenario.right, "innocent": scenario.innocent}
    shows = [
        {"text": show.text, "at_least": _bound(show.at_least), "at_most": _bound(show.at_most), "unit": show.unit}
        for show in scenario.shows
    ]
    return {
        "name": scenario.name,
        "summary": scenario.summary,
        "truth": truth,
        "needs": [need.name for need in scenario.needs],
        "missing": lacking,
        "shows": shows,
    }


def _bound(value: float) -> float | None:
    return value if abs(value) != float("inf") else None


def _lines(scenario: Scenario, lacking: list[str]) -> list[str]:
    shows = [f"  - {show.text}: {_range(show.at_least, show.at_most)} {show.unit}".rstrip() for show in scenario.shows]
    return [
        f"{scenario.name}: {scenario.summary}",
        f"cause: {scenario.cause or 'none: a healthy control'}; the right verdict is {scenario.right}",
        *([f"to act on: a {scenario.subject}"] if scenario.subject else []),
        *(["who is on the starved core is innocent"] if scenario.innocent else []),
        f"needs: {', '.join(need.name for need in scenario.needs) or 'nothing special'}",
        *([f"cannot be played here without {'; '.join(lacking)}"] if lacking else []),
        *(["must show:", *shows] if shows else []),
    ]


def _range(least: float, most: float) -> str:
    if abs(most) == float("inf"):
        return f"at least {least:g}"
    return f"at most {most:g}" if abs(least) == float("inf") else f"{least:g} to {most:g}"


def _table(out: Console, found: list[tuple[Scenario, list[str]]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("scenario", "cause", "here", "what happens"):
        table.add_column(heading, no_wrap=heading != "what happens")
    for scenario, lacking in found:
        here = "no" if lacking else "yes"
        table.add_row(scenario.name, scenario.cause or "healthy", here, Text(scenario.summary))
    out.print(table)


def progress_lines(out: Console, quiet: bool) -> Callable[[str], None]:
    """Says how it goes, with the seconds since the beginning."""
    from rich.text import Text

    from necroscope import clock

    began_s = clock.elapsed_s()

    def say(text: str) -> None:
        if not quiet:
            out.print(Text(f"{clock.elapsed_s() - began_s:5.1f} s  {text}"), soft_wrap=True)

    return say


def _run(outcome: Outcome) -> dict[str, object]:
    return {"seconds": round(outcome.seconds, 1), "truth": outcome.truth}


def _report(out: Console, outcome: Outcome) -> None:
    truth = outcome.truth
    subject = truth["subject"]
    out.print(f"{outcome.scenario}, seed {outcome.seed}: {'happened' if outcome.happened else 'DID NOT HAPPEN'}")
    for one in outcome.shown:
        value = "not measured" if one.value is None else f"{one.value:g} {one.unit}"
        out.print(f"  {'yes' if one.ok else 'NO '} {one.text}: {value}", markup=False)
    if subject:
        out.print(
            f"  truth: {truth['cause']} by {subject['kind']} {subject['name']} on CPU {truth['cpu']}", markup=False
        )
    out.print(f"  recording: {outcome.store}/store; truth: {outcome.store}/truth.json", soft_wrap=True, markup=False)


def _write(document: dict[str, object]) -> None:
    import json

    click.echo(json.dumps(document, indent=2))
