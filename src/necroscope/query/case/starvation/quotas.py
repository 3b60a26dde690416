"""The cgroups that a CPU quota stopped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from necroscope.query.case.starvation.numbers import Numbers
from necroscope.query.series import Series
from necroscope.vocabulary.case import QUOTAS_MOST, Quota, Run
from necroscope.vocabulary.event import Window

THROTTLED = "throttle_throttled_seconds"


def quotas_of(throttled: Iterable[Series], run: Run, quiet: Sequence[Window]) -> tuple[Quota, ...]:
    """Of many, those that were stopped most."""
    found = []
    for one in throttled:
        stopped = one.rate(run.window)
        if stopped:
            before = [rate for window in quiet if (rate := one.rate(window)) is not None]
            found.append(Quota(one.label("cgroup"), stopped, sum(before) / len(before) if before else None))
    return tuple(sorted(found, key=lambda one: (-one.stopped, one.cgroup))[:QUOTAS_MOST])


def stopped_most(quotas: Sequence[Quota]) -> Numbers:
    """How long the cgroup that was stopped most was stopped, as numbers."""
    if not quotas:
        return {}
    first = quotas[0]
    before = {} if first.before is None else {"quota_stopped_before": first.before}
    return {"quota_stopped": first.stopped, **before}
