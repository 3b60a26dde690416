"""Which processes were sampled lately: handed from the thread that decodes to the one that looks at processes."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from necroscope.sense.perf.rows import Row
from necroscope.sense.perf.samples import SampleBatch

NAMED_MOST = 256
_KEPT_MOST = 8192


class Sampled:
    """Counts samples by process, within bounds."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._lock = threading.Lock()

    def add(self, rows: Iterable[Row]) -> None:
        """Count the samples among these rows."""
        for row in rows:
            if isinstance(row, SampleBatch) and len(row):
                pids, counts = np.unique(row.pid, return_counts=True)
                with self._lock:
                    self._counts.update(dict(zip(pids.tolist(), counts.tolist(), strict=True)))
                    if len(self._counts) > _KEPT_MOST:
                        self._counts = Counter(dict(self._counts.most_common(_KEPT_MOST // 2)))

    def take(self) -> Sequence[int]:
        """The processes that were sampled since the last call, the most often first."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        return [pid for pid, _ in counts.most_common(NAMED_MOST)]
