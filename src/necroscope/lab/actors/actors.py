"""Starts actors, gives them cues, hears their answers, and ends them by pid."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from necroscope import clock
from necroscope.errors import NecroscopeError

_ACTOR = Path(__file__).with_name("actor.py")
_READY_S = 20.0
_LAST_WORDS_S = 0.3


@dataclass(slots=True)
class Actor:
    """A process that a scenario started. `said` holds the lines it has printed that nobody has asked for yet."""

    name: str
    process: subprocess.Popen[bytes] = field(repr=False)
    said: list[str] = field(default_factory=list)
    ended: bool = False
    _rest: bytes = b""

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    @property
    def alive(self) -> bool:
        """False when it has ended."""
        return self.process.poll() is None

    def cue(self, text: str = "go") -> None:
        """Send a line to its standard input."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{text}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise NecroscopeError(f"{self.name} has ended and cannot take its cue") from None

    def answer(self, timeout_s: float = 60.0) -> str:
        """The next line it prints; what it printed and nobody has asked for comes first."""
        ends = clock.elapsed_s() + timeout_s
        while not self.said:
            left = ends - clock.elapsed_s()
            if left <= 0 or not self._hear(left):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(_LAST_WORDS_S)
                raise NecroscopeError(f"{self.name} did not answer{'' if self.alive else ': it has ended'}")
        return self.said.pop(0)

    def listen(self) -> list[str]:
        """All lines that nobody has asked for yet, without waiting."""
        while self._hear(0.0):
            pass
        lines, self.said = self.said, []
        return lines

    @property
    def fell(self) -> bool:
        """Whether it ended badly by itself, or by somebody else's hand."""
        return not self.ended and self.process.poll() not in (None, 0)

    def end(self) -> None:
        """Kill it, and hear what it said last."""
        if not self.fell:
            self.ended = True
        if self.alive:
            self.process.kill()
        self.process.wait(10)
        while self._hear(0.0):
            pass
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _hear(self, timeout_s: float) -> bool:
        """Take what comes within the time; False when nothing does, or nothing more will."""
        assert self.process.stdout is not None
        if self.process.stdout.closed or not select.select([self.process.stdout], [], [], timeout_s)[0]:
            return False
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self.said += [line.decode("utf-8", "replace") for line in lines]
        return bool(data)


def start(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    name: str,
    *,
    cpu: int | None = None,
    nice: int = 0,
    realtime: int = 0,
    cgroups: Sequence[Path] = (),
    network: int = 0,
    started: Callable[[int], None] = lambda pid: None,
) -> Actor:
    """Start a process that runs `function(*arguments)`, and wait until it is ready. `started` hears its pid at once."""
    role = {
        "file": inspect.getfile(function),
        "function": function.__qualname__,
        "arguments": list(arguments),
        "name": name,
        "cpu": cpu,
        "nice": nice,
        "realtime": realtime,
        "cgroups": [str(cgroup) for cgroup in cgroups],
        "network": network,
        "parent": os.getpid(),
    }
    # with another argv[0], the interpreter does not find its own home
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONHOME": f"{sys.base_prefix}:{sys.base_exec_prefix}", "PYTHONPATH": paths}
    process = subprocess.Popen(
        [name, "-S", str(_ACTOR), json.dumps(role)],
        executable=sys.executable,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    started(process.pid)
    actor = Actor(name, process)
    try:
        actor.answer(_READY_S)
    except NecroscopeError:
        actor.end()
        raise NecroscopeError(f"{name} ({function.__qualname__}) did not get ready") from None
    return actor
