"""The recorder of a run: a child, started through the command line as users start it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from necroscope import clock
from necroscope.errors import NecroscopeError
from necroscope.lab.environment.complaints import complaint

_BEGIN_S = 30.0
_END_S = 60.0


class LabRecorder:
    """Records to a store, with symptoms from a file instead of the kernel's log. May be stopped and started again."""

    def __init__(
        self, store: Path, kernel_log: Path, environment: dict[str, str], started: Callable[[int], None]
    ) -> None:
        self.store = store
        self._command = [sys.executable, "-P", "-m", "necroscope", "record", "-q", "--store", str(store)]
        self._command += ["--kernel-log", str(kernel_log)]
        self._environment = environment
        self._started = started
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return self._process.pid if self._process is not None else None

    def start(self) -> None:
        """Start it, and wait until it has written its first rows and its first samples can come."""
        from necroscope.store.read.catalog import journals

        before = set(journals(self.store)) if self.store.exists() else set()
        # The lab asks by itself; verdicts of the recorder's own would take CPU time that scenarios share out.
        environment = {**os.environ, "NECROSCOPE_EXPLAIN__ENABLED": "false", **self._environment}
        self._process = subprocess.Popen(
            self._command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        self._started(self._process.pid)
        ends = clock.elapsed_s() + _BEGIN_S
        while not self._begun(before):
            if self._process.poll() is not None or clock.elapsed_s() > ends:
                self.stop()
                raise NecroscopeError("the lab's recorder did not begin to record")
            clock.sleep(0.1)

    def stop(self) -> None:
        """Ask it to end and wait; what it complained of is raised when it ended badly."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            _, stderr = process.communicate(timeout=_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            _, stderr = process.communicate()
        if process.returncode:
            raise NecroscopeError(f"the lab's recorder ended with {process.returncode}: {complaint(stderr)}")

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _begun(self, before: set[int]) -> bool:
        from necroscope.store.read.catalog import journals

        with contextlib.suppress(OSError):
            found = journals(self.store) if self.store.exists() else {}
            return any(number not in before and path.stat().st_size > 64 for number, path in found.items())
        return False
