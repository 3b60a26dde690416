"""What a program that failed complained of, in one line for a message."""

from __future__ import annotations

from collections.abc import Sequence
from subprocess import CompletedProcess


def failure(command: Sequence[str], done: CompletedProcess[str]) -> str:
    """A command that ended badly, with its exit status and what it complained of."""
    return f"{' '.join(command)}: exit {done.returncode}: {complaint(done.stderr)}"


def complaint(stderr: str | bytes) -> str:
    """The last line that it printed on standard error: what comes before is mostly a traceback."""
    text = stderr.decode("utf-8", "replace") if isinstance(stderr, bytes) else stderr
    return next(iter(text.strip().splitlines()[-1:]), "no reason given")
