"""Every unit that runs or starts something, not only those in trouble: for `audit`, once, and bounded.

Services, timers, sockets, paths and scopes are described one by one; of the other kinds (devices, mounts, targets,
slices), those that failed. Units that are installed and not loaded are read from their files: systemd would look
through all of them for the same answer, and take longer than for all the rest. Sources: org.freedesktop.systemd1 on the
system bus, systemctl where no bus answers, unit files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense import command
from necroscope.sense.host import Host
from necroscope.sense.image.units import read_image_units
from necroscope.sense.ownership import check_socket
from necroscope.sense.systemd.bus import USUAL, bus_socket, cgroup_root, file_root
from necroscope.sense.systemd.bus_calls import SYSTEMD, batches, connected, conversation, manager_call, property_calls
from necroscope.sense.systemd.unit_properties import (
    PROPERTIES,
    Properties,
    names_of,
    number_of,
    parse_show,
    text_of,
)
from necroscope.sense.systemd.units import BOOTED, unit_state
from necroscope.vocabulary.conclusions.audit import Costs, Workload
from necroscope.vocabulary.model import UnitState, Unseen

ASK_S = 5.0
MOST_UNITS = 2000
MOST_DEPENDANTS = 50
KINDS = (".service", ".timer", ".socket", ".path", ".scope")
"""Units that run something, or start it."""
_MORE = (
    *("Description", "RequisiteOf", "BoundBy", "ConsistsOf", "Triggers"),
    *("CPUUsageNSec", "MemoryCurrent", "ExecStart"),
)
_WANTED = (*PROPERTIES, *_MORE)
_NEEDS = ("RequiredBy", "RequisiteOf", "BoundBy", "ConsistsOf")
# systemd's word for "nobody counted": the largest number of 64 bits.
_UNCOUNTED = (1 << 64) - 1
_AT_ONCE = 24


@dataclass(frozen=True, slots=True)
class AllUnits:
    """Workloads, and what was left out."""

    workloads: tuple[Workload, ...]
    unseen: tuple[Unseen, ...] = ()


def read_all_units(host: Host, run: command.Runner = command.run, budget_s: float = ASK_S) -> AllUnits:
    """Every unit. `Unavailable` where systemd does not run, or does not answer."""
    bus = bus_socket()
    described, left_out = _asked(host, bus, run, budget_s)
    root, monotonic_us = cgroup_root(host, bus), host.clock().monotonic_ns // 1000
    loaded = [_workload(properties, monotonic_us, root) for properties in described]
    unloaded = _not_loaded(Host(Path(file_root(bus) or "/")), {one.name for one in loaded})
    unseen = (Unseen("systemd", f"{left_out} units were not described: too many, or time was up"),) if left_out else ()
    return AllUnits((*loaded, *unloaded), unseen)


_Asked = tuple[list[Properties], int]
"""Properties of loaded units, and how many units were left out."""


def _not_loaded(host: Host, loaded: set[str]) -> list[Workload]:
    try:
        found, _ = read_image_units(host)
    except Unavailable:
        return []
    resting = (one for one in found if one.name not in loaded and one.unit is not None)
    return [
        replace(one, unit=replace(one.unit, active_state="inactive", sub_state="dead")) for one in resting if one.unit
    ]


def _asked(host: Host, bus: str, run: command.Runner, budget_s: float) -> _Asked:
    another = bus != USUAL
    if host.exists(str(host.live_path(bus))):
        try:
            check_socket(bus)
            return conversation(_over_bus(bus, clock.elapsed_s() + budget_s), budget_s)
        except Unavailable:
            if another or not host.exists(BOOTED):
                raise
    elif another or not host.exists(BOOTED):
        raise Unavailable("systemd does not run here", "its units cannot be audited; `--root` reads an image's files")
    return _by_systemctl(run, budget_s)


async def _over_bus(socket: str, deadline: float) -> _Asked:
    bus = await connected(socket)
    try:
        rows = (await manager_call(bus, "ListUnits"))[0]
        wanted = [row for row in rows if row[2] == "loaded" and (row[0].endswith(KINDS) or row[3] == "failed")]
        described: list[Properties] = []
        for batch in batches(wanted[:MOST_UNITS], _AT_ONCE):
            if described and clock.elapsed_s() > deadline:
                break
            calls = [(row[6], "GetAll", "s", [_interface(row)]) for row in batch]
            for row, body in zip(batch, await property_calls(bus, calls), strict=True):
                values = body[0] if body else {}
                described += [{"Id": row[0], **{name: values[name].value for name in _WANTED if name in values}}]
        return described, len(wanted) - len(described)
    finally:
        bus.disconnect()


def _interface(row: Any) -> str:
    """All interfaces of what runs or failed. Of what sleeps, and of what only starts others, those of every unit: the
    properties of its runs take systemd most of the time, and say nothing."""
    runs = row[0].endswith((".service", ".scope")) and row[3] != "inactive"
    return "" if runs or row[3] == "failed" else f"{SYSTEMD}.Unit"


def _by_systemctl(run: command.Runner, budget_s: float) -> _Asked:
    shown = f"--property={','.join(_WANTED)}"
    patterns = [f"*{kind}" for kind in KINDS]
    rows = parse_show(run(["systemctl", "show", "--all", shown, *patterns], budget_s))
    loaded: list[Properties] = [{**row} for row in rows if row.get("LoadState") == "loaded" and row.get("Id")]
    return loaded[:MOST_UNITS], max(0, len(loaded) - MOST_UNITS)


def _workload(properties: Properties, monotonic_us: int, root: str) -> Workload:
    state = unit_state(properties, monotonic_us)
    if root and state.control_group:
        state = replace(state, control_group=root + state.control_group)
    needs = dict.fromkeys(name for one in _NEEDS for name in names_of(properties.get(one)))
    return Workload(
        unit=state,
        description=text_of(properties, "Description")[:200],
        program=_program(properties.get("ExecStart")),
        needed_by=tuple(needs)[:MOST_DEPENDANTS],
        triggers=names_of(properties.get("Triggers"))[:MOST_DEPENDANTS],
        costs=_costs(properties, state),
    )


def _costs(properties: Properties, state: UnitState) -> Costs:
    used_ns, memory = _counted(properties.get("CPUUsageNSec")), _counted(properties.get("MemoryCurrent"))
    if state.active_state == "inactive":
        return Costs()
    used_s = used_ns / 1e9 if used_ns is not None else None
    since = state.since_start_s
    return Costs(used_s, used_s / since if used_s is not None and since else None, memory)


def _counted(value: object) -> int | None:
    if value is None or (isinstance(value, str) and not (value.isdecimal() and len(value) < 20)):
        return None
    number = number_of(value)
    return None if number == _UNCOUNTED else number


def _program(value: object) -> str:
    """The first program of ExecStart: a list of structures over the bus, `{ path=/x ; argv[]=... }` by systemctl."""
    if isinstance(value, str):
        return value.partition("path=")[2].partition(" ;")[0].strip()
    if isinstance(value, list) and value and isinstance(value[0], list | tuple) and isinstance(value[0][0], str):
        return value[0][0]
    return ""
