"""What the recording has about things that pile up: cgroups that were left behind, counts over time, restarts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from necroscope.clock import NS
from necroscope.diagnose.why.identity import Owners
from necroscope.diagnose.why.scene import Held
from necroscope.query.chunks import chunks
from necroscope.query.coverage import joined
from necroscope.query.lives import Life, lives_of
from necroscope.query.rows import Row, rows_of
from necroscope.query.select import Select
from necroscope.query.series import Series, series_of
from necroscope.store.catalog import Window
from necroscope.store.reader import Snapshot

_LOOK_BACK_NS = 2 * 3600 * NS
_HISTORY_NS = 14 * 86_400 * NS
_UNIT = [
    "at_ns",
    "name",
    "active_state",
    "result",
    "restarts",
    "exit_status",
    "restart_policy",
    "unit_file_state",
    "control_group",
    "starts",
    "successes",
    "failures",
    # Not told by every recorder.
    "wanted_by",
    "triggered_by",
    "preset",
]
_RESTARTS = frozenset({"unit-start", "unit-failure", "unit-restart", "container-restart"})
_MKDIR = frozenset({"cgroup:cgroup_mkdir", "cgroup:cgroup_rmdir"})
# How the recorder tells restarts: "3 more, 17 in all: ...", and starts: "4 starts since the look before".
_MORE = re.compile(r"(\d+) (?:more, |starts )")
_MAKER_WINDOWS = 24
_FEW_LOOKS = 3


@dataclass(frozen=True, slots=True)
class Maker:
    """A process that made or removed cgroups."""

    pid: int
    name: str
    cgroup: str


@dataclass(frozen=True, slots=True)
class Leaks:
    """Everything about leaks around a symptom. `span` is the time that lives and restarts are about."""

    span: Window
    hierarchy: int | None
    lives: tuple[Life, ...]
    zombies: tuple[Row, ...]
    """Counts by parent, of all the recording."""
    names: tuple[Row, ...]
    units: tuple[Row, ...]
    """The last look at each unit up to the symptom."""
    first_units: tuple[Row, ...]
    restarts: tuple[Row, ...]
    containers: tuple[Series, ...]
    makers: dict[int, Maker]
    counted: tuple[tuple[int, int], ...] = ()
    """When, and how many zombies in all: of the last two hours, where the counts by parent are too few."""
    called: Mapping[str, int] = field(default_factory=dict)
    """How many zombies were called alike while they lived, by path, at the last look at their names."""

    @property
    def owners(self) -> Owners:
        """Units and containers that the recording tells of."""
        return Owners(
            tuple((row["name"], row["control_group"]) for row in self.units if row["control_group"]),
            tuple((one.label("container"), one.label("id")) for one in self.containers),
            bool(self.containers),
        )

    def restarts_of(self, name: str) -> list[tuple[int, int]]:
        """When restarts of a unit or container were noticed (of units that nobody restarts: starts), and how many."""
        mine = [row for row in self.restarts if row["subject"] == name]
        again = [row for row in mine if row["kind"] in ("unit-restart", "container-restart")]
        rows = again or [row for row in mine if row["kind"] == "unit-start"]
        return sorted((row["at_ns"], int(more[1]) if (more := _MORE.match(row["text"])) else 1) for row in rows)

    def exact_restarts_of(self, name: str) -> list[int]:
        """Starts and ends to which systemd gave a time; what only a look has noticed is seconds late."""
        kinds = ("unit-start", "unit-failure")
        return sorted({row["at_ns"] for row in self.restarts if row["subject"] == name and row["kind"] in kinds})

    def container_restarts(self) -> dict[str, int]:
        """How often each container was restarted in the time that was looked at."""
        found: dict[str, int] = {}
        for row in self.restarts:
            if row["kind"] == "container-restart" and (more := _MORE.match(row["text"])):
                found[row["subject"]] = found.get(row["subject"], 0) + int(more[1])
        return found

    def in_memory(self, life: Life) -> bool:
        """Whether a cgroup belongs to the hierarchy with the memory controller; where none is known, any does."""
        return self.hierarchy is None or life.hierarchy == self.hierarchy


def read_leaks(store: Held, at_ns: int, recorded: Window, notes: list[str]) -> Leaks:
    """Read it: two hours of lives and restarts before a symptom, two weeks of counts."""
    span = max(recorded[0], at_ns - _LOOK_BACK_NS), min(recorded[1], at_ns + 30 * NS)
    snapshot = store.snapshot(span)
    lives = lives_of(snapshot, span, notes)
    long = max(0, at_ns - _HISTORY_NS), span[1]
    gauges = series_of(
        store.snapshot((at_ns - 120 * NS, span[1])), ("memcg_hierarchy", "container*"), (at_ns - 120 * NS, span[1])
    )
    hierarchy = gauges.get("memcg_hierarchy")
    units = rows_of(snapshot, "units", span, _UNIT, most=200_000, notes=notes)
    restarts = rows_of(
        snapshot, "events", span, ["at_ns", "kind", "subject", "text"], lambda row: row["kind"] in _RESTARTS, 100_000
    )
    zombies = rows_of(store.snapshot(long), "zombies", long, ["at_ns", "parent", "zombies"], notes=notes)
    columns = ["at_ns", "path", "family", "bytes", "pinned_by"]
    names = rows_of(snapshot, "zombie_names", span, columns, most=50_000, notes=notes)
    return Leaks(
        span,
        int(hierarchy[0].value[-1]) if hierarchy else None,
        tuple(lives),
        tuple(zombies),
        tuple(names),
        tuple({row["name"]: row for row in units}.values()),
        tuple({row["name"]: row for row in reversed(units)}.values()),
        tuple(restarts),
        (*gauges.get("container_restarts", []), *gauges.get("container_known", [])),
        _makers(store, lives),
        _counted(snapshot, span) if len({row["at_ns"] for row in zombies}) < _FEW_LOOKS else (),
        _called(store, (at_ns - _LOOK_BACK_NS, span[1])),
    )


def _counted(snapshot: Snapshot, span: Window) -> tuple[tuple[int, int], ...]:
    """Looks at the number of all zombies, which come more often than looks at where they are."""
    series = [one for one in series_of(snapshot, ("memcg_zombies",), span).get("memcg_zombies", []) if not one.labels]
    return tuple((at, int(value)) for one in series for at, value in zip(one.at_ns.tolist(), one.value, strict=True))


def _called(store: Held, window: Window) -> dict[str, int]:
    """The last look at names; the first one is taken before there are samples."""
    series = series_of(store.snapshot(window), ("memcg_zombies_called",), window).get("memcg_zombies_called", [])
    last_ns = max((int(one.at_ns[-1]) for one in series if one.at_ns.size), default=0)
    return {one.label("path"): int(one.value[-1]) for one in series if one.at_ns.size and one.at_ns[-1] == last_ns}


def _makers(store: Held, lives: Iterable[Life]) -> dict[int, Maker]:
    """Who the pids that made cgroups are, by the samples that their making left. A few windows tell enough."""
    made: dict[int, int] = {}
    for life in lives:
        if life.maker is not None and life.made_ns is not None:
            made.setdefault(life.maker, life.made_ns)
    if not made:
        return {}
    # Evenly spread over the processes: of many that took turns, some tell who they all are.
    pids = sorted(made, key=lambda pid: made[pid])
    picked = {pids[place * (len(pids) - 1) // (_MAKER_WINDOWS - 1)] for place in range(_MAKER_WINDOWS)}
    windows = joined(((made[pid] - NS // 10, made[pid] + NS // 10) for pid in picked), gap_ns=0)
    first, *others = windows
    snapshot = store.snapshot((windows[0][0], windows[-1][1]))
    found: dict[int, Maker] = {}
    for chunk in chunks(snapshot, Select(first, events=_MKDIR), others=others, notes=[]):
        for row in np.unique(chunk.pid, return_index=True)[1].tolist():
            pid = int(chunk.pid[row])
            found[pid] = Maker(
                pid, chunk.comm.names[chunk.comm.codes[row]], chunk.cgroup.names[chunk.cgroup.codes[row]]
            )
    return found
