"""Facts about leaks, read from a recording around one moment: two hours of lives and restarts before it, two weeks of
counts. Everything is read once and bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from necroscope.clock import NS
from necroscope.query.cgroup_lifetimes import LIFE, LIVES, Life, lives
from necroscope.query.leaks.lifetimes import left_of
from necroscope.query.leaks.makers import makers_of
from necroscope.query.leaks.names import Counted, families_of
from necroscope.query.leaks.restarts import KINDS, restarts_of
from necroscope.query.leaks.zombies import below_of, growth_of, looks_of
from necroscope.query.rows import Row, rows_of
from necroscope.query.series import Series, series_of
from necroscope.store.read.reader import Snapshot, Store
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.leak_facts import LeakContainer, LeakFacts, LeakUnit, Leftovers

_LOOK_BACK_NS = 2 * 3600 * NS
_HISTORY_NS = 14 * 86_400 * NS
_AFTER_NS = 30 * NS
_LATELY_NS = 120 * NS
_YOUNG_NS = 10 * NS
_UNITS_MOST = 200
_IDS_MOST = 24
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
    "main_pid",
    "starts",
    "successes",
    "failures",
    # Not every recorder writes it.
    "wanted_by",
    "triggered_by",
    "preset",
]
_EVENT, _KINDS = [*LIFE, "count"], LIVES | KINDS
_EVENTS_MOST = 300_000


def read_leak_facts(store: Store, at_ns: int, recorded: Window, notes: list[str]) -> LeakFacts:
    """What a store has about leaks around a moment; `notes` gets damage."""
    span = max(recorded[0], at_ns - _LOOK_BACK_NS), min(recorded[1], at_ns + _AFTER_NS)
    snapshot = store.snapshot(span)
    gauges = _gauges(store, (at_ns - _LATELY_NS, span[1]))
    hierarchy = gauges.get("memcg_hierarchy")
    events = rows_of(snapshot, "events", span, _EVENT, lambda row: row["kind"] in _KINDS, _EVENTS_MOST, notes)
    every = lives(row for row in events if row["kind"] in LIVES)
    mine = _of_memory(every, int(hierarchy[0].value[-1]) if hierarchy else None)
    makers = makers_of(store, mine)
    units = rows_of(snapshot, "units", span, _UNIT, most=200_000, notes=notes)
    containers = _containers(gauges)
    gone = [life for life in mine if life.leaked(span[1])]
    zombies, zombies_total = left_of(gone, "zombies", makers)
    directories, directories_total = left_of(_never_removed(mine, span), "directories", makers)
    leaked = gauges.get("memcg_leaked_directories", ())
    return LeakFacts(
        span=span,
        zombies=_zombies(store, snapshot, at_ns, span, notes, Leftovers(left=zombies, left_total=zombies_total)),
        directories=Leftovers(_last(leaked), left=directories, left_total=directories_total, source="memcg"),
        live=_last(gauges.get("memcg_live", ())),
        makers=makers,
        units=_units(units),
        containers=containers,
        restarts=restarts_of(row for row in events if row["kind"] in KINDS),
        systemd=bool(units) or "systemd_units" in gauges,
        engines=bool(containers),
    )


def _gauges(store: Store, window: Window) -> dict[str, list[Series]]:
    names = ("memcg_hierarchy", "memcg_live", "memcg_leaked_directories", "container_*", "systemd_units")
    return series_of(store.snapshot(window), names, window)


def _last(series: Sequence[Series]) -> int | None:
    values = [(int(one.at_ns[-1]), float(one.value[-1])) for one in series if one.at_ns.size and not one.labels]
    return int(max(values)[1]) if values else None


def _of_memory(every: Iterable[Life], hierarchy: int | None) -> list[Life]:
    """Cgroups of the hierarchy with the memory controller; where none is known, any."""
    return [life for life in every if hierarchy is None or life.hierarchy == hierarchy]


def _never_removed(every: Iterable[Life], span: Window) -> list[Life]:
    """Cgroups that were made and never removed; a few are alive and well on any node, the youngest above all."""
    made = [life for life in every if life.made_ns and not life.removed_ns]
    return [life for life in made if (life.made_ns or 0) < span[1] - _YOUNG_NS] or made


def _zombies(
    store: Store, snapshot: Snapshot, at_ns: int, span: Window, notes: list[str], left: Leftovers
) -> Leftovers:
    long = max(0, at_ns - _HISTORY_NS), span[1]
    rows = rows_of(store.snapshot(long), "zombies", long, ["at_ns", "parent", "zombies"], notes=notes)
    columns = ["at_ns", "path", "family", "bytes", "pinned_by"]
    names = rows_of(snapshot, "zombie_names", span, columns, most=50_000, notes=notes)
    below, total = below_of(rows)
    named = families_of(names, _called(store, (at_ns - _LOOK_BACK_NS, span[1])) if total else Counted(), below)
    return Leftovers(
        total=total,
        below=below,
        growth=growth_of(rows),
        looks=looks_of(rows, snapshot, span),
        families=named.families,
        named=named.number,
        whole=named.whole,
        left=left.left,
        left_total=left.left_total,
        pins=named.pins,
        source="kernel memory",
    )


def _called(store: Store, window: Window) -> Counted:
    """The last look at names; the first one is taken before there are samples."""
    series = series_of(store.snapshot(window), ("memcg_zombies_called", "memcg_zombies_family"), window)
    every = [one for mine in series.values() for one in mine if one.at_ns.size]
    last_ns = max((int(one.at_ns[-1]) for one in every), default=0)

    def at_last(name: str, label: str) -> dict[str, int]:
        mine = (one for one in series.get(name, ()) if one.at_ns.size and one.at_ns[-1] == last_ns)
        return {one.label(label): int(one.value[-1]) for one in mine}

    return Counted(at_last("memcg_zombies_called", "path"), at_last("memcg_zombies_family", "family"))


def _units(rows: Sequence[Row]) -> tuple[LeakUnit, ...]:
    """The last look at each unit up to the moment: of many, those that restarted most."""
    last = {row["name"]: row for row in rows if row["control_group"]}
    first = {row["name"]: row for row in reversed(rows)}
    found = (_unit(row, int(first[name]["restarts"] or 0)) for name, row in last.items())
    return tuple(sorted(found, key=lambda unit: (-unit.restarts, unit.name))[:_UNITS_MOST])


def _unit(row: Row, first_restarts: int) -> LeakUnit:
    return LeakUnit(
        name=row["name"],
        control_group=row["control_group"],
        active_state=row["active_state"] or "",
        result=row["result"] or "",
        restarts=int(row["restarts"] or 0),
        first_restarts=first_restarts,
        exit_status=row["exit_status"],
        restart_policy=row["restart_policy"] or "",
        unit_file_state=row["unit_file_state"] or "",
        preset=row["preset"] or "",
        wanted_by=tuple((row["wanted_by"] or "").split()),
        triggered_by=tuple((row["triggered_by"] or "").split()),
        main_pid=int(row["main_pid"] or 0),
        starts=row["starts"],
        successes=row["successes"],
        failures=row["failures"],
    )


def _containers(gauges: dict[str, list[Series]]) -> tuple[LeakContainer, ...]:
    """Containers by name. One without a name goes by its id."""
    ids: dict[str, Counter[str]] = {}
    for one in gauges.get("container_known", ()):
        identity = one.label("id")
        ids.setdefault(one.label("container") or identity, Counter())[identity] = int(one.at_ns[-1])
    restarts = _by_container(gauges.get("container_restarts", ()))
    deaths = _by_container(gauges.get("container_deaths", ()))
    names = dict.fromkeys((*ids, *restarts, *deaths))
    return tuple(
        LeakContainer(
            name,
            tuple(identity for identity, _ in ids.get(name, Counter()).most_common(_IDS_MOST) if identity),
            restarts=restarts.get(name),
            deaths=deaths.get(name),
        )
        for name in names
        if name
    )


def _by_container(series: Iterable[Series]) -> dict[str, int]:
    return {one.label("container"): int(one.value[-1]) for one in series if one.at_ns.size}
