"""systemd behind a bus socket: units as they are, and starting, stopping and reloading them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from necroscope import clock
from necroscope.act.node.bus import Caller, Rejected, ask
from necroscope.act.node.doors import UnitView
from necroscope.act.node.unit_files import enabling_links, unit_files
from necroscope.errors import Unavailable
from necroscope.sense.systemd.bus import bus_socket, file_root

ASK_S = 5.0
RELOAD_S = 60.0
# ExecStop, TimeoutStopSec and the time after SIGKILL may each take the whole timeout.
STOP_MARGIN_S, STOP_ROUNDS, STOP_MOST_S = 5.0, 3, 600.0
_POLL_S = 0.05
_FOREVER_US = (1 << 64) - 1
_STOPS_TOO = ("RequiredBy", "RequisiteOf", "BoundBy", "ConsistsOf")
_SIGKILL, _CLD_KILLED = 9, 2
_NOT_THERE = "not-found"


class LiveUnits:
    """The systemd behind a bus socket; its files lie below `root`."""

    def __init__(self, socket: str | None = None) -> None:
        self._socket = socket or bus_socket()
        self.root = file_root(self._socket) or ""

    def unit(self, name: str) -> UnitView | None:
        """The unit of this name or alias."""

        async def work(caller: Caller) -> UnitView | None:
            path = await _path(caller, name)
            return _view(await caller.properties(path)) if path else None

        found = ask(self._socket, work, ASK_S)
        return None if found is None or found.load_state == _NOT_THERE else found

    def files(self, names: Sequence[str]) -> dict[str, bytes]:
        """All unit files and drop-ins of these names."""
        return unit_files(self.root, names)

    def links(self, names: Sequence[str]) -> list[str]:
        """The links that enable units of these names."""
        return enabling_links(self.root, names)

    def stop(self, name: str) -> str:
        """Stop it and wait for as long as the unit may take. A SIGKILL is told."""
        view = self.unit(name)
        if view is None or not view.running:
            return ""
        limit_s = STOP_MOST_S
        if view.stop_timeout_s is not None:
            limit_s = min(limit_s, STOP_ROUNDS * view.stop_timeout_s + STOP_MARGIN_S)
        began = clock.elapsed_s()
        after = ask(self._socket, lambda caller: _stopped(caller, name, limit_s), limit_s + ASK_S)
        return _ended(after, clock.elapsed_s() - began)

    def start(self, name: str) -> str:
        """Start it; a failed state is forgotten first, or a start limit would refuse it."""

        async def work(caller: Caller) -> None:
            with contextlib.suppress(Rejected):  # it was not loaded, and so has not failed
                await caller.manager("ResetFailedUnit", "s", [name])
            await caller.manager("StartUnit", "ss", [name, "replace"])

        ask(self._socket, work, ASK_S)
        return ""

    def reload(self) -> None:
        """Read all unit files again."""
        ask(self._socket, lambda caller: caller.manager("Reload"), RELOAD_S)

    def reboot(self) -> None:
        """Ask for a reboot, as `systemctl reboot` does."""
        ask(
            self._socket,
            lambda caller: caller.manager("StartUnit", "ss", ["reboot.target", "replace-irreversibly"]),
            ASK_S,
        )


async def _path(caller: Caller, name: str) -> str:
    try:
        path: str = (await caller.manager("LoadUnit", "s", [name]))[0]
    except Rejected as error:
        if error.name.endswith(("NoSuchUnit", "InvalidArgs")):
            return ""
        raise
    return path


async def _stopped(caller: Caller, name: str, limit_s: float) -> UnitView:
    """The unit once it has stopped."""
    import asyncio

    path = await _path(caller, name)
    await caller.manager("StopUnit", "ss", [name, "replace"])
    ends = clock.elapsed_s() + limit_s
    while True:
        view = _view(await caller.properties(path))
        if not view.running:
            return view
        if clock.elapsed_s() > ends:
            raise Unavailable(f"{name} is still {view.active_state} ({view.sub_state}) after {limit_s:.0f} s")
        await asyncio.sleep(_POLL_S)


def _ended(view: UnitView, took_s: float) -> str:
    if view.killed or view.result == "timeout":
        return f"systemd sent SIGKILL after its TimeoutStopSec: it had not stopped by itself ({took_s:.1f} s)"
    return f"stopped in {took_s:.1f} s"


def _view(told: dict[str, Any]) -> UnitView:
    timeout_us = told.get("TimeoutStopUSec", 0)
    return UnitView(
        name=_text(told, "Id"),
        names=_names(told, "Names"),
        load_state=_text(told, "LoadState"),
        active_state=_text(told, "ActiveState"),
        sub_state=_text(told, "SubState"),
        result=_text(told, "Result"),
        fragment=_text(told, "FragmentPath"),
        unit_file_state=_text(told, "UnitFileState"),
        invocation=bytes(told.get("InvocationID") or b"").hex(),
        restarts=int(told.get("NRestarts") or 0),
        stop_timeout_s=None if timeout_us >= _FOREVER_US else timeout_us / 1e6,
        stops_too=tuple(dict.fromkeys(name for kind in _STOPS_TOO for name in _names(told, kind))),
        triggered_by=_names(told, "TriggeredBy"),
        refuses_stop=told.get("RefuseManualStop") is True,
        killed=(told.get("ExecMainCode"), told.get("ExecMainStatus")) == (_CLD_KILLED, _SIGKILL),
        settings=_settings(told),
    )


def _settings(told: dict[str, Any]) -> dict[str, str]:
    """Those that our drop-ins set, as text."""
    commands = told.get("ExecStart")
    run = " ; ".join(" ".join(row[1]) for row in commands) if isinstance(commands, list) else ""
    plain = ("Restart", "Type", "StartLimitBurst", "StartLimitIntervalUSec", "RestartUSec")
    return {"ExecStart": run, **{name: str(told[name]) for name in plain if name in told}}


def _text(told: dict[str, Any], name: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else ""


def _names(told: dict[str, Any], name: str) -> tuple[str, ...]:
    value = told.get(name)
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()
