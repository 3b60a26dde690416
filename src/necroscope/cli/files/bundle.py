"""`necroscope bundle`."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from necroscope.cli.shared.completion import event_option
from necroscope.cli.shared.notes import say
from necroscope.cli.shared.options import Span, console, output_options
from necroscope.cli.shared.progress import progress
from necroscope.cli.shared.sources import store_options
from necroscope.cli.shared.times import RULE, Instant
from necroscope.errors import BadInput

if TYPE_CHECKING:
    from necroscope.query.select import Wanted
    from necroscope.store.bundle.archive import Packed
    from necroscope.store.bundle.excerpt import Excerpt

BEFORE_S, AFTER_S = 300.0, 60.0


@dataclass(frozen=True, slots=True)
class Made:
    """A bundle that was written, the verb that reads it, what JSON says of it, and the lines for people."""

    packed: Packed
    reader: str
    details: dict[str, Any] = field(default_factory=dict)
    words: tuple[str, ...] = ()


@click.command(epilog=RULE)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--now", is_flag=True, help="Capture this instant of this host instead; needs no recording.")
@click.option("--from", "from_ns", type=Instant(), help="From this time on: -10m, 14:03:07, ISO 8601.")
@click.option("--to", "to_ns", type=Instant(), help="Up to this time.")
@click.option("--at", "at_ns", type=Instant(), help="Around this time (see --before, --after).")
@event_option("Around an event: its id, as `necroscope events` prints it, or a kind (its latest occurrence).")
@click.option("--before", "before_s", type=Span(), help="With --at or --event: so long before (5m).")
@click.option("--after", "after_s", type=Span(), help="With --at or --event: so long after (1m).")
@click.option("--redact", is_flag=True, help="Replace the names of hosts, processes, units, functions and files.")
@store_options
@click.option("--with-arguments", is_flag=True, help="With --now: the command lines too; they may hold secrets.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@output_options
def bundle(
    file: Path,
    now: bool,
    store: Path | None,
    redact: bool,
    with_arguments: bool,
    force: bool,
    as_json: bool,
    no_color: bool,
    quiet: bool,
    **window: Any,
) -> None:
    """Put a window of the recording, or this instant, into one FILE, for a ticket or a colleague.

    Of the recording it takes everything in the window: the profile, signals, events, zombies, units, processes; the
    last ten minutes unless a window is given. Every verb that reads a recording reads it with --bundle FILE, on
    any machine. With --redact, names that identify are replaced by neutral ones, the same for the same name;
    kernel functions, symptoms, numbers and times stay (docs/bundles.md).

    With --now it takes an allow-list of kernel files, the names of the zombies, units and containers, and the kernel
    log, for `necroscope scan --bundle FILE`. No environment; no command-line arguments unless asked for. The last log
    lines of failing units and the kernel log are in it: look before you share.

    \b
    Examples:
      necroscope bundle incident.ncb --event nic-reset
      necroscope bundle incident.ncb --from 14:00 --to 14:10 --redact
      necroscope flame --bundle incident.ncb --event nic-reset --before 5s --after 0s
      necroscope bundle --now node7.ncb
      necroscope scan --bundle node7.ncb
    """
    if file.exists() and not force:
        raise click.UsageError(f"{file} exists; name another file, or add --force")
    quiet_bar = quiet or as_json
    if now:
        if redact or store or any(value is not None for value in window.values()):
            raise click.UsageError("--now takes this instant of this host: it has no window, no store and no --redact")
        made = Made(_instant(file, with_arguments, no_color, quiet_bar), "scan")
    else:
        if with_arguments:
            raise click.UsageError("--with-arguments needs --now; recordings have no command lines")
        made = _window(file, store, window, redact, no_color, quiet_bar)
    if not quiet:
        _tell(made, as_json)


def _instant(file: Path, with_arguments: bool, no_color: bool, quiet: bool) -> Packed:
    from necroscope.sense.host import Host
    from necroscope.store.bundle.archive import pack
    from necroscope.store.bundle.capture import capture

    out = console(no_color, stderr=True)
    with out.status("capturing this host") if out.is_terminal and not quiet else nullcontext():
        return pack(capture(Host(), with_arguments), file)


def _window(file: Path, folder: Path | None, given: dict[str, Any], redact: bool, no_color: bool, quiet: bool) -> Made:
    from necroscope.clock import iso
    from necroscope.query.sealed import again
    from necroscope.query.select import Wanted
    from necroscope.query.window_choice import bundle_window, nothing_there
    from necroscope.store.bundle.archive import pack
    from necroscope.store.bundle.excerpt import excerpt
    from necroscope.store.bundle.recording import MOST_BYTES, entries
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store
    from necroscope.store.redact.rows import Redactor

    opened = Store(to_read(folder))
    window, words = bundle_window(opened, _with_usual_lengths(Wanted(**given)))
    redactor = Redactor() if redact else None
    change = redactor or (lambda tables: tables)
    with _beside(file) as temporary, progress("packing", no_color, quiet) as on_progress:
        made = again(lambda: excerpt(opened, window, Path(temporary) / "store", change, on_progress, MOST_BYTES))
        say(made.notes)
        if not made.rows:
            raise nothing_there(opened, words)
        packed = pack(entries(made, window, redactor), file)
    details = {"window": [iso(window[0]), iso(window[1])], "redacted": redact, "rows": made.rows, "notes": made.notes}
    return Made(packed, "events", details, (words, _contents(made, redact)))


def _beside(file: Path) -> tempfile.TemporaryDirectory[str]:
    """Where the bundle will be there must be room for it."""
    try:
        return tempfile.TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent)
    except OSError as error:
        raise BadInput(f"{file} cannot be written: {error.strerror}.", "name a file in a writable folder") from error


def _with_usual_lengths(wanted: Wanted) -> Wanted:
    """A bundle takes more around an instant than what is looked at: what led to it, and what is normal."""
    if wanted.at_ns is None and wanted.event is None:
        return wanted
    before_s = BEFORE_S if wanted.before_s is None else wanted.before_s
    return replace(wanted, before_s=before_s, after_s=AFTER_S if wanted.after_s is None else wanted.after_s)


def _contents(made: Excerpt, redact: bool) -> str:
    from necroscope.quantity import plural

    counts = f"{plural(made.rows.get('samples', 0), 'sample')}, {plural(made.rows.get('events', 0), 'event')}"
    return f"{counts}; names {'are replaced' if redact else 'are as recorded (--redact replaces them)'}"


def _tell(made: Made, as_json: bool) -> None:
    import json

    from necroscope.quantity import plural, size
    from necroscope.show.plain import plain

    packed = made.packed
    if as_json:
        document = {"file": str(packed.path), "files": packed.files, "bytes": packed.bytes, **made.details}
        click.echo(json.dumps({"schema": "necroscope.bundled/1", **document}))
        return
    name = plain(str(packed.path))
    click.echo(f"{name}: {plural(packed.files, 'file')}, {size(packed.bytes)}")
    for line in made.words:
        click.echo(plain(line))
    click.echo(f"read it with: necroscope {made.reader} --bundle {name}")
