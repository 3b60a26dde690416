"""`necroscope validate`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.shared.blindness import refuse_blank
from necroscope.cli.shared.notes import heard
from necroscope.cli.shared.options import Span, config_option, console, output_options
from necroscope.cli.shared.sources import store_options
from necroscope.errors import BadInput

if TYPE_CHECKING:
    from necroscope.store.read.reader import Store
    from necroscope.vocabulary.conclusions.validation import Change, Validation

_DEFAULT_S, _SHORTEST_S = 600.0, 1.0
_CODES = {"pass": 0, "fail": 1, "inconclusive": 3}


@click.command()
@store_options
@click.option("--for", "for_s", type=Span(), default=_DEFAULT_S, show_default="10m", help="How long on either side.")
@click.option("--change", help="What is judged: a time, or a mark by id, kind or words (default: the latest change).")
@click.option("--no-wait", is_flag=True, help="Judge what is recorded so far.")
@config_option
@output_options
def validate(
    store: Path | None,
    for_s: float,
    change: str | None,
    no_wait: bool,
    config_file: Path | None,
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> int:
    """Did it help? Before and after a change, measured by the same facts as `why`.

    Three answers: have growth and restarts stopped; are symptoms and starved cores gone; what is left, and when will it
    matter. A symptom that is gone while its cause goes on is a failure. The change is any intervention: that of a mark
    (`necroscope mark --kind change "huge pages off"`), or a time; without one, the latest mark of kind change, fix,
    deploy, rollback or reboot, else now. While the recorder runs, it waits until the time has passed.

    Exit codes: 0 all three pass, 1 one of them fails, 2 bad usage or input, 3 one of them cannot be told.

    \b
    Examples:
      necroscope validate                          ten minutes after the latest change
      necroscope validate --for 15s --change -20s
      necroscope validate --change "huge pages"    the mark with these words
      necroscope validate --bundle node7.ncb --change 14:03:07 --for 2m
    """
    from necroscope import config
    from necroscope.explain.validate import validate as validated
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store

    if for_s < _SHORTEST_S:
        raise BadInput("--for is too short: nothing comes and goes in less than a second.", "give --for 10m")
    opened, settings = Store(to_read(store)), config.load(config_file)
    refuse_blank(opened)
    asked = _change(opened, change)
    if not no_wait:
        _wait(opened, asked, for_s, no_color, quiet or as_json)
    found = validated(opened, asked, for_s, settings)
    if not quiet:
        heard(found.notes)
        _print(found, as_json, no_color)
    return _CODES[found.outcome]


def _change(store: Store, given: str | None) -> Change:
    """The change: a mark comes before a time, as ids of events look like epochs."""
    from datetime import UTC, datetime

    from necroscope.cli.shared.times import nanoseconds, parse_instant
    from necroscope.query.sealed import again
    from necroscope.query.validation.windows import change_of, latest_change
    from necroscope.vocabulary.conclusions.validation import Change

    now = datetime.now(UTC)
    if given is None:
        return again(lambda: latest_change(store.snapshot())) or Change(nanoseconds(now), "none was marked: now,")
    if (found := again(lambda: change_of(store.snapshot(), given))) is not None:
        return found
    try:
        return Change(parse_instant(given.strip(), now), "")
    except (ValueError, OverflowError, OSError) as error:
        hint = "write -5m, 14:03:07, ISO 8601, or the id, kind or words of a mark (`necroscope events --kind change`)"
        raise BadInput(f"{given!r} is neither a mark nor a time.", hint) from error


def _wait(store: Store, change: Change, for_s: float, no_color: bool, silent: bool) -> None:
    """Until the time after the change was looked at, as long as a recorder writes the store."""
    from necroscope import clock
    from necroscope.clock import NS
    from necroscope.query.sealed import again
    from necroscope.query.validation.windows import PATIENCE_NS, seen_until
    from necroscope.store.lock import is_held

    ends_ns = change.at_ns + round(for_s * NS)
    with _Waiting.shown(no_color, silent) as waiting:
        while is_held(store.folder) and clock.now().realtime_ns < ends_ns + PATIENCE_NS:
            seen_ns = again(lambda: seen_until(store))
            if seen_ns >= ends_ns:
                break
            waiting.tell(change, seen_ns, for_s)
            left_s = (ends_ns - clock.now().realtime_ns) / NS
            clock.sleep(min(max(left_s, 1.0), max(1.0, for_s / 60)))


@dataclass(frozen=True)
class _Waiting:
    """The progress of waiting, for those who can see it."""

    bar: object | None
    task: object = None

    @staticmethod
    @contextmanager
    def shown(no_color: bool, silent: bool) -> Iterator[_Waiting]:
        """Around the waiting."""
        if silent or not sys.stderr.isatty():
            yield _Waiting(None)
            return
        from rich.progress import Progress

        with Progress(console=console(no_color, stderr=True), transient=True) as bar:
            yield _Waiting(bar, bar.add_task("waiting for the time after the change", total=1.0))

    def tell(self, change: Change, seen_ns: int, for_s: float) -> None:
        """How much of the time was looked at."""
        if self.bar is None:
            return
        done = max(0.0, (seen_ns - change.at_ns) / 1e9)
        words = f"measured {min(done, for_s):.0f} of {for_s:.0f} s after the change"
        self.bar.update(self.task, completed=min(1.0, done / for_s), description=words)  # type: ignore[attr-defined]


def _print(found: Validation, as_json: bool, no_color: bool) -> None:
    import json

    from necroscope.cli.shared.reports import write_text
    from necroscope.show.validate.document import validate_document
    from necroscope.show.validate.text import print_validation

    if as_json:
        click.echo(json.dumps(validate_document(found), indent=2))
    else:
        write_text(console(no_color), lambda out: print_validation(found, out))
