"""One question to a child of our own: started, read within bounds, ended whatever happens."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from necroscope import clock
from necroscope.sense.environment import for_programs

WALL_S = 60.0
_MOST_BYTES = 4 << 20
_COMMAND = (sys.executable, "-P", "-m", "necroscope.record.verdicts.worker")


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of a question: a document, or why there is none; and the CPU time that it took."""

    why: dict[str, Any] | None
    title: str
    cpu_s: float
    rss_bytes: int = 0
    trouble: str = ""


def ask(question: dict[str, Any], stop: threading.Event) -> Answered:
    """Ask, and wait for the answer; not longer than a minute, nor once `stop` is set."""
    try:
        child = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**for_programs(), **_python()},
            start_new_session=True,
        )
    except OSError as error:
        return Answered(None, "", 0.0, trouble=f"no child could be started: {error.strerror}")
    try:
        with suppress(OSError):
            assert child.stdin is not None
            child.stdin.write(json.dumps(question).encode())
            child.stdin.close()
        out, err, late = _heard(child, stop)
    finally:
        cpu_s, status = _ended(child)
    return _answer(out, err, late, cpu_s, status, question)


def _python() -> dict[str, str]:
    """What lets the child find the same program, however this one was found."""
    return {name: os.environ[name] for name in ("PYTHONPATH", "VIRTUAL_ENV") if name in os.environ}


def _heard(child: subprocess.Popen[bytes], stop: threading.Event) -> tuple[bytes, bytes, bool]:
    """Both streams to their ends; True when they did not end in time."""
    ends_s = clock.elapsed_s() + WALL_S
    found: dict[str, bytearray] = {"out": bytearray(), "err": bytearray()}
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ, "out")  # type: ignore[arg-type]
        selector.register(child.stderr, selectors.EVENT_READ, "err")  # type: ignore[arg-type]
        while selector.get_map():
            if stop.is_set() or clock.elapsed_s() > ends_s or len(found["out"]) > _MOST_BYTES:
                return bytes(found["out"]), bytes(found["err"]), True
            for key, _ in selector.select(0.2):
                if data := os.read(key.fd, 1 << 16):
                    found[key.data] += data
                    del found["err"][:-4096]
                else:
                    selector.unregister(key.fileobj)
    return bytes(found["out"]), bytes(found["err"]), False


def _ended(child: subprocess.Popen[bytes]) -> tuple[float, int]:
    """CPU time and exit status of a child that is over, or is ended now."""
    if child.stdout is not None and child.stderr is not None:
        child.stdout.close()
        child.stderr.close()
    with suppress(ProcessLookupError):
        if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            _wait_or_kill(child)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, child.returncode


def _wait_or_kill(child: subprocess.Popen[bytes]) -> None:
    """A child whose streams are over ends by itself in a moment."""
    for _ in range(20):
        clock.sleep(0.05)
        if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
    os.kill(child.pid, signal.SIGKILL)


def _answer(out: bytes, err: bytes, late: bool, cpu_s: float, status: int, question: dict[str, Any]) -> Answered:
    if status == -signal.SIGXCPU or cpu_s > question["cpu_s"] + 1:
        return Answered(None, "", cpu_s, trouble=f"it took more than {question['cpu_s']:.0f} s of CPU time")
    if late:
        return Answered(None, "", cpu_s, trouble=f"it was not answered within {WALL_S:.0f} s")
    try:
        made = json.loads(out)
        return Answered(made["why"], made["title"], cpu_s, made["rss_bytes"])
    except (ValueError, KeyError, TypeError):
        lines = err.decode("utf-8", "replace").strip().splitlines()
        return Answered(None, "", cpu_s, trouble=lines[-1][:500] if lines else f"it ended with {status}")
