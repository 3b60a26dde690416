"""Where an axis has its figures: round numbers, round times of day in UTC."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from necroscope.clock import NS

_MS = 1_000_000
_STEPS_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400)
_STEPS_NS = tuple(step * _MS for step in _STEPS_MS) + tuple(step * NS for step in _STEPS_S)


def time_ticks(from_ns: int, to_ns: int, most: int) -> list[tuple[int, str]]:
    """At most `most` round instants from `from_ns` up to `to_ns`, with their labels."""
    span = max(1, to_ns - from_ns)
    step = next((one for one in _STEPS_NS if span // one < most), 0)
    if not step:
        step = 86_400 * NS * -(-span // (86_400 * NS * max(1, most)))
    first = -(-from_ns // step) * step
    return [(at_ns, time_label(at_ns, step)) for at_ns in range(first, to_ns, step)][: max(0, most)]


def time_label(at_ns: int, step_ns: int) -> str:
    """As much of the time of day as the step calls for."""
    moment = datetime.fromtimestamp(at_ns // NS, UTC)
    if step_ns < NS:
        return f"{moment:%H:%M:%S}.{at_ns % NS // _MS:03d}"
    if step_ns < 60 * NS:
        return f"{moment:%H:%M:%S}"
    return f"{moment:%H:%M}" if step_ns < 86_400 * NS else f"{moment:%m-%d}"


def number_ticks(top: float, most: int) -> list[float]:
    """Round numbers from 0 to `top`, about `most` of them."""
    if not top > 0 or not math.isfinite(top):
        return [0.0]
    rough = top / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    return [step * place for place in range(int(top / step + 1e-9) + 1)]
