"""Numbers of the starved core itself: how fast it was, how busy the one that shares its hardware, what it usually does.
Absent where the machine does not say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from necroscope.query.case.starvation.numbers import Numbers, of_core
from necroscope.query.cores.core_time import CoreTime
from necroscope.query.cores.starved import mean_busy
from necroscope.query.series import Series
from necroscope.vocabulary.case import Run
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.model import MODES

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


def usual_modes(times: CoreTime, run: Run, quiet: Sequence[Window]) -> Numbers:
    """`core_user_before`, `core_steal_before` and so on; nothing where no counter covers quiet times."""
    own = times.close().of(frozenset({run.cpu}))
    spent = np.zeros(len(MODES))
    for window in quiet:
        near = own.within(window)
        spent += (near.spent * near.share_in(window)[:, None]).sum(axis=0)
    total = float(spent.sum())
    if not total:
        return {}
    return {
        f"core_{mode}_before": float(value) / total for mode, value in zip(MODES, spent, strict=True) if mode != "idle"
    }


def _both(found: Numbers, name: str, now: float | None, before: Sequence[float]) -> None:
    if now is not None:
        found[name] = now
        if (mean := _mean(before)) is not None:
            found[f"{name}_before"] = mean


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
