"""A program that is given the verdict on its standard input, as JSON. Nothing of it is in its arguments or environment:
names on a node are anybody's, and a shell would read them.

Its output goes nowhere. It has `timeout_s`, then it and what it started are killed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from typing import Any

from necroscope.record.sinks.queue import Refused, Undelivered
from necroscope.sense.environment import for_programs
from necroscope.sense.ownership import privileged, weak_part


def run(command: tuple[str, ...], document: Any, timeout_s: float, more: dict[str, str] | None = None) -> None:
    """Raises `Undelivered` for a program that fails or takes too long, `Refused` for one that may not be run."""
    program = command[0]
    if not program.startswith("/"):
        raise Refused(f"{program} is not an absolute path")
    try:
        weak = privileged() and weak_part(program)
    except OSError as error:
        raise Undelivered(f"{program}: {error.strerror}") from error
    if weak:
        raise Refused(f"{program} is not run: {weak} may be changed by others than root")
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**for_programs(), **(more or {})},
            start_new_session=True,
        )
    except OSError as error:
        raise Undelivered(f"{program}: {error.strerror}") from error
    try:
        child.communicate(json.dumps(document).encode(), timeout_s)
    except subprocess.TimeoutExpired as error:
        raise Undelivered(f"{program} did not end within {timeout_s:g} s") from error
    finally:
        _end(child)
    if child.returncode:
        raise Undelivered(f"{program} ended with {child.returncode}")


def _end(child: subprocess.Popen[bytes]) -> None:
    """It, and all of its session that is still there."""
    if child.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    for stream in (child.stdin,):
        if stream is not None:
            with suppress(OSError):
                stream.close()
