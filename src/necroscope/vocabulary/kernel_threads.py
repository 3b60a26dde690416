"""Threads of the kernel, by their names. Anybody may give a process such a name: only its cgroup tells the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAME = re.compile(
    r"swapper(/\d+)?|(ksoftirqd|migration|cpuhp|watchdog|idle_inject|rcu[a-z]{1,2}|backlog_napi)/\d+|:-?\d+"
    r"|kworker/[\w:]{1,12}([-+][\w.+-]*)?|(kswapd|kcompactd|scsi_eh_|kdamond\.|md)\d+|rcu_[a-z_]+(/\d+)?"
    r"|khugepaged|ksmd|kthreadd|kauditd|khungtaskd|oom_reaper|writeback|kblockd|kdevtmpfs|watchdogd|kdamond"
    r"|jbd2/(nvme|sd|vd|xvd|dm-|md)[\w-]*"
)


def is_kernel_thread(name: str) -> bool:
    """Whether a thread's name has a shape that kernels give theirs."""
    return _NAME.fullmatch(name) is not None


def is_the_kernels(name: str, cgroups: Iterable[str]) -> bool:
    """Whether it is a thread of the kernel: by its whole name, and because nobody put it into a cgroup."""
    return is_kernel_thread(name) and all(one in ("", "/") for one in cgroups)
