"""`necroscope why`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from necroscope.cli.blindness import refuse_blank
from necroscope.cli.notes import heard
from necroscope.cli.options import config_option, console, output_options
from necroscope.cli.sources import store_options
from necroscope.cli.times import Instant
from necroscope.errors import BadInput

if TYPE_CHECKING:
    from rich.console import Console

    from necroscope.diagnose.mechanisms import Mechanism
    from necroscope.verdict import Group, Verdict

_FOUND, _INCONCLUSIVE = 1, 3


@dataclass(frozen=True, slots=True)
class _Every:
    """The answer to --all, and what of the recording could not be read."""

    groups: tuple[Group, ...]
    notes: tuple[str, ...]


_Found: TypeAlias = "Verdict | _Every"


@click.command()
@store_options
@click.option("--at", "at_ns", type=Instant(), help="The symptom nearest to this time; without one, the time itself.")
@click.option("--event", help="This event: its id (`necroscope events --json`), or a kind, for the last of it.")
@click.option("--all", "every", is_flag=True, help="Every symptom, those of one cause together.")
@click.option(
    "--mechanisms",
    "folder",
    envvar="NECROSCOPE_MECHANISMS",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder of your own mechanisms, after /etc/necroscope/mechanisms.d (default: $NECROSCOPE_MECHANISMS).",
)
@config_option
@output_options
def why(
    store: Path | None,
    at_ns: int | None,
    event: str | None,
    every: bool,
    folder: Path | None,
    config_file: Path | None,
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> int:
    """Name the cause of a symptom, with its evidence, the rivals it beat, and what to do.

    Without options: the latest symptom of the recording; where there is none, the longest time that a core was taken
    without anybody complaining. A cause is named only where the evidence carries it; how it is found is in
    docs/how-a-cause-is-found.md.

    Exit codes: 0 there was nothing to explain, 1 there was a symptom, explained or not, 2 bad usage or input, 3 it
    cannot be told whether there was one: the recording does not hold that time, its recorder could not see or keep what
    happened, or part of it cannot be read.

    \b
    Examples:
      necroscope why                               the latest symptom
      necroscope why --event nic-reset             the latest of this kind
      necroscope why --at 14:03:07                 what was wrong then
      necroscope why --all                         every symptom, by cause
      necroscope why --bundle node7.ncb --json | jq .cause
    """
    if sum((at_ns is not None, event is not None, every)) > 1:
        raise BadInput("--at, --event and --all exclude each other.", "give one of them")
    known = _mechanisms(folder)
    out = console(no_color)
    with _thinking(no_color, quiet or as_json):
        found = _asked(store, config_file, at_ns, event, every, known)
    if not quiet:
        heard(found.notes)
        _print(found, out, as_json, known)
    return _exit_code(found)


def _exit_code(found: _Found) -> int:
    if isinstance(found, _Every):
        return _FOUND if found.groups else _INCONCLUSIVE if found.notes else 0
    if found.inconclusive:
        return _INCONCLUSIVE
    return 0 if found.verdict == "no-symptom" else _FOUND


def _mechanisms(folder: Path | None) -> tuple[Mechanism, ...]:
    """Those in force; what was left out is said on stderr."""
    from necroscope.diagnose.mechanisms import DEFAULT, catalogue
    from necroscope.show.plain import plain

    if folder is not None and not folder.is_dir():
        raise BadInput(f"{folder} is no folder.", "give --mechanisms a folder of TOML files")
    found = catalogue((*DEFAULT, folder) if folder is not None else DEFAULT)
    for one in found.warnings:
        click.echo(f"necroscope: {plain(f'{one.where}: {one.message}')}\n  hint: {plain(one.hint)}", err=True)
    return found.mechanisms


def _asked(
    store: Path | None,
    config_file: Path | None,
    at_ns: int | None,
    event: str | None,
    every: bool,
    known: tuple[Mechanism, ...],
) -> _Found:
    from necroscope import config
    from necroscope.diagnose.why import explain, explain_all
    from necroscope.store.place import to_read
    from necroscope.store.reader import Store

    opened, settings = Store(to_read(store)), config.load(config_file)
    refuse_blank(opened)
    if every:
        notes: list[str] = []
        groups = explain_all(opened, settings, known=known, notes=notes)
        if not groups and not notes and (whole := explain(opened, settings, known=known)).inconclusive:
            notes += [f"not known: {one.what}" for one in whole.missing]
        return _Every(groups, tuple(notes))
    return explain(opened, settings, at_ns=at_ns, event=event, known=known)


@contextmanager
def _thinking(no_color: bool, silent: bool) -> Iterator[None]:
    """A sign of life on stderr, for those who can see it."""
    if silent or not sys.stderr.isatty():
        yield
        return
    with console(no_color, stderr=True).status("looking for the cause"):
        yield


def _print(found: _Found, out: Console, as_json: bool, known: tuple[Mechanism, ...]) -> None:
    if as_json:
        import json

        from necroscope.show.why_json import why_all_document, why_document

        document: dict[str, Any] = (
            why_all_document(found.groups, found.notes) if isinstance(found, _Every) else why_document(found)
        )
        click.echo(json.dumps(document, indent=2))
        return
    if out.is_terminal:
        _tell(found, out, known)
        return
    with out.capture() as captured:
        _tell(found, out, known)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())


def _tell(found: _Found, out: Console, known: tuple[Mechanism, ...]) -> None:
    from necroscope.show.story import print_story
    from necroscope.show.story_groups import print_groups

    titles = {one.id: one.title for one in known}
    if isinstance(found, _Every):
        print_groups(found.groups, out, titles, found.notes)
    else:
        print_story(found, out, titles, frozenset(one.id for one in known if one.role == "walker"))
