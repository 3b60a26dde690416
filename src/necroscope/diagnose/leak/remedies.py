"""What can be done about a leak: stop who leaks first, then free what exists. Written once, quoted for the shell.

Commands are those of `necroscope fix`, which shows what would change before it changes anything.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

from necroscope.diagnose.leak.attribution import Leak
from necroscope.diagnose.leak.witnesses import called
from necroscope.vocabulary.leak_facts import LeakUnit, Pins, What
from necroscope.vocabulary.verdict import Remedy

_LOST = "the unit's function is lost; look at what depends on it first"
_NOT_ENABLED = ("static", "transient", "generated", "alias")
ENGINES = ("docker", "podman")


def remedies(what: What, leak: Leak | None, pins: Iterable[Pins] = (), below: str = "") -> tuple[Remedy, ...]:
    """First what stops the growth, then what frees what is there; without a leaker, how to find one. `below` is the
    live cgroup below which most of it is, where the leaker's own is not known."""
    parents = [family.parent for family in leak.families if family.parent] if leak is not None else []
    return (stop(leak) if leak is not None else _find(what), *free(what, pins, parents[0] if parents else below))


def fixing(action: str, subject: str) -> str:
    """The command that plans a change."""
    return f"necroscope fix {action} -- {shlex.quote(subject)}"


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
        pid = leak.process.pid if leak.process is not None else None
        command = fixing("stop-process", f"{pid}/{name}") if pid is not None else ""
        return Remedy("stop-process", name, command, text, "what the process does is lost", "none")
    text = f"Stop the leak first: find out who starts {leak.subject.kind} {name} over and over, and stop that."
    return Remedy("find-leaker", name, "", text, "none in looking", "none")


def _stop_unit(name: str, unit: LeakUnit | None, what: str) -> Remedy:
    action = stopping(unit.unit_file_state if unit else "", unit.triggered_by if unit else ())
    text = f"Stop the leak first, if the node can do without {name}: the {what} stop growing at once. Can be undone."
    return Remedy(action, name, fixing(action, name), text, _LOST, "none")


def stopping(unit_file_state: str, triggers: Sequence[str]) -> str:
    """The action that stops a unit and keeps it stopped. A unit without an install section cannot be disabled, unless
    something triggers it; it can be stopped."""
    return "stop-unit" if unit_file_state in _NOT_ENABLED and not triggers else "disable-unit"


def _stop_container(leak: Leak) -> Remedy:
    name = leak.subject.name
    engine = leak.container.engine if leak.container is not None else ""
    # A recording does not tell the engine: fix looks for the container behind the sockets that it knows.
    command = fixing("stop-container", name) if engine in ("", *ENGINES) else ""
    text = f"Stop the leak first: stop container {name}, and keep its engine or orchestrator from starting it again."
    return Remedy("stop-container", name, command, text, "the container's function is lost", "none")


def _find(what: What) -> Remedy:
    verb = "makes and removes" if what == "zombies" else "makes"
    also = "" if what == "zombies" else " (a runtime or agent that exits before cleaning up)"
    text = f"Find what {verb} these cgroups{also} and stop it first; the newest names are the best lead."
    return Remedy("find-leaker", "", "", text, "none in looking", "none")


def free(what: What, pins: Iterable[Pins] = (), below: str = "") -> tuple[Remedy, ...]:
    """How to free what exists: stopping the leak ends the growth only."""
    if what == "directories":
        text = "Then remove the empty directories depth first: rmdir refuses those in use."
        risk = "a runtime that still knows them may complain"
        command = fixing("remove-directories", below) if below else ""
        return (Remedy("remove-directories", "", command, text, risk, "seconds", purges_existing=True),)
    text = "Stopping the leak ends the growth only; a reboot frees every zombie."
    risk, cost = "the leak begins anew unless it is stopped", "the node's downtime"
    reboot = Remedy("reboot", "", "necroscope fix reboot", text, risk, cost, purges_existing=True)
    return (*_freeing(_together(pins), below), reboot)


def _together(pins: Iterable[Pins]) -> list[Pins]:
    by_kind: dict[str, Pins] = {}
    for pin in pins:
        known = by_kind.get(pin.kind, Pins(pin.kind))
        files = (*known.files, *pin.files)
        zombies = (known.zombies or 0) + (pin.zombies or 0) or None
        by_kind[pin.kind] = Pins(pin.kind, zombies, (known.bytes or 0) + (pin.bytes or 0) or None, files)
    return sorted(by_kind.values(), key=lambda pin: (-(pin.bytes or 0), -(pin.zombies or 0), pin.kind))


def _freeing(pins: Iterable[Pins], below: str) -> Iterator[Remedy]:
    for pin in pins:
        command = ""
        there = [file for file in pin.files if not file.endswith("(deleted)")]
        file = f", such as {shlex.quote(there[0])}" if there else ""
        if pin.kind == "tmpfs" and pin.files and not there:
            text = "Then free what exists: the tmpfs files are deleted already; end the processes that still hold them."
        elif pin.kind == "tmpfs":
            text = f"Then free what exists: delete the tmpfs files that pin them and that nobody uses{file}."
            command = fixing("remove-leftover", there[0]) if there and there[0].startswith("/") else ""
        elif pin.kind == "page-cache":
            text = f"Then free what exists: drop the page cache of the files (posix_fadvise DONTNEED){file}."
            command = fixing("free-zombies", below) if below else ""
        elif pin.kind == "anon":
            text = "Then free what exists: end the processes that still hold memory of the removed cgroups."
        else:
            continue
        risk = "reclaim over zombies that cannot be reclaimed can hold a core: free the smallest subtree first"
        yield Remedy("free-zombies", "", command, text, risk, "seconds to minutes of kernel time", purges_existing=True)


def _cgroups(what: What) -> str:
    return "zombies" if what == "zombies" else "directories"


def said(remedy: Remedy) -> str:
    """A remedy in one line: the command, where there is one, then what it is for."""
    return f"{remedy.command}: {remedy.text}" if remedy.command else remedy.text
