"""Who ordered the work that another core, or another process, had to do: senders, forkers, whoever flushes TLBs.

Some mechanisms hit a core from elsewhere. Who is behind them is seen by what he calls, on any core, in the same window:
more than anybody else, and more than in quiet times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from necroscope.diagnose.why.identity import is_the_kernels
from necroscope.diagnose.why.suspects import context_of
from necroscope.query.kernel_frames import kernel_functions
from necroscope.query.profile import Profile

_SEND = (
    "__sys_sendto",
    "__sys_sendmsg",
    "__sys_sendmmsg",
    "sock_sendmsg",
    "__sock_sendmsg",
    "sock_write_iter",
    "udp_sendmsg",
    "udpv6_sendmsg",
    "tcp_sendmsg",
    "packet_sendmsg",
    "raw_sendmsg",
    "ping_v4_sendmsg",
    "xsk_sendmsg",
)
_FORK = (
    "kernel_clone",
    "_do_fork",
    "do_fork",
    "__do_sys_clone",
    "__do_sys_clone3",
    "__do_sys_vfork",
    "copy_process",
    "kernel_wait4",
    "do_wait",
    "kernel_waitid",
)
_FLUSH = (
    "flush_tlb_mm_range",
    "smp_call_function_many_cond",
    "smp_call_function_many",
    "on_each_cpu_cond_mask",
    "native_flush_tlb_multi",
    "native_flush_tlb_others",
    "arch_tlbbatch_flush",
    "tlb_finish_mmu",
    "membarrier_private_expedited",
)
FLOOD = "softirq-flood"
NEVER = float("inf")
_FROM_OUTSIDE = 0.5
ORDERED_BY: Mapping[str, tuple[str, ...]] = {
    FLOOD: _SEND,
    "exec-storm": _FORK,
    "fork-storm": _FORK,
    "tlb-shootdown": _FLUSH,
}
"""Mechanism -> functions of whoever orders it."""

OWN_CGROUP = frozenset({"exec-storm", "fork-storm"})
"""Mechanisms whose work runs in the cgroup of whoever orders it: children begin where their parent is."""


_LITTLE, _MUCH = 0.05, 0.3


@dataclass(frozen=True, slots=True)
class Orderer:
    """Somebody who called such functions: how long in the window, his part of all that did, and before (a second of
    window compared with a second of quiet time; None: nothing to compare)."""

    name: str
    cgroup: str
    pids: tuple[int, ...]
    seconds: float
    part: float
    lift: float | None


def least_share(mechanism: str, facts: Mapping[str, float]) -> float:
    """How long somebody must have called them, against the core's starved time, to have ordered it.

    Packets that came in through a network device were sent elsewhere, whatever a server here answers to them. Where
    nobody counted those, who sent what it takes a core to receive was about as busy himself.
    """
    if mechanism != FLOOD:
        return _LITTLE
    outside, handled = facts.get("nic_rx_packets"), facts.get("softnet_processed_packets_core")
    if outside is None or not handled:
        return _MUCH
    return _LITTLE if outside < _FROM_OUTSIDE * handled else NEVER


def orderers(profile: Profile, functions: tuple[str, ...], cgroups: frozenset[str] = frozenset()) -> list[Orderer]:
    """Who called these functions in the first window of a profile of all cores, the most first; of some cgroups only,
    where these are given."""
    ledger = profile.ledger
    wanted = frozenset(functions)
    calls = np.array(
        [bool(wanted.intersection(kernel_functions(text))) and not context_of(text) for text in ledger.stacks]
    )
    rows = np.flatnonzero(calls[ledger.stack]) if calls.size else np.zeros(0, np.int64)
    took: dict[tuple[str, str], list[float]] = {}
    pids: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows.tolist():
        task = ledger.tasks[int(ledger.task[row])]
        if is_the_kernels(task.comm, (task.cgroup,)) or (cgroups and task.cgroup not in cgroups):
            continue
        key, seconds = (task.comm, task.cgroup), float(ledger.weight[row]) * profile.per_weight
        both = took.setdefault(key, [0.0, 0.0])
        both[0 if ledger.window[row] == 0 else 1] += seconds
        if ledger.window[row] == 0:
            mine = pids.setdefault(key, {})
            mine[task.pid] = mine.get(task.pid, 0.0) + seconds
    total = sum(now for now, _ in took.values())
    quiet, length = float(profile.seconds[1:].sum()), float(profile.seconds[0])
    found = []
    for (name, cgroup), (now, before) in took.items():
        if now > 0:
            lift = (now / length) / max(before / quiet, 0.002) if quiet > 0 else None
            who = pids[name, cgroup]
            ranked = tuple(sorted(who, key=lambda pid: -who[pid]))
            found.append(Orderer(name, cgroup, ranked, now, now / total, lift))
    return sorted(found, key=lambda one: -one.seconds)
