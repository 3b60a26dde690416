"""How fast a core was, and how busy the one that shares its hardware: absent where the machine does not tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from necroscope.query.case.starvation.numbers import Numbers, of_core
from necroscope.query.cores.core_time import CoreTime
from necroscope.query.cores.starved import mean_busy
from necroscope.query.series import Series
from necroscope.vocabulary.case import Run
from necroscope.vocabulary.event import Window

_FREQUENCIES = ("cpu_frequency_hertz", "cpu_frequency_max_hertz")


def speed_of(signals: Mapping[str, list[Series]], times: CoreTime, run: Run, quiet: Sequence[Window]) -> Numbers:
    """`cpu_frequency_hertz_core`, `cpu_frequency_max_hertz_core` and `sibling_busy`, each with `_before`."""
    found: Numbers = {}
    for name in _FREQUENCIES:
        own = of_core(signals.get(name, ()), run.cpu)
        _both(
            found,
            f"{name}_core",
            _mean([value for one in own if (value := one.mean(run.window)) is not None]),
            [value for window in quiet for one in own if (value := one.mean(window)) is not None],
        )
    sibling = next(iter(of_core(signals.get("cpu_sibling", ()), run.cpu)), None)
    if sibling is not None and sibling.value.size:
        other = times.of(frozenset({int(sibling.value[-1])}))
        before = [busy for window in quiet if (busy := mean_busy(other, window)) is not None]
        _both(found, "sibling_busy", mean_busy(other, run.window), before)
    return found


def _both(found: Numbers, name: str, now: float | None, before: Sequence[float]) -> None:
    if now is not None:
        found[name] = now
        if (mean := _mean(before)) is not None:
            found[f"{name}_before"] = mean


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
