"""Asks `necroscope why` as users do: of a recording that is done, or the moment a symptom is there, while the recorder
still writes."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from necroscope import clock
from necroscope.lab.environment.symptom_source import Symptom

_WHY_S = 300.0
_TRIES = 3
_PAUSE_S = 1.0
_PATIENCE_S = 30.0
_SAME_SYMPTOM_S = 0.1


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """The first answer to whoever asked at once: the first answer that names a cause, or else the first of all."""

    seconds: float
    """From the symptom to the verdict."""
    document: dict[str, Any]


def ask(
    store: Path, at: str | None = None, started: Callable[[subprocess.Popen[str]], None] = lambda child: None
) -> tuple[dict[str, Any] | None, str]:
    """What `why --json` prints about a time or the latest symptom, None when that is no document; and what it complains
    of. `started` is given the child, which may be ended from outside."""
    command = [sys.executable, "-P", "-m", "necroscope", "why", "--json", "--store", str(store)]
    command += ["--at", at] if at else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        started(child)
        try:
            said, complaint = child.communicate(timeout=_WHY_S)
        except subprocess.TimeoutExpired:
            child.kill()
            return None, f"nothing after {_WHY_S:g} s"
    first = next(iter(complaint.strip().splitlines()), "").removeprefix("necroscope: ")
    try:
        document = json.loads(said)
    except ValueError:
        return None, first
    return (document if isinstance(document, dict) else None), first


class OnCall:
    """Asks about the latest symptom as soon as there is one, as engineers on call do, and again until a cause is named,
    a few times."""

    def __init__(self, store: Path, started: Callable[[int], None]) -> None:
        self.heard: FirstAnswer | None = None
        self._store, self._started = store, started
        self._child: subprocess.Popen[str] | None = None
        self._left = threading.Event()
        self._thread: threading.Thread | None = None

    def ask(self, symptom: Symptom) -> None:
        """Begin to ask about a symptom that was just written; what was heard of an earlier one is forgotten."""
        self.leave()
        self.heard, self._left = None, threading.Event()
        self._thread = threading.Thread(target=self._ask, args=(symptom, self._left), daemon=True)
        self._thread.start()

    def finish(self) -> FirstAnswer | None:
        """What was heard, once nothing is asked any more; what takes too long is not waited for."""
        if self._thread is not None:
            self._thread.join(_PATIENCE_S)
        self.leave()
        return self.heard

    def leave(self) -> None:
        """Ask nothing more, at once."""
        self._left.set()
        if (child := self._child) is not None:
            with contextlib.suppress(OSError):
                child.kill()
        if self._thread is not None:
            self._thread.join()

    def _ask(self, symptom: Symptom, left: threading.Event) -> None:
        for number in range(_TRIES):
            if left.wait(_PAUSE_S if number else 0.0):
                return
            document, _ = ask(self._store, started=self._began)
            self._child = None
            if document is None or left.is_set() or not _is_about(document, symptom):
                continue
            if self.heard is None or document.get("cause"):
                seconds = (clock.now().realtime_ns - symptom.at_ns) / clock.NS
                self.heard = FirstAnswer(round(seconds, 2), document)
            if document.get("cause"):
                return

    def _began(self, child: subprocess.Popen[str]) -> None:
        self._child = child
        self._started(child.pid)
        if self._left.is_set():
            child.kill()


def _is_about(document: dict[str, Any], symptom: Symptom) -> bool:
    """Before the symptom can be read, the answer is about an earlier one or about none."""
    at = (document.get("symptom") or {}).get("at")
    return at is not None and abs(datetime.fromisoformat(at).timestamp() - symptom.at_ns / clock.NS) < _SAME_SYMPTOM_S
