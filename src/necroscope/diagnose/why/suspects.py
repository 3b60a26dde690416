"""Who was on a core: its samples in the window by process, cgroup and context, against what is normal there.

A sample in an interrupt is nobody's: it hit whoever ran. A soft interrupt that a system call ran at its own end is the
caller's. Whoever is always there is not the cause of what is rare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.query import odds
from necroscope.query.kernel_frames import kernel_functions
from necroscope.query.profile import Profile
from necroscope.sense.perf.idle import innermost
from necroscope.sense.perf.modules import in_kernel

F64s = NDArray[np.float64]
I64s = NDArray[np.int64]
SURE = 1e-3
"""How unlikely a count must be by chance before it counts as unusual."""

_IRQ = (
    "asm_sysvec_",
    "sysvec_",
    "asm_common_interrupt",
    "common_interrupt",
    "do_IRQ",
    "ret_from_intr",
    "apic_timer_interrupt",
    "smp_apic_timer_interrupt",
    # Those that send one (smp_call_function_many_cond, ...) are in a system call of their own.
    "smp_call_function_interrupt",
    "smp_call_function_single_interrupt",
    "generic_smp_call_function_",
    "call_function_interrupt",
    "call_function_single_interrupt",
    "reschedule_interrupt",
    "el1_irq",
    "el0_irq",
    "el1h_64_irq",
    "el0t_64_irq",
    "el1_interrupt",
    "el0_interrupt",
    "gic_handle_irq",
    "handle_arch_irq",
    "irq_exit",
    "__irq_exit",
    "hv_stimer",
    "xen_evtchn_do_upcall",
)
_SOFTIRQ = (
    "__do_softirq",
    "handle_softirqs",
    "__softirqentry_text_start",
    "do_softirq",
    "run_ksoftirqd",
    "smpboot_softirq",
)
SOFTIRQ_THREAD = "ksoftirqd/"
_IN_INTERRUPT = {"softirq": "soft interrupts", "irq": "interrupts"}


@dataclass(frozen=True, slots=True)
class Suspect:
    """Somebody on the core. `share` is of the core's time, `before` the same in quiet times; None: nothing to compare.

    `context` is empty for a process, `softirq` or `irq` for interrupts, which are nobody's.
    """

    name: str
    cgroup: str
    context: str
    pids: tuple[int, ...]
    seconds: float
    share: float
    before: float | None
    chance: float
    kernel: float
    stacks: tuple[tuple[str, float], ...]

    @property
    def pid(self) -> int | None:
        """Its process; None where several of that name took turns."""
        return self.pids[0] if len(self.pids) == 1 else None

    @property
    def excess(self) -> float:
        """How much more of the core it took than in quiet times."""
        return self.share - (self.before or 0.0)

    @property
    def unusual(self) -> bool:
        """Whether it took more than in quiet times, and more than by chance. Without these, only a guess."""
        if self.before is None:
            return True
        return self.chance < SURE and self.share >= 1.5 * self.before

    @property
    def title(self) -> str:
        """How it is called in a sentence."""
        if self.context:
            return _IN_INTERRUPT[self.context]
        return f"{self.name} (pid {self.pid})" if self.pid is not None else self.name


@dataclass(frozen=True, slots=True)
class LineUp:
    """Everybody on the core, the most suspicious first, and what share of its time the samples tell about."""

    suspects: tuple[Suspect, ...]
    by_cgroup: tuple[Suspect, ...]
    everybody: Suspect | None
    sampled: float
    blocks: int


def line_up(profile: Profile, length_s: float) -> LineUp:
    """The suspects of a profile's first window, which lasted so long; its other windows are quiet times."""
    ledger = profile.ledger
    contexts = [context_of(text) for text in ledger.stacks]
    kernel = np.array([runs_in_kernel(text) for text in ledger.stacks] or [False])
    names = _process_names(profile)
    labels: dict[tuple[str, str, str], int] = {}
    of_pair = np.empty(ledger.task.size, np.int64)
    for row, (task, stack) in enumerate(zip(ledger.task.tolist(), ledger.stack.tolist(), strict=True)):
        of_pair[row] = labels.setdefault(_label(profile, names, contexts, task, stack), len(labels))
    found = _suspects(profile, list(labels), of_pair, kernel, length_s)
    groups: dict[str, int] = {}
    by_group = [groups.setdefault(label[1] if not label[2] else "", len(groups)) for label in labels]
    of_group = np.array(by_group or [0], np.int64)[of_pair]
    cgroups = _suspects(profile, [("", name, "") for name in groups], of_group, kernel, length_s)
    whole = _suspects(profile, [("", "", "")], np.zeros(ledger.task.size, np.int64), kernel, length_s)
    return LineUp(
        tuple(sorted(found, key=lambda one: (-one.excess, one.name))),
        tuple(sorted((one for one in cgroups if one.cgroup not in ("", "/")), key=lambda one: -one.excess)),
        whole[0] if whole else None,
        whole[0].share if whole else 0.0,
        len(ledger.windows) - 1,
    )


def _label(
    profile: Profile, names: dict[int, str], contexts: Sequence[str], task: int, stack: int
) -> tuple[str, str, str]:
    who = profile.ledger.tasks[task]
    context = contexts[stack]
    if context or who.comm.startswith(SOFTIRQ_THREAD):
        return "", "", context or "softirq"
    return names.get(who.pid, who.comm) if who.pid >= 0 else who.comm, who.cgroup, ""


def _process_names(profile: Profile) -> dict[int, str]:
    """A process is called as its main thread; an exec in between leaves it its last name. Threads follow it."""
    names: dict[int, str] = {}
    several: set[int] = set()
    for task in profile.ledger.tasks:
        if task.tid == task.pid:
            if task.pid in names:
                several.add(task.pid)
            names[task.pid] = task.comm
    return {pid: name for pid, name in names.items() if pid not in several}


def _suspects(
    profile: Profile, labels: list[tuple[str, str, str]], of_row: I64s, kernel: NDArray[np.bool_], length_s: float
) -> list[Suspect]:
    ledger = profile.ledger
    if not ledger.task.size or not labels:
        return []
    counts, weight = ledger.by(of_row, len(labels))
    seconds = weight * profile.per_weight
    quiet = float(profile.seconds[1:].sum())
    chance = odds.surprise(counts, profile.core_seconds)
    first = ledger.window == 0
    found = []
    for number, (name, cgroup, context) in enumerate(labels):
        rows = np.flatnonzero(first & (of_row == number))
        if not rows.size:
            continue
        inside = float((ledger.weight[rows] * kernel[ledger.stack[rows]]).sum() / max(1e-9, ledger.weight[rows].sum()))
        found.append(
            Suspect(
                name,
                cgroup,
                context,
                _pids(profile, rows) if name else _softirq_thread(profile, rows),
                float(seconds[number, 0]),
                float(seconds[number, 0]) / max(length_s, 1e-9),
                float(seconds[number, 1:].sum()) / quiet if quiet > 0 else None,
                float(chance[number]),
                inside,
                _stacks(profile, rows),
            )
        )
    return found


def _pids(profile: Profile, rows: I64s) -> tuple[int, ...]:
    """Processes by how much they took, the most first."""
    took: dict[int, float] = {}
    for row in rows.tolist():
        pid = profile.ledger.tasks[int(profile.ledger.task[row])].pid
        took[pid] = took.get(pid, 0.0) + float(profile.ledger.weight[row])
    return tuple(sorted((pid for pid in took if pid >= 0), key=lambda pid: -took[pid]))


def _softirq_thread(profile: Profile, rows: I64s) -> tuple[int, ...]:
    """The kernel's thread that worked off soft interrupts, where it did so most of the time."""
    tasks = [profile.ledger.tasks[int(profile.ledger.task[row])] for row in rows.tolist()]
    own = [number for number, task in enumerate(tasks) if task.comm.startswith(SOFTIRQ_THREAD)]
    weight = profile.ledger.weight[rows]
    if own and float(weight[own].sum()) >= 0.5 * float(weight.sum()):
        return (tasks[own[0]].pid,)
    return ()


def _stacks(profile: Profile, rows: I64s) -> tuple[tuple[str, float], ...]:
    ledger = profile.ledger
    numbers, place = np.unique(ledger.stack[rows], return_inverse=True)
    weight = np.bincount(place.reshape(-1), ledger.weight[rows] * profile.per_weight)
    order = np.argsort(-weight)
    return tuple((ledger.stacks[int(numbers[one])], float(weight[one])) for one in order.tolist())


def frames_of(text: str) -> list[str]:
    """Names of a stack's functions, outermost first."""
    return [frame.partition("\x1f")[0] for frame in text.split("\x1e")[:-1]]


def context_of(text: str) -> str:
    """`irq` or `softirq` for a stack that an interrupt laid on whoever ran; else empty."""
    interrupted = False
    for name in kernel_functions(text):
        if name.startswith(_IRQ):
            interrupted = True
        elif name in _SOFTIRQ and (interrupted or name in ("run_ksoftirqd", "smpboot_softirq")):
            return "softirq"
    return "irq" if interrupted else ""


def runs_in_kernel(text: str) -> bool:
    """Whether the innermost function is the kernel's."""
    return in_kernel(innermost(text)[2])


def top_functions(suspect: Suspect, most: int = 4) -> list[tuple[str, float]]:
    """Functions in which the suspect's time went, the innermost of each stack, with their share."""
    total = sum(weight for _, weight in suspect.stacks) or 1.0
    took: dict[str, float] = {}
    for text, weight in suspect.stacks:
        name = innermost(text)[0]
        took[name] = took.get(name, 0.0) + weight
    ranked = sorted(took.items(), key=lambda pair: -pair[1])[:most]
    return [(name, weight / total) for name, weight in ranked]
