"""What can be done about a leak: stop who leaks first, then free what exists. Written once, quoted for the shell."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

from necroscope.diagnose.leak.attribution import Leak
from necroscope.diagnose.leak.witnesses import called
from necroscope.vocabulary.leak_facts import LeakUnit, Pins, What
from necroscope.vocabulary.verdict import Remedy

_LOST = "the unit's function is lost; look at what depends on it first"
_NOT_ENABLED = ("static", "transient", "generated", "alias")
_ENGINES = ("docker", "podman")


def remedies(what: What, leak: Leak | None, pins: Iterable[Pins] = ()) -> tuple[Remedy, ...]:
    """First what stops the growth, then what frees what is there; without a leaker, how to find one."""
    return (stop(leak) if leak is not None else _find(what), *free(what, pins))


def stop(leak: Leak) -> Remedy:
    """How to stop a leaker, fitting to what it is."""
    name, what = leak.subject.name, _cgroups(leak.what)
    if leak.subject.kind == "unit" and not leak.doubt:
        return _stop_unit(name, leak.unit, what)
    if leak.subject.kind == "unit":
        text = f"Stop the leak first: find out what {name} is ({leak.doubt}), then stop it."
        return Remedy("find-unit", name, f"systemctl status -- {shlex.quote(name)}", text, "none in looking", "none")
    if leak.subject.kind == "container":
        return _stop_container(leak)
    if leak.subject.kind == "process":
        who = called(leak.process) if leak.process is not None else name
        text = f"Stop the leak first: have process {who} release or remove the {what} it makes, or stop what starts it."
        return Remedy("stop-process", name, "", text, "what the process does is lost", "none")
    text = f"Stop the leak first: find out who starts {leak.subject.kind} {name} over and over, and stop that."
    return Remedy("find-leaker", name, "", text, "none in looking", "none")


def _stop_unit(name: str, unit: LeakUnit | None, what: str) -> Remedy:
    command, undo = stopping(name, unit.unit_file_state if unit else "", unit.triggered_by if unit else ())
    text = f"Stop the leak first, if the node can do without {name}: the {what} stop growing at once."
    action = "disable-unit" if undo else "stop-unit"
    return Remedy(action, name, command, f"{text} Undo: {undo}." if undo else text, _LOST, "none")


def stopping(name: str, unit_file_state: str, triggers: Sequence[str]) -> tuple[str, str]:
    """The commands that stop a unit and keep it stopped, and that undo it. A unit without an install section cannot be
    disabled: what triggers it can, and it can be stopped; that has no undo."""
    if unit_file_state in _NOT_ENABLED and not triggers:
        return f"systemctl stop -- {shlex.quote(name)}", ""
    quoted = " ".join(shlex.quote(one) for one in (*triggers, name))
    return f"systemctl disable --now -- {quoted}", f"systemctl enable --now -- {quoted}"


def _stop_container(leak: Leak) -> Remedy:
    name = leak.subject.name
    engine = leak.container.engine if leak.container is not None else ""
    command = f"{engine} stop -- {shlex.quote(name)}" if engine in _ENGINES else ""
    text = f"Stop the leak first: stop container {name}, and keep its engine or orchestrator from starting it again."
    return Remedy("stop-container", name, command, text, "the container's function is lost", "none")


def _find(what: What) -> Remedy:
    verb = "makes and removes" if what == "zombies" else "makes"
    also = "" if what == "zombies" else " (a runtime or agent that exits before cleaning up)"
    text = f"Find what {verb} these cgroups{also} and stop it first; the newest names are the best lead."
    return Remedy("find-leaker", "", "", text, "none in looking", "none")


def free(what: What, pins: Iterable[Pins] = ()) -> tuple[Remedy, ...]:
    """How to free what exists: stopping the leak ends the growth only."""
    if what == "directories":
        text = "Then remove the empty directories depth first: rmdir refuses those in use."
        risk = "a runtime that still knows them may complain"
        return (Remedy("remove-directories", "", "", text, risk, "seconds", purges_existing=True),)
    text = "Stopping the leak ends the growth only; a reboot frees every zombie."
    reboot = Remedy("reboot", "", "", text, "the leak begins anew unless it is stopped", "the node's downtime", True)
    return (*_freeing(_together(pins)), reboot)


def _together(pins: Iterable[Pins]) -> list[Pins]:
    by_kind: dict[str, Pins] = {}
    for pin in pins:
        known = by_kind.get(pin.kind, Pins(pin.kind))
        files = (*known.files, *pin.files)
        zombies = (known.zombies or 0) + (pin.zombies or 0) or None
        by_kind[pin.kind] = Pins(pin.kind, zombies, (known.bytes or 0) + (pin.bytes or 0) or None, files)
    return sorted(by_kind.values(), key=lambda pin: (-(pin.bytes or 0), -(pin.zombies or 0), pin.kind))


def _freeing(pins: Iterable[Pins]) -> Iterator[Remedy]:
    for pin in pins:
        there = [file for file in pin.files if not file.endswith("(deleted)")]
        file = f", such as {shlex.quote(there[0])}" if there else ""
        if pin.kind == "tmpfs" and pin.files and not there:
            text = "Then free what exists: the tmpfs files are deleted already; end the processes that still hold them."
        elif pin.kind == "tmpfs":
            text = f"Then free what exists: delete the tmpfs files that pin them and that nobody uses{file}."
        elif pin.kind == "page-cache":
            text = f"Then free what exists: drop the page cache of the files (posix_fadvise DONTNEED){file}."
        elif pin.kind == "anon":
            text = "Then free what exists: end the processes that still hold memory of the removed cgroups."
        else:
            continue
        risk = "reclaim over zombies that cannot be reclaimed can hold a core: free the smallest subtree first"
        yield Remedy("free-zombies", "", "", text, risk, "seconds to minutes of kernel time", purges_existing=True)


def _cgroups(what: What) -> str:
    return "zombies" if what == "zombies" else "directories"


def said(remedy: Remedy) -> str:
    """A remedy in one line: the command, where there is one, then what it is for."""
    return f"{remedy.command}: {remedy.text}" if remedy.command else remedy.text
