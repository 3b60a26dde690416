"""Plans about a unit of systemd: stop, disable, mask, neutralise, limit its restarts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from necroscope.act.conditions import files_hash, invocation_of
from necroscope.act.node.doors import UnitView
from necroscope.act.node.paths import bytes_of, file_state, folder_state, link_state
from necroscope.act.planning.draft import Draft
from necroscope.act.planning.protected import refuse_protected, stopped_with
from necroscope.act.steps import RUNNING, STOPPED
from necroscope.errors import BadInput, Refused
from necroscope.quantity import span
from necroscope.vocabulary.plan import ABSENT, Condition, Plan, Setting, Step

ETC = "/etc/systemd/system"
STARTS, STARTS_IN_S, PAUSE_S = 5, 3600, 60
_NAME = re.compile(r"[A-Za-z0-9:_.\\@-]{1,255}")
_NEUTRAL = """[Service]
Type=oneshot
ExecCondition=
ExecStartPre=
ExecStart=
ExecStart=/bin/true
ExecStartPost=
ExecReload=
ExecStop=
ExecStopPost=
Restart=no
"""
_LIMITED = f"""[Unit]
StartLimitIntervalSec={STARTS_IN_S}
StartLimitBurst={STARTS}
[Service]
RestartSec={PAUSE_S}
"""


def stop_unit(draft: Draft, name: str) -> Plan:
    """Stop it."""
    view = _actable(draft, name)
    if not view.running:
        raise Refused(f"{view.name} is not running ({view.active_state}).", "there is nothing to stop")
    notes = [*_notes(draft, view), *(f"{one} may start it again" for one in view.triggered_by)]
    return draft.made("unit", view.name, [_stop(draft, view)], notes=notes)


def disable_unit(draft: Draft, name: str) -> Plan:
    """Remove the links that start it and what triggers it, then stop both."""
    view = _actable(draft, name)
    triggers = [one for each in view.triggered_by if (one := draft.node.units.unit(each)) is not None]
    for one in triggers:
        refuse_protected(draft.node, stopped_with(draft.node, one), draft.recorder)
    links = [path for one in (view, *triggers) for path in draft.node.units.links(one.names)]
    stops = [_stop(draft, one) for one in (*triggers, view) if one.running]
    if not links:
        raise Refused(
            f"{view.name} is not enabled ({view.unit_file_state or 'unknown'}): there is nothing to disable.",
            f"necroscope fix {'mask-unit' if not _in_etc(draft, view) else 'neutralise-unit'} {view.name}",
        )
    steps = [_remove(draft, path, view) for path in dict.fromkeys(links)]
    notes = [*_notes(draft, view), *(f"{one.name} triggers it, and is disabled as well" for one in triggers)]
    return draft.made("unit", view.name, [*steps, _reload(draft, view), *stops], notes=notes)


def mask_unit(draft: Draft, name: str) -> Plan:
    """Link it to /dev/null."""
    view = _actable(draft, name)
    if _in_etc(draft, view):
        raise Refused(
            f"{view.name} cannot be masked: its file is {ETC}/{view.name}.",
            f"necroscope fix neutralise-unit {view.name}",
        )
    path = f"{ETC}/{view.name}"
    link = Step(
        "set-path",
        path,
        f"create link {path} -> /dev/null",
        ABSENT,
        link_state("/dev/null"),
        conditions=_files(draft, view),
    )
    stops = [_stop(draft, view)] if view.running else []
    return draft.made("unit", view.name, [link, _reload(draft, view), *stops], notes=_notes(draft, view))


def neutralise_unit(draft: Draft, name: str) -> Plan:
    """Let it run /bin/true."""
    view = _service(_actable(draft, name))
    if not _in_etc(draft, view):
        raise Refused(f"{view.name} can be masked, which is surer.", f"necroscope fix mask-unit {view.name}")
    wanted = (Setting("ExecStart", "/bin/true"), Setting("Restart", "no"))
    steps = [*_drop_in(draft, view, _NEUTRAL), _reload(draft, view, wanted)]
    stops = [_stop(draft, view)] if view.running else []
    return draft.made("unit", view.name, [*steps, *stops], notes=_notes(draft, view))


def limit_restarts(draft: Draft, name: str) -> Plan:
    """Let systemd give up after a few starts."""
    view = _service(_actable(draft, name))
    if view.settings.get("Restart") in ("no", None):
        raise Refused(f"{view.name} is not restarted by systemd (Restart=no).", "find out who starts it")
    wanted = (Setting("StartLimitBurst", str(STARTS)), Setting("StartLimitIntervalUSec", str(STARTS_IN_S * 10**6)))
    reload = replace(_reload(draft, view, wanted), items=((view.name, RUNNING),) if view.running else ())
    steps = [*_drop_in(draft, view, _LIMITED), reload]
    return draft.made("unit", view.name, steps, notes=_notes(draft, view))


# -- what is looked at first -------------------------------------------------------------------------------


def _actable(draft: Draft, name: str) -> UnitView:
    """The unit, where it may be acted on."""
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name!r} is no name of a unit.", "systemctl list-units shows them")
    full = name if "." in name else f"{name}.service"
    view = draft.node.units.unit(full)
    if view is None:
        raise BadInput(f"There is no unit {full} here.", "systemctl list-units --all shows those that are")
    if view.refuses_stop:
        raise Refused(f"{view.name} refuses to be stopped by hand (RefuseManualStop).")
    refuse_protected(draft.node, stopped_with(draft.node, view), draft.recorder)
    return view


def _service(view: UnitView) -> UnitView:
    if not view.name.endswith(".service"):
        raise Refused(f"{view.name} is no service.", "mask it, or disable it")
    return view


def _in_etc(draft: Draft, view: UnitView) -> bool:
    return draft.node.paths.state(f"{ETC}/{view.name}") != ABSENT


def _notes(draft: Draft, view: UnitView) -> list[str]:
    others = [one.name for one in stopped_with(draft.node, view)[1:] if one.running]
    notes = [f"stops with it: {', '.join(others)}"] if others else []
    if view.running:
        limit = "for ever" if view.stop_timeout_s is None else span(view.stop_timeout_s)
        notes.append(f"{view.name} may take {limit} to stop (TimeoutStopSec); then systemd sends SIGKILL")
    return notes


# -- steps -------------------------------------------------------------------------------------------------


def _files(draft: Draft, view: UnitView) -> tuple[Condition, ...]:
    return (draft.same_boot(), Condition("unit-files", view.name, files_hash(draft.node.units.files(view.names))))


def _stop(draft: Draft, view: UnitView) -> Step:
    # Between two automatic restarts the next run has another invocation without any further restart.
    steady = view.active_state == "active"
    run = (Condition("invocation", view.name, invocation_of(view)),) if steady else ()
    others = tuple((one.name, RUNNING) for one in stopped_with(draft.node, view)[1:] if one.running)
    return Step(
        "stop-unit",
        view.name,
        f'D-Bus org.freedesktop.systemd1.Manager.StopUnit("{view.name}", "replace")',
        RUNNING,
        STOPPED,
        conditions=(*_files(draft, view), *run),
        items=others,
    )


def _reload(draft: Draft, view: UnitView, wanted: Iterable[Setting] = ()) -> Step:
    settings = tuple(wanted)
    shows = tuple(f"then {one.name} of {view.name} must be {one.value}" for one in settings)
    says = "D-Bus org.freedesktop.systemd1.Manager.Reload()"
    return Step("reload-units", view.name, says, shows=shows, conditions=(draft.same_boot(),), settings=settings)


def _remove(draft: Draft, path: str, view: UnitView) -> Step:
    there = draft.node.paths.state(path)
    target = there.removeprefix("link ")
    return Step("set-path", path, f"remove link {path} -> {target}", there, ABSENT, conditions=_files(draft, view))


def _drop_in(draft: Draft, view: UnitView, text: str) -> list[Step]:
    """Our own file, in a folder that is made where there is none."""
    folder, conditions = f"{ETC}/{view.name}.d", _files(draft, view)
    path = f"{folder}/90-necroscope-{draft.id.removeprefix('fix-')}.conf"
    data = f"# Written by `necroscope fix`; `necroscope fix --undo {draft.id}` removes it.\n{text}".encode()
    steps = []
    if draft.node.paths.state(folder) == ABSENT:
        make = Step("set-path", folder, f"create folder {folder}", ABSENT, folder_state(), conditions=conditions)
        steps.append(make)
    after = file_state(data)
    assert bytes_of(after) == data
    shows = tuple(data.decode().splitlines())
    says = f"write {path} ({len(data)} bytes)"
    return [*steps, Step("set-path", path, says, ABSENT, after, shows, conditions=conditions)]
