"""A report to where the user wants it: a document, a text, or nothing but the exit code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from necroscope.vocabulary.model import ScanReport

if TYPE_CHECKING:
    from rich.console import Console


def emit_scan(report: ScanReport, console: Console, as_json: bool, quiet: bool, watching: bool) -> None:
    """One scan. Watching, a terminal is cleared before each and JSON is one document a line."""
    if quiet:
        return
    if as_json:
        import json

        from necroscope.show.scan.document import scan_document

        click.echo(json.dumps(scan_document(report), indent=None if watching else 2))
        return
    if watching and console.is_terminal:
        console.clear()
    write_scan(report, console)


def write_scan(report: ScanReport, console: Console) -> None:
    """One scan as text."""
    from necroscope.show.scan.text import print_scan

    write_text(console, lambda out: print_scan(report, out))


def write_text(console: Console, tell: Callable[[Console], None]) -> None:
    """What is told, on the console; piped, without the blanks with which a terminal's lines are filled up."""
    if console.is_terminal:
        tell(console)
        return
    with console.capture() as captured:
        tell(console)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())
