"""The program as users start it: a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Ran:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document


class Program:
    """Runs `necroscope` with arguments; no run may leave a traceback."""

    def __call__(
        self,
        *arguments: object,
        env: dict[str, str] | None = None,
        columns: int = 100,
        before: tuple[str, ...] = (),
        timeout_s: float = 60,
    ) -> Ran:
        """Run it; `before` are commands that run it in their turn."""
        command = [*before, str(Path(sys.executable).parent / "necroscope"), *map(str, arguments)]
        environment = {**os.environ, "COLUMNS": str(columns), **(env or {})}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=timeout_s)
        assert "Traceback" not in done.stderr + done.stdout
        return Ran(done.returncode, done.stdout, done.stderr)
