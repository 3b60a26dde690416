"""Programs that a sensor asks: bounded in time and in output, their words never interpreted by a shell.

What a program could not say in time is not half an answer: `run` returns its whole output or raises `Unavailable`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence

from necroscope import clock
from necroscope.errors import Unavailable

OUTPUT_LIMIT_BYTES = 4 << 20

Runner = Callable[[Sequence[str], float], bytes]


def run(command: Sequence[str], timeout_s: float) -> bytes:
    """The program's standard output. Raises `Unavailable` when it is absent, fails, is late or says too much."""
    import subprocess

    program = shutil.which(command[0])
    if program is None:
        raise Unavailable(f"{command[0]} is not installed")
    deadline = clock.elapsed_s() + timeout_s
    # A user's locale, pager and colours must not reach what is parsed.
    environment = {**os.environ, "LC_ALL": "C", "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": ""}
    try:
        process = subprocess.Popen(
            [program, *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
    except OSError as error:
        raise Unavailable(f"{command[0]} cannot be started: {error.strerror}") from error
    with process:
        try:
            assert process.stdout is not None
            output = _read(process.stdout.fileno(), deadline, command[0])
            status = process.wait(max(deadline - clock.elapsed_s(), 0.05))
        except subprocess.TimeoutExpired as error:
            raise _late(command[0]) from error
        finally:
            process.kill()
    if status:
        raise Unavailable(f"{command[0]} failed with exit status {status}")
    return output


def _read(fd: int, deadline: float, name: str) -> bytes:
    import select

    poll = select.poll()
    poll.register(fd, select.POLLIN)
    chunks: list[bytes] = []
    size = 0
    while True:
        if not poll.poll(max(deadline - clock.elapsed_s(), 0) * 1000):
            raise _late(name)
        chunk = os.read(fd, 1 << 16)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
        size += len(chunk)
        if size > OUTPUT_LIMIT_BYTES:
            raise Unavailable(f"{name} said more than {OUTPUT_LIMIT_BYTES} bytes")


def _late(name: str) -> Unavailable:
    return Unavailable(f"{name} did not answer in time")
