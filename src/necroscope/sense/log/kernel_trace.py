"""Lines of a kernel stack dump: what each line of it says. Who they belong to is decided by `episodes`.

A dump is a sequence of sections, each about one CPU or one task:

    CPU: 39 PID: 4711 Comm: kubelet Not tainted 5.15.0 #1       (since 6.12 with UID: between)
    RIP: 0010:mem_cgroup_iter+0x5a/0x1d0                        (arm64: pc : func+0x..)
    Call Trace:
     <TASK>
     mem_cgroup_iter+0x5a/0x1d0
     ? unreliable+0x1/0x2                                       (a leftover on the stack: not a frame)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

LineKind = Literal["cpu", "task", "function", "frame", "restart", "other", "end"]
STACK_LIMIT = 64
_DUMPERS = frozenset(
    (
        "nmi_cpu_backtrace",
        "nmi_trigger_cpumask_backtrace",
        "rcu_dump_cpu_stacks",
        "print_cpu_stall",
        "rcu_sched_clock_irq",
        "rcu_check_callbacks",
    )
)

_NAME = r"(?P<name>[A-Za-z_][\w.$]{0,127})\+0x[0-9a-f]{1,16}/0x[0-9a-f]{1,16}"
_ADDRESS = r"(?:\[<[0-9a-f]{1,16}>\]\s{1,2})"
_CPU = re.compile(
    r"(?:WARNING: )?CPU: (?P<cpu>\d{1,9}) (?:UID: \d{1,10} )?PID: (?P<pid>\d{1,10})(?: Comm: (?P<task>.{1,20}?)"
    r"(?= (?:Kdump: loaded |Not tainted|Tainted)|$))?",
    re.ASCII,
)
_SECTION = re.compile(r"(?:NMI backtrace for cpu|Task dump for CPU) (?P<cpu>\d{1,9})", re.ASCII)
_TASK = re.compile(r"task:(?P<task>.{1,64}?)\s+state:\S.{0,80}?\bpid:\s{0,8}(?P<pid>\d{1,10})", re.ASCII)
_OLD_TASK = re.compile(
    r"(?P<task>\S.{0,63}?)\s+[RSDTtXZPI]\s.{0,60}?\s(?P<pid>\d{1,10})\s+\d{1,10} 0x[0-9a-f]{8}", re.ASCII
)
# Code segment 0010 is the kernel; 0033 is user space, whose address says nothing here.
_FUNCTION = re.compile(rf"(?:RIP: 0010:(?:{_ADDRESS}\s{{0,2}}{_ADDRESS}?)?|EIP: |pc : ){_NAME}", re.ASCII)
_FRAME = re.compile(
    rf"\s{{0,4}}{_ADDRESS}?(?P<guess>\? )?{_NAME}(?: \[[^\]]{{1,100}}\])?(?: \([A-Z]{{1,4}}\))?\s*$", re.ASCII
)
_RESTART = re.compile(r"\s{0,4}(?:</(?:IRQ|NMI|SOFTIRQ)>|<EOI>|<TASK>)", re.ASCII)
_END = re.compile(r"---\[ end trace|-{8,}\[ cut here", re.ASCII)
_OTHER = re.compile(
    r"\s{0,4}(?:Call [Tt]race:|</?\w{1,12}>|Modules linked in:|Hardware name:|Workqueue: |Tainted: |Not tainted|Stack:|"
    r"Code: |Sending NMI |NMI backtrace |Kernel panic|WARNING: |Exception stack|CPU#\d{1,5} |"
    r"(?:R[A-DS][XIP]|R[01]\d|RIP|RSP|E[A-DS][XIP]|EFLAGS|FS|CS|CR\d|DR\d|PKRU|lr |sp |pstate|x\d{1,2} ?): ?|"
    r"irq event stamp|hardirqs last|softirqs last|"
    r'"echo 0 > /proc|Blocked by coredump|'
    r"rcu: |\d{1,5}-\S{1,4}: \(|\((?:t=|detected by)|RCU grace-period kthread|Stack dump where RCU|Unless rcu|"
    r"Possible timer )",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One line of a dump. `frame` with an empty name is an unreliable one, to be left out."""

    kind: LineKind
    name: str = ""
    cpu: int | None = None
    pid: int | None = None
    task: str = ""


def read_line(text: str) -> TraceLine | None:
    """What a line says in a stack dump; None when it is no part of one. Never raises."""
    text = text[:1024]
    if found := _FRAME.match(text):
        return TraceLine("frame", "" if found["guess"] else found["name"])
    if found := _CPU.match(text):
        return TraceLine("cpu", cpu=int(found["cpu"]), pid=int(found["pid"]), task=found["task"] or "")
    if found := _SECTION.match(text):
        return TraceLine("cpu", cpu=int(found["cpu"]))
    if found := _FUNCTION.match(text):
        return TraceLine("function", found["name"])
    if found := _TASK.match(text) or _OLD_TASK.match(text):
        return TraceLine("task", pid=int(found["pid"]), task=found["task"].strip())
    if _END.match(text):
        return TraceLine("end")
    if _RESTART.match(text):
        return TraceLine("restart")
    return TraceLine("other") if _OTHER.match(text) or text.startswith("      ") else None


class Stack:
    """Collects one section: the function that ran, and its callers, innermost first."""

    __slots__ = ("_frames", "function")

    def __init__(self) -> None:
        self.function = ""
        self._frames: list[str] = []

    def add(self, line: TraceLine) -> None:
        """Take one line. Frames of the dump's own interrupt are dropped where the interrupted code begins."""
        if line.kind == "frame" and line.name and len(self._frames) < STACK_LIMIT:
            self._frames.append(line.name)
        elif line.kind in ("restart", "function") and not self.function:
            # A CPU that dumps its own stack shows the dumping on top: the culprit is below, and its registers follow.
            if not _DUMPERS.isdisjoint(self._frames):
                self._frames.clear()
            if line.kind == "function" and not self._frames:
                self.function = line.name

    @property
    def frames(self) -> tuple[str, ...]:
        """Innermost first, the function that ran being the first where it is known."""
        if self.function and self._frames[:1] != [self.function]:
            return (self.function, *self._frames)
        return tuple(self._frames)
