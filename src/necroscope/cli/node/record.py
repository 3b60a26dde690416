"""`necroscope record`."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.shared.options import Span, config_option, console
from necroscope.errors import Unavailable

if TYPE_CHECKING:
    import threading

    from rich.console import Console
    from rich.status import Status

    from necroscope.config import Config
    from necroscope.record.recorder import RecorderStatus
    from necroscope.show.log.log_line import LogLine

# The spinner before the status line, and a column that stays free.
_SPINNER = 3
_PLACES = "$NECROSCOPE_STORE, else /var/lib/necroscope for root and ~/.local/state/necroscope for others"


@click.command()
@click.option(
    "--store", type=click.Path(path_type=Path, file_okay=False), help=f"Where to record (default: {_PLACES})."
)
@click.option("--for", "for_s", type=Span(), help="Stop after this long; without it, until Ctrl-C, SIGTERM or SIGHUP.")
@click.option("--no-perf", is_flag=True, help="Sensors only, no profile.")
@click.option("--metrics", metavar="ADDRESS", help="Serve /metrics for Prometheus there: 127.0.0.1:9477.")
@click.option("--log-format", type=click.Choice(["text", "json"]), help="Of the lines that are written off a terminal.")
@config_option
@click.option("-q", "--quiet", is_flag=True, help="No status line, no word about what cannot be seen.")
@click.option("--no-color", is_flag=True, help="Neither colours nor bold (NO_COLOR is honoured too).")
@click.option(
    "--kernel-log",
    type=click.Path(exists=True, dir_okay=False, resolve_path=True),
    hidden=True,
    help="This log for the kernel's.",
)
def record(
    store: Path | None,
    for_s: float | None,
    no_perf: bool,
    metrics: str | None,
    log_format: str | None,
    config_file: Path | None,
    quiet: bool,
    no_color: bool,
    kernel_log: str | None,
) -> None:
    """The flight recorder: everything, every second, in a bounded store, in the foreground.

    Samples every core at 97 Hz with stacks through one perf process, and reads the node's signals every second. Stop it
    with Ctrl-C or SIGTERM; after a crash or a kill -9, at most the last two seconds are missing. Exit code 3: what was
    recorded last could not be written.

    \b
    Examples:
      necroscope record --for 30s
      necroscope record --store /var/lib/necroscope
      necroscope record --metrics 127.0.0.1:9477 --log-format json
    """
    import threading

    from necroscope.record.budget import memory_trim

    memory_trim.begin()
    from necroscope.record.feed import PerfFeed
    from necroscope.record.plan import budget_of, check_skipped, fast_sensors, open_writer, slow_sensors
    from necroscope.record.recorder import Recorder
    from necroscope.record.service.log import Log
    from necroscope.record.service.service import Service
    from necroscope.sense.host import Host
    from necroscope.sense.perf.launch.starter import PerfStarter

    stop, again = threading.Event(), threading.Event()
    _stop_on_signals(stop, again)
    host, out = Host(), console(no_color, stderr=True)
    settings = _Settings(config_file, metrics, log_format)
    config = settings.load()
    check_skipped(config.record.skip)
    writer = open_writer(store, config)
    on_terminal = out.is_terminal
    with ExitStack() as ending:
        ending.callback(writer.close)
        write = None if quiet or on_terminal else _line_writer(config, ending)
        log = Log(write or (lambda _: None), config.log.level)
        service = Service(writer, config, log, again, settings.load, line)
        feed = None
        if config.record.perf and not no_perf:
            feed = PerfFeed(host, PerfStarter(host, writer.folder), config.record.frequency_hz)
        skip = config.record.skip
        slow = slow_sensors(feed.sampled.take, skip) if feed is not None else slow_sensors(skip=skip)
        budget = budget_of(config, os.cpu_count() or 1)
        recorder = Recorder(host, writer, feed, fast_sensors(kernel_log, skip), slow, budget, service)
        service.began(recorder)
        status = ending.enter_context(out.status("recording")) if on_terminal and not quiet else None
        tell = None if quiet or not on_terminal else _status_printer(out, status)
        last = recorder.run(stop, for_s, tell)
        if tell is not None:
            tell(last)
        service.ended(last)
    if not quiet and on_terminal:
        last = replace(last, bytes=writer.status().bytes)
        with suppress(OSError):
            click.echo(line(last, out.width, "recorded"), err=True)
    if loss := writer.loss_at_the_end:
        raise Unavailable(f"What was recorded last could not be written, and is lost: {loss}.", "make room on the disk")


class _Settings:
    """What is set, with what the command line says in place of it; read anew at every reload."""

    def __init__(self, file: Path | None, metrics: str | None, log_format: str | None) -> None:
        self._file, self._metrics, self._log_format = file, metrics, log_format

    def load(self) -> Config:
        """The settings in force."""
        from necroscope.record.service.settings import trusted

        config = trusted(self._file)
        if self._metrics is not None:
            config = replace(config, metrics=replace(config.metrics, listen=self._metrics))
        if self._log_format is not None:
            config = replace(config, log=replace(config.log, format=self._log_format))
        return config


def _line_writer(config: Config, ending: ExitStack) -> Callable[[LogLine], None]:
    """Lines on standard error, one for each thing that matters."""
    from necroscope.record.service.line_writer import LineWriter, to_journal
    from necroscope.show.log.line import as_json, for_people

    journal, writer = to_journal(), LineWriter()
    ending.callback(writer.close)
    shown = as_json if config.log.format == "json" else for_people
    return lambda one: writer.write(shown(one, journal))


def _stop_on_signals(stop: threading.Event, again: threading.Event) -> None:
    """Ctrl-C, SIGTERM and a terminal that is closed end the recording well. `nohup` keeps its meaning, and in the
    background of a shell without job control, where Ctrl-C is for others, it is ignored. Under systemd, and where there
    is no terminal that could be closed, SIGHUP asks for the settings to be read again."""
    import signal

    # Asked now: a terminal that is gone is none any more.
    terminals = [fd for fd in (1, 2) if os.isatty(fd)]

    reloads = bool(os.environ.get("NOTIFY_SOCKET")) or not _has_terminal()

    def hung_up(*_: object) -> None:
        if reloads:
            again.set()
            return
        stop.set()
        # Writing to a terminal that is gone is an error, and must not keep the store from being sealed.
        for fd in terminals:
            os.dup2(os.open(os.devnull, os.O_WRONLY), fd)

    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: stop.set())
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, hung_up)


def _has_terminal() -> bool:
    """Whether a terminal controls this process, which hangs up when it is closed."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


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
