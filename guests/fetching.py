"""Programs that fetch and make things, and what they say when they cannot."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_PATIENCE_S = 900.0
# Debian keeps the makers of file systems and of modules' indexes where only root looks.
_PLACES = "/usr/sbin:/sbin"


class Unfetchable(Exception):
    """Something that a guest is made of cannot be had here."""


def run(command: Sequence[str], environment: Mapping[str, str] | None = None, folder: Path | None = None) -> str:
    """What a program says; `Unfetchable` with its last words where it fails."""
    values = environment or os.environ
    environment = {**values, "PATH": f"{values.get('PATH', '')}:{_PLACES}", "LC_ALL": "C"}
    try:
        ran = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=_PATIENCE_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unfetchable(f"{command[0]}: {error}") from error
    if ran.returncode:
        said = " ".join(ran.stderr.split())[-500:]
        raise Unfetchable(f"{' '.join(command[:2])} … failed: {said}")
    return ran.stdout
