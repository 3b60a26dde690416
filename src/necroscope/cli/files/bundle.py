"""`necroscope bundle`."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from necroscope.cli.shared.notes import say
from necroscope.cli.shared.options import Span, console, output_options
from necroscope.cli.shared.progress import progress
from necroscope.cli.shared.sources import store_options
from necroscope.cli.shared.times import Instant
from necroscope.errors import BadInput

if TYPE_CHECKING:
    from necroscope.cli.shared.windows import Wanted
    from necroscope.store.bundle.archive import Packed
    from necroscope.store.bundle.excerpt import Excerpt
    from necroscope.store.read.reader import Store
    from necroscope.vocabulary.event import Window

LAST_S, BEFORE_S, AFTER_S = 600.0, 300.0, 60.0


@dataclass(frozen=True, slots=True)
class Made:
    """A bundle that was written, the verb that reads it, what JSON says of it, and the lines for people."""

    packed: Packed
    reader: str
    details: dict[str, Any] = field(default_factory=dict)
    words: tuple[str, ...] = ()


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--now", is_flag=True, help="Capture this instant of this host instead; needs no recording.")
@click.option("--from", "from_ns", type=Instant(), help="From this time on: -10m, 14:03:07, ISO 8601.")
@click.option("--to", "to_ns", type=Instant(), help="Up to this time.")
@click.option("--at", "at_ns", type=Instant(), help="Around this time (see --before, --after).")
@click.option("--event", help="Around an event: its id (`necroscope events --json`), or a kind, for the last of it.")
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
    from necroscope.store.bundle.archive import pack
    from necroscope.store.bundle.excerpt import excerpt
    from necroscope.store.bundle.recording import MOST_BYTES, entries
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store
    from necroscope.store.redact.rows import Redactor

    opened = Store(to_read(folder))
    window, words = _chosen(opened, given)
    redactor = Redactor() if redact else None
    change = redactor or (lambda tables: tables)
    with _beside(file) as temporary, progress("packing", no_color, quiet) as told:
        made = again(lambda: excerpt(opened, window, Path(temporary) / "store", change, told, MOST_BYTES))
        say(made.notes)
        if not made.rows:
            raise _nothing(opened, words)
        packed = pack(entries(made, window, redactor), file)
    details = {"window": [iso(window[0]), iso(window[1])], "redacted": redact, "rows": made.rows, "notes": made.notes}
    return Made(packed, "events", details, (words, _contents(made, redact)))


def _beside(file: Path) -> tempfile.TemporaryDirectory[str]:
    """Where the bundle will be there must be room for it."""
    try:
        return tempfile.TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent)
    except OSError as error:
        raise BadInput(f"{file} cannot be written: {error.strerror}.", "name a file in a writable folder") from error


def _chosen(store: Store, given: dict[str, Any]) -> tuple[Window, str]:
    """The window, and in words what it is. Without any time: the last ten minutes of the recording."""
    from necroscope.cli.shared.windows import Wanted, chosen

    around = given["at_ns"] is not None or given["event"] is not None
    if around:
        given = {
            **given,
            "before_s": BEFORE_S if given["before_s"] is None else given["before_s"],
            "after_s": AFTER_S if given["after_s"] is None else given["after_s"],
        }
    wanted = Wanted(**given)
    last = all(value is None for value in given.values())
    select, words = chosen(store, wanted if around else _bounded(store, wanted))
    return select.window, f"{words}, the last of the recording" if last else words


def _bounded(store: Store, wanted: Wanted) -> Wanted:
    """Both ends of the window, also where there are no samples."""
    from necroscope.clock import NS

    if wanted.before_s is not None or wanted.after_s is not None or None not in (wanted.from_ns, wanted.to_ns):
        return wanted
    first_ns, last_ns = _extent(store)
    to_ns = max(last_ns, wanted.from_ns or 0) if wanted.to_ns is None else wanted.to_ns
    from_ns = wanted.from_ns
    if from_ns is None:
        from_ns = min(first_ns, to_ns) if wanted.to_ns is not None else max(first_ns, to_ns - round(LAST_S * NS) + 1)
    return replace(wanted, from_ns=from_ns, to_ns=to_ns)


def _extent(store: Store) -> Window:
    """Times of the first and the last row of the store."""
    from necroscope.query.extent import extent_of_all

    if (found := extent_of_all(store.snapshot())) is None:
        raise BadInput("The store is empty.", "record first (`necroscope record`), or take this instant with --now")
    return found


def _nothing(store: Store, words: str) -> BadInput:
    from necroscope.clock import iso

    first_ns, last_ns = _extent(store)
    return BadInput(f"The recording has nothing of {words}.", f"it goes from {iso(first_ns)} to {iso(last_ns)}")


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
