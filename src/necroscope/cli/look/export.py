"""`necroscope export`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

import click

from necroscope.cli.shared.notes import say
from necroscope.cli.shared.progress import progress
from necroscope.cli.shared.sources import store_options
from necroscope.cli.shared.times import RULE
from necroscope.cli.shared.windows import window_options
from necroscope.errors import BadInput, NecroscopeError
from necroscope.query.select import Wanted
from necroscope.show.export.formats import FORMATS, Format

if TYPE_CHECKING:
    from necroscope.query.samples.chunks import OnProgress
    from necroscope.query.select import Select
    from necroscope.show.export.source import Source
    from necroscope.store.read.reader import Store

_TRIES = 3


@click.command(epilog=RULE)
@click.option("--format", "name", type=click.Choice(list(FORMATS)), required=True, help="What to write.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, allow_dash=True, dir_okay=False), required=True,
    help="File to write, replaced if it exists; - is standard output.",
)  # fmt: skip
@store_options
@window_options
@click.option("--idle", is_flag=True, help="With the samples of idle cores, which are left out otherwise.")
@click.option("-q", "--quiet", is_flag=True, help="Do not tell what was exported.")
@click.option("--no-color", is_flag=True, help="Neither colours nor bold (NO_COLOR is honoured too).")
def export(
    name: str, output: Path, store: Path | None, wanted: Wanted, idle: bool, quiet: bool, no_color: bool
) -> None:
    """Write the profile of a window for other tools (docs/exporting.md).

    \b
    folded      flamegraph.pl, inferno and whatever else draws flame graphs
    speedscope  https://www.speedscope.app: a timeline of each thread, and all of them summed
    pprof       go tool pprof, Pyroscope, Parca, Perfetto
    otlp        OpenTelemetry's profiles signal (v1development); otlp-json: the same as JSON
    parquet     a row for each sample, with its frames: pandas, DuckDB, Polars, Spark

    Without a time it is the last minute that was recorded; what was exported is told on stderr. pprof and otlp need
    `pip install 'necroscope[export]'`.

    \b
    Examples:
      necroscope export --format speedscope -o node7.speedscope.json --from -5m
      necroscope export --format pprof -o reset.pb.gz --event nic-reset --before 5s --after 0s
      necroscope export --format folded -o - --cpu 33 | flamegraph.pl > core33.svg
      necroscope export --format parquet -o agent.parquet --process node-agent --from 14:00 --to 15:00
    """
    from necroscope.query.window_choice import chosen
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store

    form = FORMATS[name]
    if str(output) == "-" and not form.text and sys.stdout.isatty():
        raise BadInput(f"{name} is not for a terminal.", "give -o FILE, or pipe it somewhere")
    opened = Store(to_read(store))
    select, words = chosen(opened, wanted)
    with progress("exporting", no_color, quiet) as on_progress, _file(output) as file:
        source, notes = _written(opened, select, form, idle, file, on_progress, _resource(store))
        say(notes)
        if not source.samples:
            raise _nothing(opened, source, words, notes)
    if not quiet:
        _tell(source, words, name)


def _resource(store: Path | None) -> dict[str, str]:
    """What the samples are of: this host, where its own recording is read; the one that a bundle names; else nobody."""
    from necroscope.sense.host import Host
    from necroscope.sense.inventory import identify
    from necroscope.show.export.resource import resource
    from necroscope.store.bundle.recording import packed_on

    if store is None:
        here = identify(Host())
        return resource(here.name, here.kernel, os.uname().machine, os.environ)
    return resource(*packed_on(store), "", os.environ)


def _written(
    store: Store,
    select: Select,
    form: Format,
    idle: bool,
    file: BinaryIO,
    on_progress: OnProgress,
    resource: dict[str, str],
) -> tuple[Source, list[str]]:
    """Write it; from the beginning again when files were merged away meanwhile. Also what could not be read."""
    from necroscope.query.samples.chunks import chunks
    from necroscope.query.samples.event_kinds import narrowed
    from necroscope.show.export.source import Source

    for _ in range(_TRIES):
        file.seek(0)
        file.truncate()
        snapshot = store.snapshot(select.window)
        notes = [f"{note}; what came before it is exported" for note in snapshot.notes]
        try:
            one = narrowed(snapshot, select, notes)
            source = Source(one, chunks(snapshot, one, on_progress, notes=notes), idle, resource)
            form.write(source, file)
        except FileNotFoundError:
            continue
        return source, notes
    raise BadInput("The store changes faster than it can be read.", "ask for a shorter window")


@contextmanager
def _file(output: Path) -> Iterator[BinaryIO]:
    """A file that becomes the output when all went well; nothing half-written is left behind."""
    if str(output) == "-" or (output.exists() and not output.is_file()):
        with tempfile.TemporaryFile() as file:
            yield file
            file.seek(0)
            _copy(file, output)
        return
    temporary = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        with _opened(temporary, output, "xb") as beside:
            yield beside
        temporary.replace(output)
    finally:
        with suppress(OSError):
            temporary.unlink()


def _copy(file: BinaryIO, output: Path) -> None:
    if str(output) == "-":
        shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    with _opened(output, output) as target:
        shutil.copyfileobj(file, target)


def _opened(path: Path, output: Path, mode: Literal["wb", "xb"] = "wb") -> BinaryIO:
    try:
        return path.open(mode)
    except OSError as error:
        raise BadInput(f"{output} cannot be written: {error.strerror}.", "give another -o FILE") from error


def _nothing(store: Store, source: Source, words: str, notes: list[str]) -> NecroscopeError:
    if source.idle:
        return BadInput(f"All samples of {words} are of idle cores.", "--idle exports them")
    from necroscope.query.samples.no_samples import no_samples

    return no_samples(store, words, source.select, notes)


def _tell(source: Source, words: str, name: str) -> None:
    from necroscope.quantity import plural
    from necroscope.show.plain import plain

    click.echo(f"{name}: {plural(source.samples, 'sample')} of {plain(words)}", err=True)
    if source.idle:
        click.echo(f"  left out: {plural(source.idle, 'sample')} of idle cores (--idle exports them)", err=True)
    if source.cut:
        click.echo(f"  {plural(source.cut, 'sample')} of rare stacks lost their innermost frames", err=True)
