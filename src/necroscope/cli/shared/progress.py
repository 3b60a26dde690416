"""A progress bar on stderr, for those who can see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from necroscope.cli.shared.options import console


@contextmanager
def progress(name: str, no_color: bool = False, quiet: bool = False) -> Iterator[Callable[[float], None]]:
    """Called with the share of the work that is done; says nothing unless stderr is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.progress import Progress

    with Progress(console=console(no_color, stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=1.0)
        yield lambda done: bar.update(task, completed=done)
