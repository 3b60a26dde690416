"""A core around a symptom, second by second."""

from __future__ import annotations

from necroscope.clock import NS
from necroscope.query.cores.core_time import CoreTime
from necroscope.vocabulary.model import MODES
from necroscope.vocabulary.verdict import Strip

BEFORE_S, AFTER_S = 40, 15
_KERNEL = [MODES.index(mode) for mode in ("system", "irq", "softirq")]
_IDLE = MODES.index("idle")
_Shares = tuple[float | None, ...]


def strip_of(close: CoreTime, at_ns: int, cpu: int) -> Strip:
    """The core around a moment; seconds that no counter covers are None."""
    from_ns = (at_ns // NS - BEFORE_S) * NS
    busy, system = _by_second(close.of(frozenset({cpu})), from_ns)
    return Strip(cpu, from_ns, busy, system, _by_second(close, from_ns)[0])


def _by_second(times: CoreTime, from_ns: int) -> tuple[_Shares, _Shares]:
    column = (times.at_ns - times.passed_ms * 500_000 - from_ns) // NS
    busy: list[float | None] = []
    system: list[float | None] = []
    for number in range(BEFORE_S + AFTER_S):
        spent = times.spent[column == number]
        total = int(spent.sum())
        busy.append(round(1 - int(spent[:, _IDLE].sum()) / total, 3) if total else None)
        system.append(round(int(spent[:, _KERNEL].sum()) / total, 3) if total else None)
    return tuple(busy), tuple(system)
