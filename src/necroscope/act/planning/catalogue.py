"""The actions that `fix` knows, as data: what each needs, does, risks and costs, its undo, what it does not end."""

from __future__ import annotations

from necroscope.vocabulary.plan import Action

_PROTECTED = "not protected (system, login path, recorder, runtime, network, storage), nor needed by what is"
_FUNCTION = "the unit's function is lost, and that of units that require it"
_GROWTH = "what has leaked stays until it is freed or the node reboots"

ACTIONS: tuple[Action, ...] = (
    Action(
        "stop-unit",
        "UNIT",
        "systemd stops the unit and waits for its TimeoutStopSec; a SIGKILL is reported",
        f"a loaded service; {_PROTECTED}",
        _FUNCTION,
        "up to TimeoutStopSec",
        "start it, and what stopped with it, where that ran before",
        f"it starts again at the next boot, or when something asks for it; {_GROWTH}",
    ),
    Action(
        "disable-unit",
        "UNIT",
        "removes the links that start the unit and what triggers it, then stops both",
        f"enabled, or triggered by what is enabled; {_PROTECTED}",
        _FUNCTION,
        "up to TimeoutStopSec",
        "the same links, byte for byte, then start what ran before",
        f"something else may still start it by name; {_GROWTH}",
    ),
    Action(
        "mask-unit",
        "UNIT",
        "links the unit to /dev/null, so that nothing can start it, then stops it",
        f"no file of that name in /etc/systemd/system; {_PROTECTED}",
        _FUNCTION,
        "up to TimeoutStopSec",
        "remove our link, then start what ran before",
        f"units that require it fail to start; {_GROWTH}",
    ),
    Action(
        "neutralise-unit",
        "UNIT",
        "a drop-in of ours lets the unit run /bin/true, once, instead of its commands; then stops it",
        f"a service with a file in /etc/systemd/system, which cannot be masked; {_PROTECTED}",
        _FUNCTION,
        "up to TimeoutStopSec",
        "remove our drop-in, then start what ran before",
        f"the unit stays enabled and seems to succeed; {_GROWTH}",
    ),
    Action(
        "limit-restarts",
        "UNIT",
        "a drop-in of ours: at most 5 starts in an hour, 60 s apart; after that systemd gives up",
        f"a service that restarts; {_PROTECTED}",
        "the unit stays down once it has failed 5 times in an hour",
        "none",
        "remove our drop-in, then start the unit if the limit had stopped it",
        f"the leak goes on, at most 5 times an hour; {_GROWTH}",
    ),
    Action(
        "stop-container",
        "CONTAINER",
        "sets the restart policy to `no` where the engine can, then stops the container, with its own stop timeout",
        "known to a Docker-compatible engine; no orchestrator or unit would start it again; not our own container",
        "the container's function is lost",
        "up to the container's stop timeout",
        "the same restart policy, then start it if it ran before",
        f"whoever creates containers may create it anew; {_GROWTH}",
    ),
    Action(
        "stop-process",
        "PID[/NAME]",
        "SIGTERM to one process, known again by its start time; never SIGKILL",
        "belongs to no unit or container that would start it again; not init, the kernel's, or the caller's own line",
        "what the process does, and its memory, is lost",
        "up to 10 s",
        "none: start it by hand",
        "whoever started it may start it again",
    ),
    Action(
        "free-zombies",
        "CGROUP",
        "drops the page cache of the files that pin zombies below it; what is left, if all of it is page cache, is "
        "reclaimed within a time budget, in a child that can be stopped",
        "zombies below it, pinned by page cache; kernel memory can be read",
        "files are read from disk again; reclaim also takes page cache of live cgroups below",
        "milliseconds to the budget, of one core in the kernel",
        "none needed: the cache fills again",
        "zombies pinned by tmpfs, by anonymous memory or by the kernel stay: reclaiming those by force burns a core in "
        "vain",
    ),
    Action(
        "remove-leftover",
        "FILE...",
        "deletes tmpfs files that pin zombies: those that are named, and no others",
        "seen to pin a zombie by device and inode; a regular file on tmpfs; opened or mapped by nobody",
        "what the file held is lost to whoever comes for it by name",
        "none",
        "the same bytes under the same name, as a new file: of 32 files at most, up to 128 KiB each",
        "zombies that other files pin stay",
    ),
    Action(
        "remove-directories",
        "CGROUP",
        "removes empty memory cgroup directories below it, depth first",
        "no process in them, older than a minute, not of a unit of systemd",
        "a runtime that still knows them may complain",
        "milliseconds each",
        "none: there is nothing in them to put back",
        "whoever forgets them goes on; the same directories of other v1 hierarchies stay",
    ),
    Action(
        "reboot",
        "node",
        "asks systemd to reboot this node",
        "named by hand; no other plan is open",
        "everything on the node stops",
        "the node's downtime",
        "none",
        "the leak begins anew unless its source was stopped before",
    ),
)

BY_NAME = {action.name: action for action in ACTIONS}
UNIT_ACTIONS = ("stop-unit", "disable-unit", "mask-unit", "neutralise-unit", "limit-restarts")
