"""What each core did between two looks at its counters, as rows: made while recording, because questions about cores
are the first ones and must not wait for counters to be put together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from necroscope.clock import NS
from necroscope.vocabulary.model import MODES, Sample

SIGNAL = "cpu_time_seconds"
_PART_OF = {"nice": "user", "iowait": "idle"}
# A look after a longer pause says nothing about the second before it: a recorder that was held up makes no row.
PAUSE_NS = 5 * NS
COARSE_NS = 6 * NS
"""Rows of a longer time are coarse: shares of an interval, which do not tell what any second of it was like."""
LONGEST_NS = 86_400 * NS
"""The longest interval that counters of another tool may tell about."""
_MS_NS = 1_000_000
# The kernel moves time between idle and iowait afterwards; a larger step back is a core that counts anew.
_JITTER_MS = 100


class CoreTimes:
    """Remembers the counters of the last look. Rows: at_ns, cpu, milliseconds passed, milliseconds of each mode."""

    def __init__(self) -> None:
        self._at_ns = 0
        self._before: dict[int, dict[str, float]] = {}

    def rows(self, at_ns: int, samples: Iterable[Sample], longest_ns: int = PAUSE_NS) -> list[tuple[Any, ...]]:
        """The rows of a look: of each core that the look before has seen, `longest_ns` ago at most."""
        now: dict[int, dict[str, float]] = {}
        for sample in samples:
            if sample.signal == SIGNAL and len(sample.labels) == 2 and sample.labels[0].isdigit():
                cpu, mode = int(sample.labels[0]), _PART_OF.get(sample.labels[1], sample.labels[1])
                modes = now.setdefault(cpu, {})
                modes[mode] = modes.get(mode, 0.0) + sample.value
        if not now:
            return []
        passed_ns = at_ns - self._at_ns
        found = list(self._between(at_ns, passed_ns, now)) if 0 < passed_ns <= longest_ns else []
        self._at_ns, self._before = at_ns, now
        return found

    def _between(self, at_ns: int, passed_ns: int, now: dict[int, dict[str, float]]) -> Iterator[tuple[Any, ...]]:
        for cpu, modes in now.items():
            before = self._before.get(cpu)
            if before is None:
                continue
            spent = [
                round(1000 * (modes[mode] - before[mode])) if mode in modes and mode in before else None
                for mode in MODES
            ]
            counted = [max(0, one) if one is not None else None for one in spent]
            if (spent[-1] or 0) < -_JITTER_MS or not any(counted):
                continue
            yield (at_ns // _MS_NS * _MS_NS, cpu, passed_ns // _MS_NS, *counted)
