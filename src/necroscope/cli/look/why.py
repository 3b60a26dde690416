"""`necroscope why`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from necroscope.cli.shared.blindness import refuse_blank
from necroscope.cli.shared.completion import event_option
from necroscope.cli.shared.notes import heard
from necroscope.cli.shared.options import config_option, console, output_options
from necroscope.cli.shared.sources import store_options
from necroscope.cli.shared.times import RULE, Instant
from necroscope.errors import BadInput

if TYPE_CHECKING:
    from rich.console import Console

    from necroscope.diagnose.hypotheses import Catalogue
    from necroscope.explain.every import Every
    from necroscope.show.why.document import Version
    from necroscope.vocabulary.case import Case
    from necroscope.vocabulary.verdict import Verdict

_FOUND, _INCONCLUSIVE = 1, 3


_Found: TypeAlias = "Verdict | Every"


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked about: a moment, an event, every symptom, or a saved case; None of them: the latest symptom."""

    at_ns: int | None
    event: str | None
    every: bool
    case: Path | None

    def check(self) -> None:
        """That only one of them is asked."""
        if sum((self.at_ns is not None, self.event is not None, self.every, self.case is not None)) > 1:
            raise BadInput("--at, --event, --all and --case exclude each other.", "give one of them")


@dataclass(frozen=True, slots=True)
class _Keep:
    """Where the case is saved, if at all, and how."""

    path: Path | None
    redact: bool
    force: bool

    def check(self, asked: _Asked) -> None:
        """That there is one case to save, and room for it."""
        if self.path is None:
            if self.redact or self.force:
                raise BadInput("--redact and --force belong to --save-case.", "add --save-case FILE")
            return
        if asked.every or asked.case is not None:
            raise BadInput("--save-case keeps the case of one symptom of a recording.", "leave out --all and --case")
        if self.path.exists() and not self.force:
            raise BadInput(f"{self.path} exists.", "name another file, or add --force")

    def save(self, case: Case | None) -> None:
        """Save it, if that is asked."""
        if self.path is None:
            return
        from necroscope.store.redact.case import redacted
        from necroscope.vocabulary import case_file

        if case is None:
            raise BadInput("There is no symptom, and so no case to save.", "name a moment with --at")
        case_file.save(redacted(case) if self.redact else case, self.path)

    def tell(self) -> None:
        """Say on stderr what was saved, and how to read it."""
        if self.path is None:
            return
        from necroscope.quantity import size
        from necroscope.show.plain import plain

        name = plain(str(self.path))
        names = "are replaced" if self.redact else "are as recorded (--redact replaces them)"
        click.echo(f"{name}: {size(self.path.stat().st_size)}, names {names}", err=True)
        click.echo(f"read it with: necroscope why --case {shlex.quote(name)}", err=True)


@click.command(epilog=RULE)
@store_options
@click.option("--at", "at_ns", type=Instant(), help="The symptom nearest to this time; without one, the time itself.")
@event_option("This event: its id, as `necroscope events` prints it, or a kind (its latest occurrence).")
@click.option("--all", "every", is_flag=True, help="Every symptom, those of one cause together.")
@click.option(
    "--case",
    "case",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Judge a case that --save-case wrote, instead of a recording.",
)
@click.option(
    "--save-case",
    "save",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write what the verdict rests on into this file, for --case.",
)
@click.option("--redact", is_flag=True, help="With --save-case: replace names that identify.")
@click.option("--force", is_flag=True, help="With --save-case: replace the file if it exists.")
@click.option("--brief", is_flag=True, help="The answer and one line for each link: one screen.")
@click.option(
    "--mechanisms",
    "folder",
    envvar="NECROSCOPE_MECHANISMS",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder of your own mechanisms, after /etc/necroscope/mechanisms.d (default: $NECROSCOPE_MECHANISMS).",
)
@click.option(
    "--schema",
    type=click.Choice(["1", "2"]),
    help="With --json: the version of the document (default: 2); 1 is that of the release before.",
)
@config_option
@output_options
def why(
    store: Path | None,
    at_ns: int | None,
    event: str | None,
    every: bool,
    case: Path | None,
    save: Path | None,
    redact: bool,
    force: bool,
    brief: bool,
    folder: Path | None,
    schema: str | None,
    config_file: Path | None,
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> int:
    """Name the cause of a symptom, with its evidence, what was ruled out, and what to do.

    Without options: the latest symptom of the recording; where there is none, the longest time that a core was starved
    without anybody complaining. A cause is named only where the evidence is enough; how it is found is in
    docs/how-a-cause-is-found.md.

    Exit codes: 0 there was nothing to explain, 1 there was a symptom, explained or not, 2 bad usage or input, 3 it
    cannot be told whether there was one: the recording does not hold that time, its recorder could not see or keep what
    happened, or part of it cannot be read.

    \b
    Examples:
      necroscope why                               the latest symptom
      necroscope why --brief                       the same on one screen
      necroscope why --event nic-reset             the latest of this kind
      necroscope why --at 14:03:07                 what was wrong then
      necroscope why --all                         every symptom, by cause
      necroscope why --save-case c.case --redact   keep what the verdict rests on
      necroscope why --case c.case                 judge it again, on any machine
      necroscope why --bundle node7.ncb --json | jq .cause
    """
    asked = _Asked(at_ns, event, every, case)
    asked.check()
    keep = _Keep(save, redact, force)
    keep.check(asked)
    if brief and (as_json or every):
        raise BadInput("--brief tells people about one symptom.", "leave out --json and --all")
    if schema is not None and not as_json:
        raise BadInput("--schema is about the document of --json.", "add --json")
    known = _hypotheses(folder)
    out = console(no_color)
    with _thinking(no_color, quiet or as_json):
        found = _answered(asked, store, keep, config_file, known)
    if not quiet:
        heard(found.notes)
        if as_json:
            _print_json(found, 1 if schema == "1" else 2)
        else:
            _print(found, out, brief, known)
        keep.tell()
    return _exit_code(found)


def _exit_code(found: _Found) -> int:
    from necroscope.explain.every import Every

    if isinstance(found, Every):
        return _FOUND if found.groups else _INCONCLUSIVE if found.notes else 0
    if found.inconclusive:
        return _INCONCLUSIVE
    return 0 if found.verdict == "no-symptom" else _FOUND


def _hypotheses(folder: Path | None) -> Catalogue:
    """Those in force; what was left out is said on stderr."""
    from necroscope.explain.mechanism_files import DEFAULT, hypotheses_of
    from necroscope.show.plain import plain

    if folder is not None and not folder.is_dir():
        raise BadInput(f"{folder} is no folder.", "give --mechanisms a folder of TOML files")
    found = hypotheses_of((*DEFAULT, folder) if folder is not None else DEFAULT)
    for one in found.warnings:
        click.echo(f"necroscope: {plain(f'{one.where}: {one.message}')}\n  hint: {plain(one.hint)}", err=True)
    return found


def _answered(asked: _Asked, store: Path | None, keep: _Keep, config_file: Path | None, known: Catalogue) -> _Found:
    if asked.case is not None:
        return _of_case(asked.case, store, known)
    from necroscope import config
    from necroscope.explain import answer
    from necroscope.explain.every import every_symptom
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store

    opened, settings = Store(to_read(store)), config.load(config_file)
    refuse_blank(opened)
    if asked.every:
        return every_symptom(opened, settings, known)
    found = answer(opened, settings, at_ns=asked.at_ns, event=asked.event, known=known)
    keep.save(found.case)
    return found.verdict


def _of_case(path: Path, store: Path | None, known: Catalogue) -> Verdict:
    from necroscope.diagnose.judge import judge
    from necroscope.vocabulary import case_file

    if store is not None:
        raise BadInput("--case has all that is judged, and no recording.", "leave out --store and --bundle")
    return judge(case_file.load(path), known)


@contextmanager
def _thinking(no_color: bool, silent: bool) -> Iterator[None]:
    """A sign of life on stderr, for those who can see it."""
    if silent or not sys.stderr.isatty():
        yield
        return
    with console(no_color, stderr=True).status("looking for the cause"):
        yield


def _print_json(found: _Found, version: Version) -> None:
    import json

    from necroscope.explain.every import Every
    from necroscope.show.why.document import why_all_document, why_document

    if isinstance(found, Every):
        document = why_all_document(found.groups, found.notes, version)
    else:
        document = why_document(found, version)
    click.echo(json.dumps(document, indent=2))


def _print(found: _Found, out: Console, brief: bool, known: Catalogue) -> None:
    if out.is_terminal:
        _tell(found, out, brief, known)
        return
    with out.capture() as captured:
        _tell(found, out, brief, known)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())


def _tell(found: _Found, out: Console, brief: bool, catalogue: Catalogue) -> None:
    from necroscope.explain.every import Every
    from necroscope.show.why.answer import Known
    from necroscope.show.why.brief import print_brief
    from necroscope.show.why.groups import print_groups
    from necroscope.show.why.story import print_story

    known = Known(catalogue.titles, catalogue.roles)
    if isinstance(found, Every):
        print_groups(found.groups, out, known, found.notes)
    elif brief:
        print_brief(found, out, known)
    else:
        print_story(found, out, known)
