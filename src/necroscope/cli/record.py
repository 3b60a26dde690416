"""`necroscope record`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.options import Span, console

if TYPE_CHECKING:
    from rich.console import Console

    from necroscope.record.recorder import RecorderStatus


@click.command()
@click.option("--store", type=click.Path(path_type=Path, file_okay=False), help="Where to record (default: see docs).")
@click.option("--for", "for_s", type=Span(), help="Stop after this long; without it, until Ctrl-C or SIGTERM.")
@click.option("--no-perf", is_flag=True, help="Sensors only, no profile.")
@click.option("-q", "--quiet", is_flag=True, help="No status line.")
@click.option("--no-color", is_flag=True, help="No colours.")
def record(store: Path | None, for_s: float | None, no_perf: bool, quiet: bool, no_color: bool) -> None:
    """The flight recorder: everything, every second, in a bounded store, in the foreground.

    Samples every core at 97 Hz with stacks through one perf process, and reads the node's signals every second. Stop it
    with Ctrl-C or SIGTERM; after a crash or a kill -9, at most the last two seconds are missing.

    \b
    Examples:
      necroscope record --for 30s
      necroscope record --store /var/lib/necroscope
    """
    import signal
    import threading

    from necroscope.record import frugal
    from necroscope.record.feed import PerfFeed
    from necroscope.record.plan import fast_sensors, open_writer, slow_sensors
    from necroscope.record.recorder import Recorder
    from necroscope.sense.host import Host

    frugal.begin()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    host, out = Host(), console(no_color, stderr=True)
    writer = open_writer(store)
    with ExitStack() as ending:
        ending.callback(writer.close)
        feed = None if no_perf else PerfFeed(host)
        recorder = Recorder(host, writer, feed, fast_sensors(), slow_sensors())
        status = ending.enter_context(out.status("recording")) if out.is_terminal and not quiet else None
        last = recorder.run(stop, for_s, (lambda one: status.update(line(one))) if status else None)
    if not quiet:
        _tell_end(out, replace(last, bytes=writer.status().bytes))


def line(status: RecorderStatus) -> str:
    """The status line."""
    from necroscope.quantity import count, size, span

    left = f" · holds {status.hours_left:,.0f} h" if status.hours_left is not None else ""
    trouble = f" · {status.trouble}" if status.trouble else ""
    return (
        f"recording {span(status.seconds)} · {count(status.samples_per_s)} samples/s · {count(status.lost)} lost · "
        f"{size(status.bytes)} · {100 * status.cpu_share:.1f} % of a core, {size(status.rss_bytes)}{left} · "
        f"{count(status.symptoms)} symptoms{trouble}"
    )


def _tell_end(out: Console, last: RecorderStatus) -> None:
    from rich.text import Text

    out.print(Text(line(last)))
