"""Plans about one process, and about the node as a whole."""

from __future__ import annotations

from necroscope.act.planning.draft import Draft
from necroscope.act.planning.protected import unit_in
from necroscope.act.steps import ASKED, BOOTED, RUNNING, STOPPED
from necroscope.errors import BadInput, Refused
from necroscope.vocabulary.plan import Condition, Plan, Step

_INIT = 1
_ENGINES = ("/docker", "/libpod", "libpod-", "kubepods", "crio-", "containerd")


def stop_process(draft: Draft, subject: str) -> Plan:
    """SIGTERM to one process; with `PID/NAME`, only if it bears that name."""
    text, _, name = subject.partition("/")
    if not text.isdecimal() or len(text) > 9:
        raise BadInput(f"{text} is no pid.", "give the number of one process")
    process = draft.node.processes.process(int(text))
    if process is None:
        raise BadInput(f"There is no process {text}.", "it may have ended")
    if name and process.name != name:
        raise Refused(f"Process {text} is {process.name}, not {name}.", "the number was used again, or on another node")
    if process.pid == _INIT or process.kernel:
        raise Refused(f"Process {text} ({process.name}) is protected: the system.")
    if any(one.pid == process.pid for one in draft.node.processes.callers()):
        raise Refused(f"Process {text} ({process.name}) is protected: the way by which you are here.")
    for cgroup in process.cgroups:
        if (unit := unit_in(cgroup)).endswith(".service") and not unit.startswith("user@"):
            raise Refused(f"Process {text} belongs to {unit}.", f"necroscope fix stop-unit {unit}")
        if any(name in cgroup for name in _ENGINES):
            raise Refused(f"Process {text} runs in a container ({cgroup}).", "necroscope fix stop-container NAME")
    says = f"SIGTERM to process {process.pid} ({process.name}, started at tick {process.start_ticks})"
    step = Step(
        "end-process",
        str(process.pid),
        says,
        RUNNING,
        STOPPED,
        undoable=False,
        conditions=(draft.same_boot(), Condition("process", str(process.pid), process.identity)),
        items=((process.identity, RUNNING),),
    )
    return draft.made("process", f"{process.name} ({process.pid})", [step])


def reboot(draft: Draft) -> Plan:
    """Ask systemd for a reboot."""
    boot_id = draft.node.boot.id()
    says = 'D-Bus org.freedesktop.systemd1.Manager.StartUnit("reboot.target", "replace-irreversibly")'
    step = Step("reboot", boot_id, says, ASKED, BOOTED, undoable=False, conditions=(draft.same_boot(),))
    return draft.made("kernel", "node", [step])
