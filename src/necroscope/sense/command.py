"""Programs that a sensor asks: bounded in time and in output, their words never interpreted by a shell.

What a program could not say in time is not half an answer: `run` returns its whole output or raises `Unavailable`.
With privileges, programs are looked for in fixed folders, only those are run that nobody but root can change, and
nothing of the user's environment reaches them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.environment import PROGRAMS, for_programs, program_folders
from necroscope.sense.ownership import privileged, weak_part

OUTPUT_LIMIT_BYTES = 4 << 20

Runner = Callable[[Sequence[str], float], bytes]


def trusted_program(name: str, extra: Sequence[str] = (), hint: str = "") -> Path:
    """Where a program is, in the usual folders or in `extra` ones. With privileges, one that others than root can
    change is passed over. Raises `Unavailable` where there is none that may be run."""
    weak = ""
    for folder in (*program_folders(), *extra):
        # An absolute name stays as it is.
        found = Path(folder, name)
        if found.is_file() and os.access(found, os.X_OK):
            weak = weak_part(found) if privileged() else ""
            if not weak:
                return found
    if weak:
        advice = f"let it belong to root, or name other folders in ${PROGRAMS}"
        raise Unavailable(f"{name} is not run: {weak} may be changed by others than root", advice)
    raise Unavailable(f"{name} is not installed", hint)


def run(command: Sequence[str], timeout_s: float) -> bytes:
    """The program's standard output. Raises `Unavailable` when it is absent, fails, is late or says too much."""
    import subprocess

    program = trusted_program(command[0])
    deadline = clock.elapsed_s() + timeout_s
    try:
        process = subprocess.Popen(
            [str(program), *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=for_programs(),
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
