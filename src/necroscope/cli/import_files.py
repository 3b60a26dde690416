"""`necroscope import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.options import console

if TYPE_CHECKING:
    from rich.console import Console

    from necroscope.store.writer import Writer


@click.command(name="import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--store", type=click.Path(path_type=Path, file_okay=False), help="Folder to import into.")
@click.option(
    "--kallsyms", type=click.Path(path_type=Path, dir_okay=False), help="Kernel symbols of the recorded node."
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing.")
@click.option("--no-color", is_flag=True, help="No colours.")
def import_files(
    files: tuple[Path, ...], store: Path | None, kallsyms: Path | None, quiet: bool, no_color: bool
) -> None:
    """Import recordings of `perf record` (perf.data, also `perf record -o -`) into a store.

    Kernel frames are named when the recording was made on this kernel, or with --kallsyms of the recorded node.

    \b
    Examples:
      necroscope import perf.data --store ./incident
      necroscope import perf-*.data --kallsyms node7.kallsyms --store ./node7
    """
    from necroscope.record.plan import open_import
    from necroscope.show.plain import plain

    out = console(no_color, stderr=True)
    writer = open_import(store)
    try:
        for file in files:
            samples, exact = _one(writer, file, kallsyms, out, quiet)
            if not quiet:
                about = "" if exact else "; when it was recorded is guessed from the file's date"
                click.echo(f"{plain(str(file))}: {samples:,} samples{about}")
    finally:
        writer.close()


def _one(writer: Writer, file: Path, kallsyms: Path | None, out: Console, quiet: bool) -> tuple[int, bool]:
    from rich.progress import Progress

    from necroscope.record.perf_rows import keep_rows
    from necroscope.sense.importers.perf_data import PerfData

    before = writer.status().samples
    with PerfData(file, kallsyms=kallsyms) as data, Progress(console=out, transient=True, disable=quiet) as progress:
        bar = progress.add_task(file.name, total=1.0)
        for row in data.rows():
            keep_rows(writer, [row], data.utc_offset_ns()[0])
            progress.update(bar, completed=data.progress)
        return writer.status().samples - before, data.utc_offset_ns()[1]
