"""`necroscope record`."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.shared.options import Span, console
from necroscope.errors import Unavailable

if TYPE_CHECKING:
    import threading

    from rich.console import Console
    from rich.status import Status

    from necroscope.record.recorder import RecorderStatus

# The spinner before the status line, and a column that stays free.
_SPINNER = 3
_PLACES = "$NECROSCOPE_STORE, else /var/lib/necroscope for root and ~/.local/state/necroscope for others"


@click.command()
@click.option(
    "--store", type=click.Path(path_type=Path, file_okay=False), help=f"Where to record (default: {_PLACES})."
)
@click.option("--for", "for_s", type=Span(), help="Stop after this long; without it, until Ctrl-C, SIGTERM or SIGHUP.")
@click.option("--no-perf", is_flag=True, help="Sensors only, no profile.")
@click.option("-q", "--quiet", is_flag=True, help="No status line, no word about what cannot be seen.")
@click.option("--no-color", is_flag=True, help="Neither colours nor bold (NO_COLOR is honoured too).")
@click.option(
    "--kernel-log",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True),
    hidden=True,
    help="This log for the kernel's.",
)
def record(
    store: Path | None, for_s: float | None, no_perf: bool, quiet: bool, no_color: bool, kernel_log: str | None
) -> None:
    """The flight recorder: everything, every second, in a bounded store, in the foreground.

    Samples every core at 97 Hz with stacks through one perf process, and reads the node's signals every second. Stop it
    with Ctrl-C or SIGTERM; after a crash or a kill -9, at most the last two seconds are missing. Exit code 3: what was
    recorded last could not be written.

    \b
    Examples:
      necroscope record --for 30s
      necroscope record --store /var/lib/necroscope
    """
    import threading

    from necroscope.record.budget import memory_trim

    memory_trim.begin()
    from necroscope.record.feed import PerfFeed
    from necroscope.record.plan import fast_sensors, open_writer, slow_sensors
    from necroscope.record.recorder import Recorder
    from necroscope.sense.host import Host
    from necroscope.sense.perf.launch.starter import PerfStarter

    stop = threading.Event()
    _stop_on_signals(stop)
    host, out = Host(), console(no_color, stderr=True)
    writer = open_writer(store)
    with ExitStack() as ending:
        ending.callback(writer.close)
        feed = None if no_perf else PerfFeed(host, PerfStarter(host, writer.folder))
        slow = slow_sensors(feed.sampled.take) if feed is not None else slow_sensors()
        recorder = Recorder(host, writer, feed, fast_sensors(kernel_log), slow)
        status = ending.enter_context(out.status("recording")) if out.is_terminal and not quiet else None
        tell = None if quiet else _status_printer(out, status)
        last = recorder.run(stop, for_s, tell)
        if tell is not None:
            tell(last)
    if not quiet:
        last = replace(last, bytes=writer.status().bytes)
        width = out.width if out.is_terminal else None
        with suppress(OSError):
            click.echo(line(last, width, "recorded"), err=True)
    if loss := writer.loss_at_the_end:
        raise Unavailable(f"What was recorded last could not be written, and is lost: {loss}.", "make room on the disk")


def _stop_on_signals(stop: threading.Event) -> None:
    """Ctrl-C, SIGTERM and a terminal that is closed end the recording well. `nohup` keeps its meaning, and in the
    background of a shell without job control, where Ctrl-C is for others, it is ignored."""
    import signal

    # Asked now: a terminal that is gone is none any more.
    terminals = [fd for fd in (1, 2) if os.isatty(fd)]

    def hung_up(*_: object) -> None:
        stop.set()
        # Writing to a terminal that is gone is an error, and must not keep the store from being sealed.
        for fd in terminals:
            os.dup2(os.open(os.devnull, os.O_WRONLY), fd)

    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: stop.set())
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, hung_up)


def _status_printer(out: Console, status: Status | None) -> Callable[[RecorderStatus], None]:
    """Keeps the status line, where there is one, and says each kind of trouble once."""
    from rich.text import Text

    said: set[str] = set()

    def tell(now: RecorderStatus) -> None:
        from necroscope.show.plain import plain

        with suppress(OSError):
            for trouble in now.troubles:
                if trouble.short not in said:
                    said.add(trouble.short)
                    out.print(Text(f"necroscope: {plain(trouble.text)}"), soft_wrap=True)
            if status is not None:
                status.update(Text(line(now, out.width - _SPINNER)))

    return tell


def line(status: RecorderStatus, width: int | None = None, verb: str = "recording") -> str:
    """The status line; what matters less is left out until it fits the width."""
    from necroscope.quantity import count, plural, size, span

    # Each with its rank: the higher, the sooner it goes.
    parts = [
        (0, f"{verb} {span(status.seconds)}"),
        (2, f"{count(status.samples_per_s)} samples/s"),
        (3, f"{count(status.lost)} lost"),
        (6, size(status.bytes)),
        (5, f"{size(round(status.bytes_per_s))}/s"),
        (7, f"{100 * status.cpu_share:.1f} % of a core"),
        (9, f"{size(status.rss_bytes)} memory"),
    ]
    if status.hours_left is not None:
        parts.append((8, f"holds {status.hours_left:,.0f} h"))
    if status.symptoms is not None:
        parts.append((4, plural(status.symptoms, "symptom")))
    parts += [(1, trouble.short) for trouble in status.troubles]
    text = " · ".join(part for _, part in parts)
    while width is not None and len(text) > width and len(parts) > 1:
        parts.remove(max(parts))
        text = " · ".join(part for _, part in parts)
    return text if width is None or len(text) <= width else f"{text[: max(0, width - 1)]}…"
