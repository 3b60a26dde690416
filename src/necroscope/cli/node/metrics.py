"""`necroscope metrics`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--store",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the recording (default: that of `record`).",
)
def metrics(store: Path | None) -> None:
    """The running recorder's numbers as Prometheus text, for node_exporter's textfile collector.

    They are those of `record --metrics ADDRESS`, at most ten seconds old. Exit code 3 where no recorder runs.

    \b
    Examples:
      necroscope metrics > necroscope.prom.new      then mv it to necroscope.prom
      necroscope metrics --store /var/lib/necroscope
    """
    from necroscope.record.metrics.file import latest
    from necroscope.store.place import to_read

    click.echo(latest(to_read(store)), nl=False)
