"""What a recording has of one window: counts, leaks, symptoms, rates, jobs, and how well it was watched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from necroscope.clock import NS
from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.case.symptom import complaint, symptoms_in
from necroscope.query.cores.core_time import core_time
from necroscope.query.events.landmarks import events
from necroscope.query.leaks.facts import read_leak_facts
from necroscope.query.rows import rows_of
from necroscope.query.series import Series, series_of
from necroscope.vocabulary.conclusions.validation import Jobs, Side
from necroscope.vocabulary.event import Event, Window
from necroscope.vocabulary.verdict import Complaint

_SIGNALS = (
    "memcg_zombies",
    "memcg_leaked_directories",
    "systemd_units",
    "throttle_throttled_seconds",
    "pressure_stalled_seconds",
    "vmstat_pgscan_direct",
    "vmstat_pgscan_kswapd",
    "vmstat_allocstall*",
    "vmstat_compact_stall",
    "vmstat_oom_kill",
)
_JOB_ENDS = {
    "job-started": "started",
    "job-finished": "succeeded",
    "job-succeeded": "succeeded",
    "job-failed": "failed",
}
_SEES = {"sensor-blind": True, "sensor-sees": False, "perf-unavailable": True, "perf-sampling": False}


@dataclass(frozen=True, slots=True)
class SideReader:
    """Reads sides of one store; `notes` tell of damage."""

    store: FixedStore
    recorded: Window
    notes: list[str]

    def read(self, window: Window) -> Side:
        """One side, without starved cores: whether somebody waited for one takes a case."""
        snapshot = self.store.snapshot(window)
        signals = series_of(snapshot, _SIGNALS, window, self.notes)
        told = events(snapshot, window, kinds=lambda kind: not kind.startswith("cgroup-"), notes=self.notes)
        return Side(
            window,
            looks=self._looks(window, signals),
            directories=_counts(signals.get("memcg_leaked_directories", ())),
            leaks=read_leak_facts(self.store, window[1], window, self.notes),
            symptoms=self.symptoms(window),
            rates=tuple(sorted(_rates(signals, window).items())),
            jobs=_jobs(told),
            covered=self._covered(window),
            systemd_looks=len({at for one in signals.get("systemd_units", ()) for at in one.at_ns.tolist()}),
            blind=self._blind(window),
        )

    def symptoms(self, window: Window) -> tuple[Complaint, ...]:
        """What somebody suffered from within a window."""
        found = symptoms_in(self.store.snapshot(window), window, self.notes)
        return tuple(complaint(one) for one in found)

    def _looks(self, window: Window, signals: dict[str, list[Series]]) -> tuple[tuple[int, int], ...]:
        """How many zombies over time: of looks at their number, else of looks at where they are."""
        counted = _counts(signals.get("memcg_zombies", ()))
        if len(counted) > 1:
            return counted
        totals: Counter[int] = Counter()
        for row in rows_of(self.store.snapshot(window), "zombies", window, ["at_ns", "zombies"], notes=self.notes):
            totals[row["at_ns"]] += int(row["zombies"])
        return tuple(sorted(totals.items())) if len(totals) > len(counted) else counted

    def _covered(self, window: Window) -> float:
        wide = window[0] - 2 * NS, window[1] + 2 * NS
        times = core_time(self.store.snapshot(wide), [wide], self.notes)
        seconds = max(1, window[1] - window[0]) / NS
        return min(1.0, times.close().spent_in(window).covered_s / seconds)

    def _blind(self, window: Window) -> tuple[str, ...]:
        """Sensors that had said by the end that they cannot see, and not that they can again."""
        until = self.recorded[0], window[1]
        columns = ["at_ns", "kind", "subject"]
        rows = rows_of(self.store.snapshot(until), "events", until, columns, lambda row: row["kind"] in _SEES)
        last = {row["subject"] or "perf": _SEES[row["kind"]] for row in rows}
        return tuple(sorted(sensor for sensor, blind in last.items() if blind))


def _counts(series: Sequence[Series]) -> tuple[tuple[int, int], ...]:
    found = {
        at: int(value)
        for one in series
        if not one.labels
        for at, value in zip(one.at_ns.tolist(), one.value, strict=True)
    }
    return tuple(sorted(found.items()))


def _rates(signals: dict[str, list[Series]], window: Window) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, series in signals.items():
        if name.startswith(("memcg_", "systemd_")):
            continue
        for one in series:
            rate = one.rate(window)
            key = _key(name, one)
            if rate is not None and key:
                found[key] = found.get(key, 0.0) + rate
    return found


def _key(name: str, series: Series) -> str:
    if name == "pressure_stalled_seconds":
        return f"pressure_{series.label('resource')}" if series.label("who") == "some" else ""
    return "vmstat_allocstall" if name.startswith("vmstat_allocstall") else name


def _jobs(told: Iterable[Event]) -> Jobs:
    counted = Counter(_JOB_ENDS[one.kind] for one in told if one.kind in _JOB_ENDS)
    return Jobs(counted["started"], counted["succeeded"], counted["failed"])
