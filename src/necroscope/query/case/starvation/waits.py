"""Who waited for a core: run delay of processes, less what was no waiting for a core.

The kernel's run delay of a task includes the time for which a CPU quota stopped its cgroup, and a wait is booked only
when it ends. So what a cgroup was stopped is taken off the waiting of its processes; where that is much, what is left
says nothing. What is booked in a look after a wait counts for the time before it. The recorder's own waiting is
nobody's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from necroscope.clock import NS
from necroscope.query.case.starvation.processes import LOOK_NS
from necroscope.query.rows import Row
from necroscope.query.series import Series
from necroscope.vocabulary.case import WAITS_MOST, Run, Wait

# Of a cgroup that was stopped for more than this share of the time nobody can say what its tasks waited for.
UNCLEAR = 0.1
_LEAST_KNOWN_S = 1.0
_HARDLY = 0.05
_LOOK_S = LOOK_NS / NS


@dataclass
class _Waited:
    """What is known of one process: seconds waited in looks at the run, of how many of its seconds these tell, how long
    it ran meanwhile on any core, and what the first later look with a wait booked of the time before the run's end.
    `pending_s`: seconds of looks while the core was still taken, at somebody who was not seen to wait and need not have
    run within the run: he may have slept, or be waiting still. `settled`: a look came after the core was free again."""

    seconds: float = 0.0
    known_s: float = 0.0
    pending_s: float = 0.0
    settled: bool = False
    ran_s: float = 0.0
    booked_later_s: float | None = None
    cgroup: str = ""


@dataclass(frozen=True)
class Quotas:
    """The cgroups that have a CPU quota, with the time for which it stopped them."""

    by_path: Mapping[str, Series] = field(default_factory=dict)

    @classmethod
    def of(cls, throttled: Iterable[Series]) -> Quotas:
        """From `throttle_throttled_seconds`."""
        return cls({one.label("cgroup"): one for one in throttled})

    def stopped(self, row: Row) -> float:
        """For how much of the time before a look a quota stopped a process's cgroup, or one above it, on any CPU."""
        window = row["at_ns"] - LOOK_NS, row["at_ns"]
        rates = (one.rate(window) for path, one in self.by_path.items() if _above(path, str(row["cgroup"])))
        return max((rate for rate in rates if rate is not None), default=0.0)


def waits_for(
    run: Run, until_ns: int, rows: Iterable[Row], quotas: Quotas, own: Collection[int | None]
) -> tuple[Wait, ...]:
    """Who waited for the core of a run, the longest first, by looks up to one after `until_ns`: when the core was free
    again. The first look at a process tells nothing."""
    found: dict[tuple[str, int], _Waited] = {}
    for row in rows:
        delay_ms, at_ns = row["run_delay_ms"], row["at_ns"]
        if delay_ms is None or row["cpu"] != run.cpu or row["pid"] in own or at_ns <= run.from_ns:
            continue
        if at_ns >= until_ns + LOOK_NS or (stopped := quotas.stopped(row)) > UNCLEAR:
            continue
        one = found.setdefault((str(row["comm"]), int(row["pid"])), _Waited())
        waited_s = max(0.0, delay_ms / 1000 - stopped * _LOOK_S)
        within_s = (min(at_ns, run.to_ns) - max(at_ns - LOOK_NS, run.from_ns)) / NS
        one.cgroup = str(row["cgroup"] or "") or one.cgroup
        ran_s = (row["user_ms"] + row["system_ms"]) / 1000
        before_s = max(0, run.from_ns - at_ns + LOOK_NS) / NS
        one.settled |= at_ns >= until_ns
        if within_s > 0 and at_ns < until_ns and max(ran_s - before_s, waited_s) <= _HARDLY * within_s:
            one.pending_s += within_s
        elif within_s > 0:
            one.seconds += waited_s
            one.known_s += within_s
            one.ran_s += ran_s
        elif waited_s > 0 and one.booked_later_s is None:
            one.booked_later_s = max(0.0, waited_s - (at_ns - run.to_ns) / NS)
    waits = [_wait(run, *who, one) for who, one in found.items() if one.known_s + one.pending_s * one.settled > 0]
    return tuple(sorted(waits, key=lambda one: -one.seconds)[:WAITS_MOST])


def _wait(run: Run, name: str, pid: int, one: _Waited) -> Wait:
    """Who neither ran nor waited, and then waited longer than has passed since, waited all along."""
    known_s = min(run.seconds, one.known_s + one.pending_s * one.settled)
    later_s = one.booked_later_s if one.booked_later_s is not None and one.ran_s <= _HARDLY * known_s else 0.0
    return Wait(name, pid, min(one.seconds + later_s, known_s), known_s, one.cgroup)


def longest_share(waits: Sequence[Wait], run: Run) -> float | None:
    """The longest that anybody waited, as a share of the time that is known of him; None: of nobody, for long enough,
    is anything known."""
    least_s = min(_LEAST_KNOWN_S, 0.5 * run.seconds)
    known = [one.seconds / one.known_s for one in waits if one.known_s >= least_s]
    return max(known, default=None)


def _above(path: str, cgroup: str) -> bool:
    return path not in ("", "/") and f"{cgroup}/".startswith(f"{path.rstrip('/')}/")
