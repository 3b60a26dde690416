"""The recorder's metrics in a file of its store, for the textfile collector: `necroscope metrics` prints it.

    STORE/metrics.prom     as `/metrics` has it, replaced as a whole every ten seconds

So the file and the address tell the same counters, of the same life of the same recorder.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from necroscope import clock
from necroscope.clock import NS
from necroscope.errors import Unavailable
from necroscope.store.private_files import open_new
from necroscope.store.regular_file import read_regular

NAME = "metrics.prom"
EVERY_S, STALE_S = 10.0, 60.0
_MOST_BYTES = 1 << 20


class MetricsFile:
    """Written by the recorder. A disk that takes nothing is no trouble of its own: the status tells of it."""

    def __init__(self, store: Path) -> None:
        self._path = store / NAME
        self._next_s = 0.0

    def due(self) -> bool:
        """Whether it is time to write it anew."""
        return clock.elapsed_s() >= self._next_s

    def write(self, text: str) -> None:
        """Replace it."""
        self._next_s = clock.elapsed_s() + EVERY_S
        temporary = self._path.with_name(f".{NAME}")
        with suppress(OSError):
            with os.fdopen(open_new(temporary), "wb") as file:
                file.write(text.encode("utf-8", "replace"))
            temporary.rename(self._path)

    def remove(self) -> None:
        """The recorder ends; what it counted is over."""
        with suppress(OSError):
            self._path.unlink()


def latest(store: Path) -> str:
    """The metrics of the recorder that writes a store; `Unavailable` where none has written them lately."""
    path = store / NAME
    hint = "start `necroscope record`; it writes them every ten seconds"
    try:
        age_s = clock.now().realtime_ns / NS - path.stat().st_mtime_ns / NS
        text = read_regular(path, _MOST_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise Unavailable(f"No recorder tells metrics in {store}: {error.strerror}.", hint) from error
    if age_s > STALE_S:
        raise Unavailable(f"The recorder of {store} told its metrics last {age_s:.0f} s ago.", hint)
    return text
