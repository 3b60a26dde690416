"""Cgroups that their CPU quota stops: slow without any core being busy."""

from __future__ import annotations

from collections.abc import Iterator

from necroscope.config import CpuLimits
from necroscope.diagnose.fact import Quotas
from necroscope.quantity import count, share, span
from necroscope.vocabulary.model import Evidence, Finding, Subject

# A hundred periods are ten seconds of running at the usual 100 ms.
_ENOUGH_PERIODS = 100


def cpu_quota(quotas: Quotas, limits: CpuLimits) -> Iterator[Finding]:
    """Finds cgroups whose CPU quota was used up in a large share of its periods."""
    for quota in quotas.items:
        if quota.periods >= _ENOUGH_PERIODS and quota.throttled >= limits.throttled_periods * quota.periods:
            part = share(quota.throttled / quota.periods)
            text = f"{count(quota.throttled)} of {count(quota.periods)} periods, {span(quota.throttled_s)} in all"
            yield Finding(
                "cpu-quota",
                "info",
                f"cgroup {quota.cgroup} is stopped by its CPU quota in {part} of its periods",
                Subject("cgroup", quota.cgroup),
                (Evidence(text, "cpu.stat", quota.throttled, "periods"),),
                ("raise the CPU limit, or see that fewer threads share it",),
            )
