"""Properties of systemd's units in trouble: asked over D-Bus, or of systemctl where no bus answers.

A unit is in trouble when it failed, waits for its next automatic restart, or was restarted at all. Both ways
bring back the same property names (those of the D-Bus interface org.freedesktop.systemd1); D-Bus gives typed values,
systemctl strings, and `systemd.py` reads either. All is bounded: units asked, units described, seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from necroscope import clock
from necroscope.sense.command import Runner
from necroscope.sense.systemd.bus_calls import (
    IN_FLIGHT,
    SYSTEMD,
    batches,
    connected,
    conversation,
    manager_call,
    property_calls,
)

if TYPE_CHECKING:
    from dbus_fast.aio import MessageBus

Properties = dict[str, Any]

MAX_DESCRIBED = 64
PROPERTIES = (
    *("Id", "LoadState", "ActiveState", "SubState", "UnitFileState", "UnitFilePreset", "FragmentPath"),
    *("WantedBy", "RequiredBy", "TriggeredBy", "ActiveEnterTimestampMonotonic", "InactiveExitTimestampMonotonic"),
    *("Result", "NRestarts", "Restart", "ExecMainCode", "ExecMainStatus", "ExecMainStartTimestampMonotonic"),
    *("MainPID", "ControlGroup", "Slice", "ExecMainExitTimestampMonotonic"),
)

_STARTED = "ExecMainStartTimestampMonotonic"
# Part of the budget that is kept for describing what was found.
_RESERVE = 0.4


@dataclass(frozen=True, slots=True)
class Units:
    """Loaded units by active state, and the troubled ones, worst first. `unasked`: services whose restarts are
    unknown because the time was up; `undescribed`: troubled units beyond the limit."""

    by_state: dict[str, int]
    troubled: tuple[Properties, ...]
    unasked: int = 0
    undescribed: int = 0
    services: tuple[Service, ...] = ()


@dataclass(frozen=True, slots=True)
class Service:
    """A service in short: enough to tell whether it started, ended or restarted since another look."""

    name: str
    active: str
    sub: str
    restarts: int
    started_us: int


Moved = Callable[[Service], bool]
"""Whether a service is to be described because it moved, though it is in no trouble."""


@dataclass(frozen=True, slots=True)
class _Unit:
    name: str
    active: str
    sub: str
    path: str
    restarts: int = 0
    started_us: int = 0
    moved: bool = False

    @property
    def service(self) -> Service:
        return Service(self.name, self.active, self.sub, self.restarts, self.started_us)

    @property
    def troubled(self) -> bool:
        """True for one to be described."""
        restarts = self.sub.startswith("auto-restart") or self.restarts > 0
        return self.active == "failed" or restarts or self.moved


# -- D-Bus ---------------------------------------------------------------------------------------------


def over_bus(socket: str, budget_s: float, moved: Moved | None = None) -> Units:
    """Ask systemd on the bus behind this socket. `Unavailable` when it does not answer as expected, or in time.

    With `moved`, services are asked for their last start as well, and those that moved are described too."""
    return conversation(_ask(socket, moved, clock.elapsed_s() + budget_s, budget_s), budget_s)


async def _ask(socket: str, moved: Moved | None, deadline: float, budget_s: float) -> Units:
    bus = await connected(socket)
    try:
        rows = (await manager_call(bus, "ListUnits"))[0]
        loaded = [_Unit(row[0], row[3], row[4], row[6]) for row in rows if row[2] == "loaded"]
        services = [unit for unit in loaded if unit.name.endswith(".service")]
        services.sort(key=lambda unit: not unit.troubled)
        counted = await _with_restarts(bus, services, moved, deadline - budget_s * _RESERVE)
        others = [unit for unit in loaded if not unit.name.endswith(".service")]
        troubled = _worst_first([*counted, *others])
        described = await _describe(bus, troubled[:MAX_DESCRIBED], deadline)
        undescribed, asked = len(troubled) - len(described), tuple(unit.service for unit in counted)
        return Units(_by_state(loaded), tuple(described), len(services) - len(counted), undescribed, asked)
    finally:
        bus.disconnect()


async def _with_restarts(bus: MessageBus, units: list[_Unit], moved: Moved | None, deadline: float) -> list[_Unit]:
    """The services with their restart counts (and last starts), as far as the time goes; a service that vanished has
    none."""
    counted: list[_Unit] = []
    wanted = ("NRestarts",) if moved is None else ("NRestarts", _STARTED)
    for batch in batches(units, IN_FLIGHT // len(wanted)):
        if clock.elapsed_s() > deadline:
            break
        asked = [(unit.path, "Get", "ss", [f"{SYSTEMD}.Service", name]) for unit in batch for name in wanted]
        values = iter([body[0].value if body else 0 for body in await property_calls(bus, asked)])
        for unit in batch:
            answers = [next(values) for _ in wanted]
            counted.append(_judged(replace(unit, restarts=answers[0], started_us=answers[-1] if moved else 0), moved))
    return counted


def _judged(unit: _Unit, moved: Moved | None) -> _Unit:
    return replace(unit, moved=True) if moved is not None and moved(unit.service) else unit


async def _describe(bus: MessageBus, units: list[_Unit], deadline: float) -> list[Properties]:
    described: list[Properties] = []
    for batch in batches(units, 16):
        if described and clock.elapsed_s() > deadline:
            break
        # An empty interface asks for the properties of all of them at once.
        replies = await property_calls(bus, [(unit.path, "GetAll", "s", [""]) for unit in batch])
        for body in replies:
            if body:
                described.append({name: body[0][name].value for name in PROPERTIES if name in body[0]})
    return described


# -- systemctl -----------------------------------------------------------------------------------------


def by_systemctl(run: Runner, budget_s: float, moved: Moved | None = None) -> Units:
    """Ask systemctl, which reaches PID 1 without a bus when it runs as root. Its `show` is meant for machines."""
    deadline = clock.elapsed_s() + budget_s
    overview = f"--property=Id,LoadState,ActiveState,SubState,NRestarts,{_STARTED}"
    rows = parse_show(run(["systemctl", "show", "--all", overview, "*"], budget_s))
    loaded = [_judged(_overviewed(row), moved) for row in rows if row.get("LoadState") == "loaded" and row.get("Id")]
    troubled = _worst_first(loaded)
    names = [unit.name for unit in troubled[:MAX_DESCRIBED]]
    described: list[dict[str, str]] = []
    if names:
        command = ["systemctl", "show", f"--property={','.join(PROPERTIES)}", "--", *names]
        described = parse_show(run(command, max(deadline - clock.elapsed_s(), 0.1)))
    services = tuple(unit.service for unit in loaded if unit.name.endswith(".service"))
    return Units(_by_state(loaded), tuple(described), 0, len(troubled) - len(names), services)


def _overviewed(row: dict[str, str]) -> _Unit:
    restarts, started_us = _count(row.get("NRestarts", "")), _count(row.get(_STARTED, ""))
    return _Unit(row["Id"], row.get("ActiveState", ""), row.get("SubState", ""), "", restarts, started_us)


def parse_show(text: bytes) -> list[dict[str, str]]:
    """Blocks of NAME=VALUE lines, an empty line between two units; other lines are left out."""
    units: list[dict[str, str]] = []
    for block in text.decode("utf-8", "replace").split("\n\n"):
        pairs = [line.split("=", 1) for line in block.split("\n") if "=" in line]
        if pairs:
            units.append({pair[0]: pair[1] for pair in pairs})
    return units


# -- both ----------------------------------------------------------------------------------------------


def _worst_first(units: list[_Unit]) -> list[_Unit]:
    troubled = [unit for unit in units if unit.troubled]
    return sorted(troubled, key=lambda unit: (-unit.restarts, unit.active != "failed", unit.name))


def _by_state(units: list[_Unit]) -> dict[str, int]:
    return dict(sorted(Counter(unit.active for unit in units).items()))


def _count(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 18 else 0


def text_of(properties: Properties, name: str) -> str:
    """A property that is text; empty where it is not told."""
    value = properties.get(name)
    return value if isinstance(value, str) else ""


def number_of(value: object) -> int:
    """A property that is a number, typed or as text; 0 where it is none."""
    if isinstance(value, str):
        return int(value) if value.isdecimal() and len(value) < 20 else 0
    return value if isinstance(value, int) else 0


def names_of(value: object) -> tuple[str, ...]:
    """A property that is a list of names, typed or as text."""
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
