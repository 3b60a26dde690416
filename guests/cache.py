"""Where guests keep what they fetch and make: outside of the repository, and nothing that cannot be made again."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "NECROSCOPE_GUESTS"


def cache() -> Path:
    """The folder; `$NECROSCOPE_GUESTS`, else one in the user's cache."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "necroscope-guests"


@contextmanager
def alone() -> Iterator[None]:
    """Nobody else fetches or makes anything there meanwhile; waits for who does."""
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
