"""`necroscope mark`."""

from __future__ import annotations

from pathlib import Path

import click

from necroscope.cli.shared.times import RULE, Instant


@click.command(epilog=RULE)
@click.argument("text")
@click.option("--at", "at_ns", type=Instant(), default="now", show_default="now", help="When: -5m, 14:03:07, ISO 8601.")
@click.option("--kind", default="mark", show_default=True, help="What it is: job-failed, job-started, ...")
@click.option("--subject", default="", help="What it is about: a job, a host.")
@click.option("--cpu", type=click.IntRange(0, 65535), help="The core that it is about.")
@click.option("--device", default="", help="The device that it is about: eth0.")
@click.option("--pid", type=click.IntRange(1, 1 << 22), help="The process that it is about.")
@click.option(
    "--store",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the recording (default: that of `record`).",
)
def mark(
    text: str,
    at_ns: int,
    kind: str,
    subject: str,
    cpu: int | None,
    device: str,
    pid: int | None,
    store: Path | None,
) -> None:
    """Put an event on the timeline; works while the recorder runs, and waits for it when it does not.

    \b
    Examples:
      necroscope mark "job 4711 failed" --kind job-failed --subject 4711
      necroscope mark "deployed the new image" --at -10m
      necroscope mark "the trainer stood still" --kind stall --pid 4711 --cpu 39
    """
    from necroscope.clock import iso
    from necroscope.store.format.tables import valid_text
    from necroscope.store.inbox import put
    from necroscope.store.place import to_write
    from necroscope.store.read.catalog import check_format
    from necroscope.vocabulary.event import Event

    if store is not None:
        # A folder that somebody mistyped must not become a store that nobody reads.
        check_format(store)
    said = valid_text(subject), valid_text(text)
    event = Event(at_ns, kind, "mark", *said, cpu=cpu, device=valid_text(device), pid=pid)
    put(to_write(store), event)
    click.echo(f"{iso(at_ns)}  {event.short_id}  {kind}")
