"""How often units and containers started, restarted and ended within a recording, and what their processes used.

Counts are those of recorders, which begin anew with each of them: what they grew by is added up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from necroscope.clock import NS
from necroscope.query.extent import recorded
from necroscope.query.leaks.facts import read_leak_facts
from necroscope.query.rows import Row, rows_of
from necroscope.query.sealed import again
from necroscope.query.series import Series, series_of
from necroscope.store.read.reader import Store
from necroscope.vocabulary.conclusions.audit import Runs
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.leak_facts import LeakFacts

RUNS_NS, USE_NS = 24 * 3600 * NS, 2 * 3600 * NS
_UNIT_ROWS, _USE_ROWS = 100_000, 150_000
_USED = ["at_ns", "cgroup", "user_ms", "system_ms"]
_COUNTED = ("starts", "successes", "failures", "restarts")


@dataclass(frozen=True, slots=True)
class History:
    """What a recording tells. `window` is what the runs are about; processes were looked at over `used_s`: the cores'
    time by cgroup, of the processes that used most."""

    window: Window
    units: dict[str, Runs] = field(default_factory=dict)
    containers: dict[str, Runs] = field(default_factory=dict)
    used: dict[str, float] = field(default_factory=dict)
    used_s: float = 0.0
    leaks: LeakFacts = field(default_factory=LeakFacts)


def read_history(store: Store, notes: list[str]) -> History | None:
    """The last day of a recording; None where it is empty. `notes` tell of damage."""
    return again(lambda: _read(store, notes))


def _read(store: Store, notes: list[str]) -> History | None:
    whole = recorded(store.snapshot(), notes)
    if whole is None:
        return None
    window = max(whole[0], whole[1] - RUNS_NS), whole[1]
    lately = max(whole[0], whole[1] - USE_NS), whole[1]
    snapshot, seconds = store.snapshot(window), (window[1] - window[0]) / NS
    columns = ["at_ns", "name", *_COUNTED]
    rows = rows_of(snapshot, "units", window, columns, most=_UNIT_ROWS, notes=notes)
    uses = rows_of(store.snapshot(lately), "processes", lately, _USED, None, _USE_ROWS, notes)
    return History(
        window,
        runs_of(rows, seconds),
        _containers(series_of(snapshot, ("container_restarts", "container_deaths"), window, notes), seconds),
        _used(uses),
        (lately[1] - lately[0]) / NS,
        read_leak_facts(store, whole[1], whole, notes),
    )


def runs_of(rows: Iterable[Row], seconds: float) -> dict[str, Runs]:
    """By unit, what its counts grew by; of a unit that was told once, its counts as they were."""
    by_name: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_name[row["name"]].append(row)
    return {name: _runs(mine, seconds) for name, mine in by_name.items()}


def _runs(rows: Sequence[Row], seconds: float) -> Runs:
    grown = {one: _grown([row[one] for row in rows], one != "restarts") for one in _COUNTED}
    return Runs(grown["starts"], grown["successes"], grown["failures"], grown["restarts"], seconds, "recording")


def _grown(values: Sequence[int | None], from_zero: bool) -> int | None:
    """The sum of all steps up; a count that fell began anew. With `from_zero`, the first value is a step as well."""
    told = [value for value in values if value is not None]
    if not told:
        return None
    steps = [after - before if after >= before else after for before, after in pairwise(told)]
    return sum(steps) + (told[0] if from_zero else 0)


def _containers(found: dict[str, list[Series]], seconds: float) -> dict[str, Runs]:
    runs: dict[str, Runs] = {}
    for name in ("container_deaths", "container_restarts"):
        for one in found.get(name, ()):
            # Deaths are those of the last hour at each look: the most that there ever were is what is sure.
            values = [int(value) for value in one.value.tolist()]
            times = _grown(values, False) if name == "container_restarts" else max(values, default=0)
            if times or one.label("container") not in runs:
                runs[one.label("container")] = Runs(restarts=times, window_s=seconds, source="recording")
    return runs


def _used(rows: Iterable[Row]) -> dict[str, float]:
    used: dict[str, float] = defaultdict(float)
    for row in rows:
        if row["cgroup"]:
            used[row["cgroup"]] += (row["user_ms"] + row["system_ms"]) / 1000
    return dict(used)
