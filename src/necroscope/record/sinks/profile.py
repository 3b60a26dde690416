"""The profile around a symptom, in a file for as long as a sink looks at it: for those who run a profile store.

`necroscope export` makes it, in a child with the limits of a verdict. Where it cannot be made there is no file, and the
verdict is handed over without it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from necroscope.clock import iso
from necroscope.sense.environment import for_programs

VARIABLE = "NECROSCOPE_PROFILE"
"""What a command finds the file's path in."""
_CPU_S, _MEMORY_BYTES, _WALL_S = 10.0, 300_000_000, 60.0
_PROGRAM = (
    "import sys; from necroscope.record.verdicts.worker import limited; "
    f"limited({_CPU_S}, {_MEMORY_BYTES}); from necroscope.cli.main import run; run(sys.argv[1:])"
)
_ENDINGS = {"pprof": "pb.gz", "otlp": "otlp"}


@contextmanager
def profile_around(store: Path, at_ns: int, kind: str) -> Iterator[Path | None]:
    """A file with the window around a moment, which is gone afterwards; None where there is none."""
    with TemporaryDirectory(prefix="necroscope-profile-") as folder:
        file = Path(folder) / f"profile.{_ENDINGS[kind]}"
        arguments = ["export", "-q", "--format", kind, "-o", str(file), "--store", str(store), "--at", iso(at_ns)]
        command = [sys.executable, "-P", "-c", _PROGRAM, *arguments]
        try:
            ran = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=for_programs(),
                timeout=_WALL_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            yield None
            return
        yield file if ran.returncode == 0 and file.is_file() else None
