"""`necroscope scan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.shared.options import Span, config_option, console, output_options, source_options

if TYPE_CHECKING:
    from necroscope.vocabulary.model import ScanReport


@click.command()
@source_options
@click.option("--for", "window_s", type=Span(), help="Look twice, this far apart (5s, 2m): growth is measured.")
@click.option("--watch", is_flag=True, help="Scan again and again until Ctrl-C.")
@click.option("--interval", type=Span(), default=2.0, show_default="2s", help="With --watch: pause between scans.")
@config_option
@output_options
def scan(
    root: Path | None,
    bundle: Path | None,
    window_s: float | None,
    watch: bool,
    interval: float,
    config_file: Path | None,
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> int:
    """Is this node sick, now? One second, no recording needed.

    Counts the zombie memory cgroups and names them, with the files that pin them; finds units and containers that
    crash-loop, what the kernel log complained about, and says what it could not see. Changes nothing.

    Exit code 1: something is wrong. 3: nothing wrong was found, but zombies could not be counted, or the kernel log of
    this host could not be read, as without root.

    \b
    Examples:
      necroscope scan
      necroscope scan --for 5s                look twice: is it growing?
      necroscope scan --watch --interval 10s
      necroscope scan --json | jq '.findings[].title'
      necroscope scan --root ./captured-host
    """
    from necroscope import config
    from necroscope.cli.shared.reports import emit_scan
    from necroscope.cli.shared.sources import open_host
    from necroscope.scan.scanner import WINDOW_S, Scanner

    if watch and (root or bundle):
        raise click.UsageError("--watch watches a live host; a captured one does not change")
    _collect_garbage_rarely()
    settings = config.load(config_file)
    with open_host(root, bundle) as host:
        scanner = Scanner(host, settings, whole_process=True)
        out = console(no_color)
        report = scanner.scan(WINDOW_S if window_s is None else window_s)
        emit_scan(report, out, as_json, quiet, watching=watch)
        try:
            while watch:
                report = scanner.scan(interval)
                emit_scan(report, out, as_json, quiet, watching=True)
        except KeyboardInterrupt:
            pass
    return exit_code(report)


def exit_code(report: ScanReport) -> int:
    """1 something wrong; 3 nothing wrong found, but what would have shown it could not be seen; else 0."""
    if report.sick:
        return 1
    return 3 if report.inconclusive else 0


def _collect_garbage_rarely() -> None:
    """A scan makes many short-lived values and no cycles: looking for cycles that often took a sixth of its time."""
    import gc

    gc.set_threshold(100_000, 50, 50)
