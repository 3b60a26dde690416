"""What stands above a picture: which window, out of how much, from how many samples."""

from __future__ import annotations

from dataclasses import dataclass

from necroscope.clock import iso
from necroscope.quantity import plural, span
from necroscope.query.profile.flame import Flame
from necroscope.show.plain import plain
from necroscope.vocabulary.event import Window


@dataclass(frozen=True, slots=True)
class Caption:
    """What a layout does not know of itself. `of_cores` is how many cores there were: the denominator of shares."""

    title: str = ""
    window: Window | None = None
    of_cores: float | None = None
    baseline: str = ""


def cores(number: float) -> str:
    """0.042 cores, 1.5 cores, 12 cores."""
    if number >= 10:
        return f"{number:.1f}"
    return f"{number:.2f}" if abs(number) >= 0.1 else f"{number:.3f}"


def utc(window: Window) -> str:
    """2026-01-02 03:04:05 to 03:04:10 UTC; the date is said twice only when it differs."""
    begin, end = (iso(at_ns).replace("T", " ").removesuffix("Z").removesuffix(".000") for at_ns in window)
    return f"{begin} to {end[11:] if begin[:10] == end[:10] else end} UTC"


def flame_facts(flame: Flame, caption: Caption) -> list[str]:
    """How much, out of what, when: the parts of the line above a flame graph."""
    of = f" of {caption.of_cores:g}" if caption.of_cores is not None else ""
    facts = [f"{cores(flame.cores)}{of} cores busy"]
    before = next((box.before for box in flame.boxes if not box.depth), None)
    if flame.differential and before is not None:
        facts.append(f"{cores(before)} before{f' ({plain(caption.baseline)})' if caption.baseline else ''}")
    facts += [plural(flame.samples, "sample"), span(flame.seconds)]
    if caption.window is not None:
        facts.append(utc(caption.window))
    return facts
