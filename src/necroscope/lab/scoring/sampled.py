"""What the recorder's own samples show of an incident: kernel functions on the core that was taken."""

from __future__ import annotations

from collections.abc import Iterable

from necroscope.lab.scenario import Show
from necroscope.lab.stage import Stage


def functions_sampled(text: str, names: Iterable[str], at_least: float) -> Show:
    """Of the samples of the core in the episodes, idle ones apart, this share had one of the functions in its stack."""
    wanted = frozenset(names)
    return Show(f"samples of that core that show {text}", lambda stage: share_of(stage, wanted), at_least)


def share_of(stage: Stage, names: frozenset[str], cpu: int | None = None) -> float:
    """The share of a core's samples in the episodes in which one of the functions is; 0 where there are no samples."""
    from necroscope.query.profile.profile import profile
    from necroscope.query.samples.kernel_frames import kernel_functions
    from necroscope.query.select import Select
    from necroscope.store.read.reader import Store

    core = frozenset({stage.cpu if cpu is None else cpu})
    store, found, total = Store(stage.store), 0.0, 0.0
    for one in stage.report.episodes:
        counts = profile(store, Select((one.began_ns, one.ended_ns), cpus=core)).counts
        shows = [not names.isdisjoint(kernel_functions(stack)) for stack in counts.stacks]
        found += sum(weight for stack, weight in zip(counts.stack, counts.weight, strict=True) if shows[stack])
        total += float(counts.weight.sum())
    return float(found / total) if total else 0.0
