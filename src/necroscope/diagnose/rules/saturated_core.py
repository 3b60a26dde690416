"""One core with no idle time, which the average of all cores hides."""

from __future__ import annotations

from collections.abc import Iterator

from necroscope.config import CpuLimits
from necroscope.diagnose.fact import Cores
from necroscope.quantity import share, span
from necroscope.vocabulary.model import Evidence, Finding, Subject

# A starved core is one that is busy for seconds; a shorter look can only mention it.
_LASTING_S = 2.0
_MOSTLY = 0.9
_SPLIT = ("system", "irq", "softirq", "user", "steal")


def saturated_core(cores: Cores, limits: CpuLimits) -> Iterator[Finding]:
    """Finds cores that were busy throughout the look; a warning when it lasted for seconds, mostly in the kernel."""
    average = sum(core.busy for core in cores.items) / len(cores.items) if cores.items else 0.0
    for core in cores.items:
        if core.busy < limits.busy or (average >= _MOSTLY and len(cores.items) > 1):  # busy altogether: nothing hides
            continue
        kernel = core.system + core.irq + core.softirq
        lasting = cores.window_s >= _LASTING_S and kernel >= _MOSTLY
        split = ", ".join(f"{name} {share(getattr(core, name))}" for name in _SPLIT)
        yield Finding(
            "saturated-core",
            "warning" if lasting else "info",
            f"core {core.cpu} had no idle time for {span(cores.window_s)}, while all cores average {share(average)}",
            Subject("cpu", str(core.cpu)),
            (Evidence(split, "/proc/stat", round(core.busy, 3), "share of time"),),
            ("look longer to tell a burst from starvation: necroscope scan --for 5s",),
        )
