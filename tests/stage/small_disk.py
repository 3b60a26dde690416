"""A filesystem so small that it fills up, and somebody who fills it."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A filesystem of its own."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(path: Path, for_s: float) -> None:
    """Take whatever room there is, again and again."""
    ends = time.monotonic() + for_s
    with path.open("ab", buffering=0) as file:
        while time.monotonic() < ends:
            with contextlib.suppress(OSError):
                while file.write(b"x" * 4096) == 4096:
                    pass
            time.sleep(0.01)
