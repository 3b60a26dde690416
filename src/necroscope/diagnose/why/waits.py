"""Who waited for a core: run delay of processes, less what was no waiting for a core.

The kernel's run delay of a task includes the time for which a CPU quota stopped its cgroup, and a wait is booked only
when it ends. So what a cgroup was stopped is taken off the waiting of its processes, and what is booked in the look
after a wait counts for the time before it. The recorder's own waiting is nobody's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from necroscope.case import Run
from necroscope.clock import NS
from necroscope.diagnose.why.own_start import recorder_pid
from necroscope.diagnose.why.scene import Held, Scene
from necroscope.query.rows import Row, rows_of
from necroscope.query.series import Series, series_of
from necroscope.query.starved import runs
from necroscope.store.catalog import Window

_LOOK_NS = 10 * NS
_COLUMNS = ["at_ns", "pid", "comm", "run_delay_ms", "cpu", "cgroup"]
_THROTTLED = "throttle_throttled_seconds"
_MOST_RUNS = 4
_STOPPED, _STOPPED_S, _MOST_OF_IT = 0.93, 3.0, 0.5
# Of a cgroup that was stopped for more than this share of the time nobody can say what its tasks waited for.
_UNCLEAR = 0.1


def stopped(scene: Scene, full: Sequence[Run]) -> list[Run]:
    """Cores that were not quite full before the symptom, and for which somebody waited nevertheless most of the time:
    the kernel stops a thread of real-time priority for a twentieth of each second, and nobody needs to have work just
    then. Those that are little more than one of the full times are left out."""
    found = runs(scene.times, _STOPPED, _STOPPED_S) if scene.counted else []
    other = [run for run in found if scene.in_time(run) and not any(_same(run, one) for one in full)]
    longest = sorted(other, key=lambda run: -run.seconds)[:_MOST_RUNS]
    waited = [(run, waited_for(scene, run, "")) for run in longest]
    return [run for run, share in waited if share is not None and share >= _MOST_OF_IT]


def _same(nearly: Run, full: Run) -> bool:
    """Whether a nearly full time of a core is little more than a full one that was found in it."""
    shared = min(nearly.to_ns, full.to_ns) - max(nearly.from_ns, full.from_ns)
    return nearly.cpu == full.cpu and shared >= _MOST_OF_IT * (nearly.to_ns - nearly.from_ns)


def waiting(scene: Scene, run: Run) -> list[tuple[str, int, float]]:
    """Processes whose waiting for a core during a run is known, by name, pid and seconds waited; the longest first."""
    return sorted(((*key, waited) for key, (waited, _) in _waits(scene, run).items()), key=lambda one: -one[2])


def waited_for(scene: Scene, run: Run, but: str) -> float | None:
    """The longest that anybody `but` one waited for the core of a run, as a share of the time that is known of him;
    None: of nobody, for long enough, is anything known."""
    least = min(1.0, 0.5 * run.seconds)
    known = [(waited, passed) for (name, _), (waited, passed) in _waits(scene, run).items() if name != but]
    return max((min(1.0, waited / passed) for waited, passed in known if passed >= least), default=None)


def _waits(scene: Scene, run: Run) -> dict[tuple[str, int], tuple[float, float]]:
    """By name and pid: seconds waited for the core of a run, and of how many seconds of the run that is known.

    A look tells what passed since the one before it: of that, at most what lies within the run counts. The first look
    at a process tells nothing.
    """
    looked = _looks(scene.store, (run.from_ns, run.to_ns + _LOOK_NS))
    scene.notes.extend(note for note in looked.notes if note not in scene.notes)
    own = {recorder_pid(one) for one in scene.told}
    found: dict[tuple[str, int], tuple[float, float]] = {}
    for row in looked.rows:
        within = (min(row["at_ns"], run.to_ns) - max(row["at_ns"] - _LOOK_NS, run.from_ns)) / NS
        if row["run_delay_ms"] is None or row["cpu"] != run.cpu or within <= 0 or row["pid"] in own:
            continue
        if _share_stopped(looked.quotas, row) > _UNCLEAR:
            continue
        key = str(row["comm"]), int(row["pid"])
        waited, passed = found.get(key, (0.0, 0.0))
        found[key] = waited + row["run_delay_ms"] / 1000, passed + within
    return {key: (min(waited, passed), passed) for key, (waited, passed) in found.items()}


@dataclass(frozen=True, slots=True)
class _Looks:
    """What was seen of processes in a window, of the cgroups that quotas stopped, and what could not be read."""

    rows: tuple[Row, ...]
    quotas: dict[str, Series]
    notes: tuple[str, ...]


@lru_cache(maxsize=8)
def _looks(store: Held, window: Window) -> _Looks:
    notes: list[str] = []
    wider = window[0] - _LOOK_NS, window[1]
    snapshot = store.snapshot(wider)
    rows = rows_of(snapshot, "processes", window, _COLUMNS, lambda row: row["run_delay_ms"] is not None, notes=notes)
    throttled = (
        series_of(snapshot, (_THROTTLED,), wider).get(_THROTTLED, [])
        if any(row["run_delay_ms"] for row in rows)
        else []
    )
    return _Looks(tuple(rows), {one.label("cgroup"): one for one in throttled}, tuple(notes))


def _share_stopped(quotas: dict[str, Series], row: Row) -> float:
    """For how much of the time a quota stopped a process's cgroup, or one above it, on any CPU."""
    window = row["at_ns"] - _LOOK_NS, row["at_ns"]
    rates = (one.rate(window) for path, one in quotas.items() if _above(path, str(row["cgroup"])))
    return max((rate for rate in rates if rate is not None), default=0.0)


def _above(path: str, cgroup: str) -> bool:
    return path not in ("", "/") and f"{cgroup}/".startswith(f"{path.rstrip('/')}/")
