"""How the demo goes on when the incident has happened: explain, plan, stop, measure, undo, as a user would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from necroscope.errors import NecroscopeError

if TYPE_CHECKING:
    from rich.console import Console

    from necroscope.lab.stage import Stage

MEASURED_S = 20
_LONGEST_S = 120.0
_WORTH_TELLING = (0, 1, 3)


def to_the_end(
    out: Console, explain: Callable[[Path], None], say: Callable[[str], None], state: Path, stage: Stage
) -> None:
    """Tell the rest of the story on a stage whose incident is over, and whose unit leaks on."""
    program = _Program(out, stage, state)
    say("2/6  The unit leaks on. necroscope why:")
    explain(stage.store)
    say("3/6  A plan, which changes nothing. necroscope fix:")
    if program("fix") != 0:
        say("Nobody could be named, so nothing is stopped: other work on this machine hides it. Try again later.")
        return
    say("4/6  Carried out, in the demo's own systemd. necroscope fix --apply --yes:")
    program("fix", "--apply", "--yes")
    say(f"5/6  Did it help? necroscope validate --for {MEASURED_S}s --change fix:")
    program("validate", "--for", f"{MEASURED_S}s", "--change", "fix")
    say("6/6  As it was, byte for byte. necroscope fix --undo ID:")
    program("fix", "--undo", _applied(state))


class _Program:
    """This program, asked about the stage's recording and its systemd."""

    def __init__(self, out: Console, stage: Stage, state: Path) -> None:
        self._out = out
        own = {"NECROSCOPE_STORE": str(stage.store), "NECROSCOPE_FIX_STATE": str(state), "COLUMNS": str(out.width)}
        self._environment = {**os.environ, **stage.environment, **own}

    def __call__(self, *arguments: str) -> int:
        """Run it and show what it prints; its exit code."""
        command = [sys.executable, "-P", "-m", "necroscope", *arguments]
        done = subprocess.run(
            command,
            check=False,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LONGEST_S,
        )
        for line in (done.stdout + done.stderr).splitlines():
            self._out.print(line, markup=False, highlight=False, soft_wrap=True)
        if done.returncode not in _WORTH_TELLING:
            raise NecroscopeError(f"necroscope {arguments[0]} ended with {done.returncode}", "please report this")
        return done.returncode


def _applied(state: Path) -> str:
    """The plan that was carried out."""
    return next((path.stem for path in (state / "journal").glob("fix-*.jsonl")), "")
