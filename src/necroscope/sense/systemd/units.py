"""Units of systemd that failed or restart, with what the journal remembers of the worst of them.

Sources: org.freedesktop.systemd1 on the system bus, systemctl where no bus answers, journalctl.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense import command
from necroscope.sense.host import Host
from necroscope.sense.ownership import check_socket
from necroscope.sense.replay import replay
from necroscope.sense.systemd.bus import USUAL, bus_socket, cgroup_root, file_root
from necroscope.sense.systemd.journal import STAYED_UP_S, Journal, UnitHistory
from necroscope.sense.systemd.unit_properties import (
    Properties,
    Units,
    by_systemctl,
    names_of,
    number_of,
    over_bus,
    text_of,
)
from necroscope.sense.systemd.unit_runs import UnitRuns
from necroscope.vocabulary.model import Reading, Sample, Signal, UnitState, Unseen

# systemd itself makes this directory early at boot: the documented test for a system that runs it (sd_booted).
BOOTED = "/run/systemd/system"

ASK_S = 0.4
JOURNAL_S = 1.0
MAX_HISTORIES = 8
# How long what the journal said of a unit stands, whatever the unit does: asking costs more than all the rest.
HISTORY_S = 60.0

# si_code of SIGCHLD (siginfo.h), as ExecMainCode gives it, in systemd's own words.
_EXIT_CODES = {1: "exited", 2: "killed", 3: "dumped"}


class Systemd:
    """The sensor. `bus` is the socket of another system's bus, and its cgroups are given as seen from here.

    With `runs`, starts, successes and failures are counted from look to look, and units that only started or ended are
    reported as well.
    """

    name: ClassVar[str] = "systemd"
    signals: ClassVar[tuple[Signal, ...]] = (
        Signal("systemd_units", "units", "gauge", "Loaded units by active state", ("active_state",)),
        Signal("systemd_unit_restarts", "restarts", "counter", "Automatic restarts of a unit", ("unit",)),
    )

    def __init__(
        self,
        bus: str | None = None,
        journal: Journal | None = None,
        run: command.Runner = command.run,
        runs: UnitRuns | None = None,
    ) -> None:
        self._bus = bus
        self._journal = journal
        self._run = run
        self._runs = runs
        self._histories: dict[str, tuple[float, tuple[int, int, str], UnitHistory]] = {}

    def read(self, host: Host) -> Reading:
        """Units in trouble, worst first. `Unavailable` where systemd does not run."""
        if host.captured:
            return replay(host, self.name)
        bus = self._bus or bus_socket()
        units = self._units(host, bus)
        root = cgroup_root(host, bus)
        monotonic_us = host.clock().monotonic_ns // 1000
        states = [_below(root, unit_state(properties, monotonic_us)) for properties in units.troubled]
        if self._runs is not None:
            states = self._runs.counted(units.services, states, monotonic_us)
        remembered, unseen = self._remember(states, self._journal or Journal(file_root(bus), self._run))
        restarts = [Sample("systemd_unit_restarts", state.restarts, (state.name,)) for state in remembered]
        by_state = [Sample("systemd_units", count, (state,)) for state, count in units.by_state.items()]
        return Reading((*by_state, *restarts), tuple(remembered), (*_left_out(units), *unseen))

    def _units(self, host: Host, bus: str) -> Units:
        """By the bus; by systemctl where there is no bus, or where it does not answer."""
        another = bus != USUAL
        moved = self._runs.moved if self._runs is not None else None
        if host.exists(str(host.live_path(bus))):
            try:
                check_socket(bus)
                return over_bus(bus, ASK_S, moved)
            except Unavailable:
                if another or not host.exists(BOOTED):
                    raise
        elif another or not host.exists(BOOTED):
            raise Unavailable("systemd does not run here", "units that restart cannot be seen; look at containers")
        return by_systemctl(self._run, ASK_S, moved)

    def _remember(self, states: list[UnitState], journal: Journal) -> tuple[list[UnitState], tuple[Unseen, ...]]:
        """Ask the journal about the worst units, as long as the time lasts."""
        deadline = clock.elapsed_s() + JOURNAL_S
        remembered = [*filter(_troubled, states), *(state for state in states if not _troubled(state))]
        for index, state in enumerate(filter(_troubled, states)):
            try:
                if index >= MAX_HISTORIES:
                    raise Unavailable(f"the journal was asked about the worst {MAX_HISTORIES} units only")
                history = self._history(state, journal, deadline)
            except Unavailable as error:
                count = sum(map(_troubled, states)) - index
                unasked = f"no log lines of {count} troubled units: {error.message}"
                return remembered, (Unseen(self.name, unasked, error.hint),)
            remembered[index] = with_history(state, history)
        return remembered, ()

    def _history(self, state: UnitState, journal: Journal, deadline: float) -> UnitHistory:
        """What the journal has of a unit: asked anew when the unit has moved, but not all the time."""
        now_s, stand = clock.elapsed_s(), (state.restarts, state.started_us, state.sub_state)
        asked_s, asked_at, history = self._histories.get(state.name, (-HISTORY_S, None, UnitHistory()))
        if stand != asked_at and now_s - asked_s >= HISTORY_S:
            history = journal.history(state.name, deadline - now_s)
            if len(self._histories) > 4 * MAX_HISTORIES:
                self._histories.clear()
            self._histories[state.name] = now_s, stand, history
        return history


def _troubled(state: UnitState) -> bool:
    """False for a unit that is reported only because it started or ended."""
    return state.restarts > 0 or state.active_state == "failed" or state.sub_state.startswith("auto-restart")


def _below(root: str, state: UnitState) -> UnitState:
    return replace(state, control_group=root + state.control_group) if state.control_group else state


def unit_state(properties: Properties, monotonic_us: int) -> UnitState:
    """A unit from its properties, typed or as text. What systemd does not tell stays at its default."""
    exit_code = _EXIT_CODES.get(number_of(properties.get("ExecMainCode")), "")
    active, since = text_of(properties, "ActiveState"), _since_start_s(properties, monotonic_us)
    return UnitState(
        name=text_of(properties, "Id"),
        active_state=active,
        sub_state=text_of(properties, "SubState"),
        result=text_of(properties, "Result"),
        restarts=number_of(properties.get("NRestarts")),
        exit_code=exit_code,
        exit_status=number_of(properties.get("ExecMainStatus")) if exit_code else None,
        restart_policy=text_of(properties, "Restart"),
        since_start_s=since,
        unit_file_state=text_of(properties, "UnitFileState"),
        preset=text_of(properties, "UnitFilePreset"),
        wanted_by=names_of(properties.get("WantedBy")),
        required_by=names_of(properties.get("RequiredBy")),
        triggered_by=names_of(properties.get("TriggeredBy")),
        fragment_path=text_of(properties, "FragmentPath"),
        control_group=text_of(properties, "ControlGroup") or expected_cgroup(properties),
        main_pid=number_of(properties.get("MainPID")),
        ever_succeeded=True if active == "active" and since is not None and since >= STAYED_UP_S else None,
        started_us=number_of(properties.get("ExecMainStartTimestampMonotonic")),
        ended_us=number_of(properties.get("ExecMainExitTimestampMonotonic")),
    )


def with_history(state: UnitState, history: UnitHistory) -> UnitState:
    """The unit with its past. While a restarted unit runs, systemd shows no result: the journal has the last one."""
    known = state.result not in ("", "success") or not history.result
    return replace(
        state,
        result=state.result if known else history.result,
        exit_code=state.exit_code or history.exit_code,
        exit_status=state.exit_status if state.exit_code else history.exit_status,
        ever_succeeded=state.ever_succeeded or history.ever_succeeded,
        last_lines=history.last_lines,
    )


def expected_cgroup(properties: Properties) -> str:
    """The cgroup that the next run gets: systemd names none between two runs. `a-b.slice` lies in `a.slice`."""
    name, slice_name = text_of(properties, "Id"), text_of(properties, "Slice")
    if not slice_name.endswith(".slice"):
        return ""
    parts = [part for part in slice_name.removesuffix(".slice").split("-") if part]
    slices = ["-".join(parts[: depth + 1]) + ".slice" for depth in range(len(parts))]
    return "/" + "/".join([*slices, name])


def _since_start_s(properties: Properties, monotonic_us: int) -> float | None:
    """Seconds since the main process was started last; of units without one, since they were activated last."""
    started_us = number_of(properties.get("ExecMainStartTimestampMonotonic"))
    if not started_us:
        names = ("ActiveEnterTimestampMonotonic", "InactiveExitTimestampMonotonic")
        started_us = max(number_of(properties.get(name)) for name in names)
    return max(monotonic_us - started_us, 0) / 1e6 if started_us else None


def _left_out(units: Units) -> tuple[Unseen, ...]:
    unseen = []
    if units.unasked:
        unseen.append(Unseen(Systemd.name, f"{units.unasked} services were not asked for their restarts: time was up"))
    if units.undescribed:
        unseen.append(Unseen(Systemd.name, f"{units.undescribed} more units in trouble are not described"))
    return tuple(unseen)
