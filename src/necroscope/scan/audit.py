"""`audit`: everything that runs on a node read once, joined with what a recording tells, and judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from necroscope import clock
from necroscope.config import Config
from necroscope.diagnose.audit import Roles, judge_all
from necroscope.diagnose.leak import attribute, facts_of_scan
from necroscope.errors import Unavailable
from necroscope.scan.meter import Meter
from necroscope.sense.cgroups.census import take_census
from necroscope.sense.containers.engines import Containers
from necroscope.sense.files_found import files_found
from necroscope.sense.host import Host
from necroscope.sense.image.units import read_image_units
from necroscope.sense.inventory import Inventory
from necroscope.sense.packages.shipped_by import shipped_by
from necroscope.sense.systemd.all_units import read_all_units
from necroscope.sense.systemd.bus import bus_socket, file_root
from necroscope.sense.systemd.journal import Journal
from necroscope.sense.systemd.journal_tail import read_journal_tail
from necroscope.sense.systemd.units import with_history
from necroscope.vocabulary.conclusions.audit import AuditFacts, AuditReport, Runs, Workload
from necroscope.vocabulary.leak_facts import LeakFacts
from necroscope.vocabulary.model import Census, ContainerState, HostIdentity, UnitState, Unseen

if TYPE_CHECKING:
    from necroscope.query.unit_history import History
    from necroscope.store.read.reader import Store

JOURNAL_S, HISTORIES_MOST = 0.8, 8
_UNKNOWN = HostIdentity("unknown", "unknown", "unknown", None)


def audit(host: Host, roles: Roles, config: Config, store: Store | None = None) -> AuditReport:
    """The audit of this node, with a recording where there is one; of another root, that of an image's files."""
    meter = Meter(whole_process=True)
    facts = _image(host, roles) if host.captured else _Live(host, roles, config, store).facts()
    judged, owners = judge_all(facts, roles, config.crash_loop)
    return AuditReport(facts, judged, owners, meter.read())


def _image(host: Host, roles: Roles) -> AuditFacts:
    workloads, unseen = read_image_units(host)
    packages = _packages(host, workloads, unseen)
    shipped = tuple(_with_package(one, packages) for one in workloads)
    found = files_found(host, roles.configured)
    name = (host.read_or_none("/etc/hostname", 4096) or b"").decode("utf-8", "replace").strip()
    identity = replace(_UNKNOWN, name=name.splitlines()[0][:255] if name else "image")
    at_ns = clock.now().realtime_ns
    return AuditFacts(identity, at_ns, "image", shipped, found, systemd=True, unseen=tuple(unseen))


@dataclass
class _Live:
    """The reading of a live node. What cannot be seen is noted, and the rest goes on."""

    host: Host
    roles: Roles
    config: Config
    store: Store | None

    def __post_init__(self) -> None:
        self._unseen: list[Unseen] = []

    def facts(self) -> AuditFacts:
        """Everything that is judged."""
        units, containers = self._units(), self._containers()
        history = self._history()
        leaks = _leaks_by_subject(self._census(), units, containers, history)
        joined = [_joined(one, history, leaks) for one in (*(units or ()), *(containers or ()))]
        packages = _packages(self.host, joined, self._unseen)
        told = self._with_words([_with_package(one, packages) for one in joined])
        identities = [one for one in Inventory().read(self.host).records if isinstance(one, HostIdentity)]
        return AuditFacts(
            identities[0] if identities else _UNKNOWN,
            self.host.clock().realtime_ns,
            "live",
            tuple(told),
            files_found(self.host, self.roles.configured),
            systemd=units is not None,
            engines=containers is not None,
            recorded=history.window if history is not None else None,
            unseen=tuple(self._unseen),
        )

    def _units(self) -> tuple[Workload, ...] | None:
        try:
            found = read_all_units(self.host)
        except Unavailable as error:
            self._unseen.append(Unseen("systemd", error.message, error.hint))
            return None
        self._unseen += found.unseen
        return found.workloads

    def _containers(self) -> tuple[Workload, ...] | None:
        try:
            reading = Containers().read(self.host)
        except Unavailable as error:
            self._unseen.append(Unseen("containers", error.message, error.hint))
            return None
        self._unseen += reading.unseen
        return tuple(Workload(container=one) for one in reading.records if isinstance(one, ContainerState))

    def _census(self) -> Census | None:
        try:
            census, unseen = take_census(self.host)
        except Unavailable as error:
            self._unseen.append(Unseen("memcg", error.message, error.hint))
            return None
        self._unseen += unseen
        return census

    def _history(self) -> History | None:
        if self.store is None:
            return None
        from necroscope.query.unit_history import read_history

        notes: list[str] = []
        try:
            return read_history(self.store, notes)
        except Unavailable as error:
            notes.append(error.message)
            return None
        finally:
            self._unseen += [Unseen("recording", note) for note in notes]

    def _with_words(self, workloads: Sequence[Workload]) -> list[Workload]:
        """With last log lines; of units in trouble, also with what the journal knows of their ends."""
        root, deadline = file_root(bus_socket()), clock.elapsed_s() + JOURNAL_S
        try:
            tail = read_journal_tail(root, budget_s=JOURNAL_S)
            histories = self._histories(workloads, Journal(root), deadline)
        except Unavailable as error:
            self._unseen.append(Unseen("journal", error.message, error.hint))
            return list(workloads)
        return [_with_lines(one, tail, histories) for one in workloads]

    def _histories(self, workloads: Sequence[Workload], journal: Journal, deadline: float) -> dict[str, UnitState]:
        troubled = [one.unit for one in workloads if one.unit is not None and _troubled(one)]
        found: dict[str, UnitState] = {}
        for unit in sorted(troubled, key=lambda one: -one.restarts)[:HISTORIES_MOST]:
            try:
                found[unit.name] = with_history(unit, journal.history(unit.name, deadline - clock.elapsed_s()))
            except Unavailable as error:
                self._unseen.append(Unseen("journal", f"ends of {len(troubled)} units in trouble: {error.message}"))
                break
        return found


def _troubled(workload: Workload) -> bool:
    unit = workload.unit
    if unit is None:
        return False
    return unit.restarts > 0 or unit.active_state == "failed" or unit.sub_state.startswith("auto-restart")


def _with_lines(one: Workload, tail: Mapping[str, tuple[str, ...]], histories: Mapping[str, UnitState]) -> Workload:
    if one.unit is None:
        return one
    unit = histories.get(one.name, one.unit)
    return replace(one, unit=unit if unit.last_lines else replace(unit, last_lines=tail.get(one.name, ())))


def _joined(one: Workload, history: History | None, leaks: Mapping[tuple[str, str], int]) -> Workload:
    number = leaks.get((one.subject.kind, one.subject.name))
    costs = replace(one.costs, cgroups_left=number)
    if history is None:
        return replace(one, costs=costs, runs=_runs_now(one))
    known = history.units if one.unit is not None else history.containers
    runs = known.get(one.name, _runs_now(one))
    group = one.unit.control_group if one.unit is not None else one.container.cgroup if one.container else ""
    if costs.cpu_s is None and group and history.used_s and (used := _below(history.used, group)) is not None:
        costs = replace(costs, cpu_s=used, cpu_share=used / history.used_s)
    return replace(one, costs=costs, runs=runs)


def _below(used: Mapping[str, float], group: str) -> float | None:
    """What was used in a cgroup and all below it; None: it was never among those that used most."""
    mine = [seconds for path, seconds in used.items() if path == group or path.startswith(f"{group}/")]
    return sum(mine) if mine else None


def _runs_now(one: Workload) -> Runs:
    """What systemd, or the engine, counts by itself."""
    if one.unit is not None:
        return Runs(restarts=one.unit.restarts, source="systemd NRestarts") if one.loaded else Runs()
    if one.container is None:
        return Runs()
    deaths, restarts = one.container.deaths or 0, one.container.restarts or 0
    window_s = one.container.deaths_window_s if deaths >= restarts > 0 or (deaths and not restarts) else None
    return Runs(restarts=max(restarts, deaths), window_s=window_s, source=one.container.engine)


def _leaks_by_subject(
    census: Census | None,
    units: Iterable[Workload] | None,
    containers: Iterable[Workload] | None,
    history: History | None,
) -> dict[tuple[str, str], int]:
    """How many cgroups each left behind: by the kernel's own names, and by what was recorded, whichever tells of more.
    Names are cut where very many cgroups were left behind by others."""
    found = _numbers(history.leaks) if history is not None else {}
    if census is not None and census.families:
        states = [one.unit for one in units if one.unit is not None] if units is not None else None
        told = [one.container for one in containers or () if one.container is not None]
        named = facts_of_scan(census, states, told if containers is not None else None)
        for subject, number in _numbers(named).items():
            found[subject] = max(number, found.get(subject, 0))
    return found


def _numbers(facts: LeakFacts) -> dict[tuple[str, str], int]:
    return {(leak.subject.kind, leak.subject.name): leak.number for leak in attribute(facts).leaks}


def _packages(host: Host, workloads: Iterable[Workload], unseen: list[Unseen]) -> dict[str, str]:
    paths = {path for one in workloads for path in _files(one)}
    try:
        return shipped_by(host, paths)
    except Unavailable as error:
        unseen.append(Unseen("packages", error.message, error.hint))
        return {}


def _files(one: Workload) -> tuple[str, ...]:
    unit = one.unit.fragment_path if one.unit is not None else ""
    return tuple(path for path in (unit, one.program) if path)


def _with_package(one: Workload, packages: Mapping[str, str]) -> Workload:
    unit_file = one.unit.fragment_path if one.unit is not None else ""
    return replace(one, package=packages.get(unit_file, ""), program_package=packages.get(one.program, ""))
