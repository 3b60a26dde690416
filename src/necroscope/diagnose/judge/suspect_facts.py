"""The numbers that hypotheses are tested on: the counters of the time, and those of the core and of who was on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from necroscope.diagnose.hypotheses.catalogue import Catalogue
from necroscope.diagnose.hypotheses.stack_match import share_in
from necroscope.diagnose.judge.candidates import waited_share
from necroscope.vocabulary.case import LineUp, Quota, Run, Starvation, Suspect

Facts = dict[str, float]
QUOTA_STOPPED = "quota_stopped"
"""How many seconds of each second a quota stopped the cgroup that it stopped most."""
THROTTLED = "throttle_throttled_seconds"
"""Seconds for which quotas stopped cgroups, all of them together, a second."""
_COMING_AND_GOING = 8.0
_STARTS = 3
_CORE_MODES = ("user", "system", "irq", "softirq", "steal")


def facts_of(one: Starvation, suspect: Suspect, catalogue: Catalogue) -> Facts:
    """All of them, by name; what is not known is absent. docs/mechanisms.md lists them."""
    run = one.run
    core = {f"core_{mode}": run.share(mode) for mode in _CORE_MODES}
    own = {
        "suspect_share": suspect.share,
        "suspect_seconds": suspect.seconds,
        "kernel_share": suspect.kernel,
        "user_share": 1.0 - suspect.kernel,
        "pids": float(suspect.processes),
        "suspect_starts": suspect.processes / max(run.seconds, 1e-9),
        "samples_missing": max(0.0, 1.0 - one.line_up.sampled),
        "starved_s": run.seconds,
    }
    measured = {name: share_in(suspect.stacks, functions) for name, functions in catalogue.measures.items()}
    starts = _starts(one.numbers, run, suspect, one.line_up)
    facts = {**one.numbers, **core, **own, **measured, **starts, **_each_start(starts, run, suspect)}
    if (waited := waited_share(one.waits, run, suspect)) is not None:
        facts["victim_waited"] = waited
    outside, handled = facts.get("nic_rx_packets"), facts.get("softnet_processed_packets_core")
    if outside is not None and handled:
        facts["packets_from_outside"] = outside / handled
    if (quota := most_risen(one)) is not None:
        facts[QUOTA_STOPPED] = quota.stopped
        facts |= {f"{QUOTA_STOPPED}_before": quota.before} if quota.before is not None else {}
    elif THROTTLED in facts:
        # Quotas there are, and none of them stopped anybody.
        facts[QUOTA_STOPPED] = facts[f"{QUOTA_STOPPED}_before"] = 0.0
    return facts


def most_risen(one: Starvation) -> Quota | None:
    """The cgroup that quotas stopped for most, beyond quiet times."""
    return max(one.quotas, key=lambda quota: quota.stopped - (quota.before or 0.0), default=None)


def _each_start(starts: Mapping[str, float], run: Run, suspect: Suspect) -> Facts:
    """What each start took of the core: little where there are many, much where each one has much to copy."""
    count = max(float(suspect.processes), starts.get("execs", 0.0) * run.seconds)
    return {"seconds_per_start": suspect.seconds / count} if count >= _STARTS else {}


def _starts(numbers: Mapping[str, float], run: Run, suspect: Suspect, line_up: LineUp) -> Facts:
    """Starts of processes, as far as they are the suspect's business: the kernel counts those of the whole node. What
    starts in quiet times as well is others'.

    Where hardly any process came and went in the suspect's cgroup (without one, on its core), they are others'.
    """
    if "execs" not in numbers:
        return {}
    seen = _processes(suspect, line_up.suspects) / max(run.seconds, 1e-9)
    more = max(seen, numbers["execs"] - numbers.get("execs_before", 0.0))
    return {"execs": more if seen >= _COMING_AND_GOING else min(more, seen)}


def _processes(suspect: Suspect, suspects: Sequence[Suspect]) -> int:
    known = suspect.cgroup not in ("", "/")
    near = [one for one in suspects if not one.context and (not known or one.cgroup == suspect.cgroup)]
    return max(suspect.processes, sum(one.processes for one in near))
