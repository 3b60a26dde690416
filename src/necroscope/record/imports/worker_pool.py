"""The same work in several processes at once: forks of this one, which share what it has read so far.

Each reports how far it is and, at its end, its result, one JSON document a line. An error of one ends all and is raised
as it is. None outlives this process: the kernel kills them with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from necroscope.errors import BadInput, NecroscopeError, Unavailable

Progress = Callable[[float], None]
"""Called with the share that is done, 0 to 1."""

Work = Callable[[int, Progress], Any]
"""What one worker does: its number, what to call with its progress; returns what JSON can hold."""

_DIE_WITH_PARENT = 1
_STEP = 0.01
_ERRORS: dict[str, type[NecroscopeError]] = {"BadInput": BadInput, "Unavailable": Unavailable}


@dataclass(slots=True)
class _Worker:
    pid: int
    pipe: int
    heard: bytes = b""
    done: float = 0.0
    messages: list[dict[str, Any]] = field(default_factory=list)


def work_together(count: int, work: Work, progress: Progress) -> list[Any]:
    """Let `count` processes work; returns what each made of it, in order. Raises what one of them raised."""
    workers: list[_Worker] = []
    try:
        for number in range(count):
            workers.append(_fork(number, work, [one.pipe for one in workers]))
        _listen(workers, progress)
        return [_result(one) for one in workers]
    finally:
        for one in workers:
            os.close(one.pipe)
            _end(one.pid)


def _fork(number: int, work: Work, others: list[int]) -> _Worker:
    ours, theirs = os.pipe()
    parent = os.getpid()
    with warnings.catch_warnings():
        # Threads are no worry: a child needs nothing that a progress bar holds, and allocators know of forks.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        _serve(number, work, parent, theirs, [ours, *others])
    os.close(theirs)
    return _Worker(pid, ours)


def _serve(number: int, work: Work, parent: int, pipe: int, foreign: list[int]) -> NoReturn:
    """The life of a child. It leaves without the ends that are its parent's: nothing is written or closed twice."""
    try:
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for one in foreign:
            os.close(one)
        if os.getppid() == parent:
            _send(pipe, _outcome(number, work, pipe))
    finally:
        os._exit(0)


def _outcome(number: int, work: Work, pipe: int) -> dict[str, Any]:
    reported = 0.0

    def progress(done: float) -> None:
        nonlocal reported
        if done >= reported + _STEP:
            reported = done
            _send(pipe, {"done": done})

    try:
        return {"result": work(number, progress)}
    except NecroscopeError as error:
        return {"error": type(error).__name__, "message": error.message, "hint": error.hint}
    except BaseException:
        return {"error": "", "message": traceback.format_exc(), "hint": ""}


def _send(pipe: int, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


def _listen(workers: list[_Worker], progress: Progress) -> None:
    """Until all have ended, or one has failed."""
    with selectors.DefaultSelector() as ready:
        for one in workers:
            ready.register(one.pipe, selectors.EVENT_READ, one)
        while ready.get_map():
            for key, _ in ready.select():
                _hear(key.data, ready)
            progress(sum(one.done for one in workers) / len(workers))


def _hear(member: _Worker, ready: selectors.BaseSelector) -> None:
    data = os.read(member.pipe, 1 << 16)
    *lines, member.heard = (member.heard + data).split(b"\n")
    for message in map(json.loads, lines):
        member.done = message.get("done", member.done)
        member.messages.append(message)
    del member.messages[:-1]
    if not data:
        ready.unregister(member.pipe)
        member.done = 1.0
        _result(member)


def _result(member: _Worker) -> Any:
    last = member.messages[-1] if member.messages else {}
    if "result" in last:
        return last["result"]
    if "error" in last:
        known = _ERRORS.get(last["error"])
        raise known(last["message"], last["hint"]) if known else RuntimeError(last["message"])
    raise Unavailable("a process that worked on it was killed", "is there enough memory? see the kernel's log")


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
