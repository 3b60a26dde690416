"""Which rows are of the kernel's own threads: by what they did, never by what they are called.

A thread of the kernel's is in no cgroup and has no code outside the kernel, so no sample of its process has a frame of
a program; and it has no memory of its own. The idle task is process 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from necroscope.sense.perf.modules import NOT_KERNEL, in_kernel
from necroscope.store.format.arrow import Tables

Mask = NDArray[np.bool_]

_ROOT = pa.array(["", "/"])


def kernel_threads(tables: Tables) -> dict[str, Mask]:
    """For tables that name threads, a mask of the rows that are of the kernel's."""
    found: dict[str, Mask] = {}
    if "samples" in tables:
        found["samples"] = _of_samples(tables["samples"], tables.get("stacks"))
    if "processes" in tables:
        found["processes"] = _of_processes(tables["processes"])
    return found


def entry(frames: Sequence[str]) -> int:
    """The number of the frame from which on, to the innermost, a stack is in the kernel: nothing that is the kernel's
    calls a program. Frames of which nobody knows what they are belong to either."""
    for number in range(len(frames) - 1, -1, -1):
        module = frames[number].partition("\x1f")[2]
        if not in_kernel(module) and module not in NOT_KERNEL:
            return number + 1
    return 0


def _of_samples(samples: pa.Table, stacks: pa.Table | None) -> Mask:
    pids = samples["pid"].to_numpy()
    within = np.array([], np.uint64)
    if stacks is not None:
        texts = zip(stacks["stack_id"].to_pylist(), stacks["frames"].to_pylist(), strict=True)
        within = np.array([number for number, text in texts if _within(text.split("\x1e")[:-1])], np.uint64)
    strange = ~np.isin(samples["stack_id"].to_numpy(), within) | ~_in_root(samples)
    mask: Mask = (pids == 0) | ((pids > 0) & ~np.isin(pids, pids[strange]))
    return mask


def _within(frames: list[str]) -> bool:
    return entry(frames) == 0 and any(in_kernel(frame.partition("\x1f")[2]) for frame in frames)


def _of_processes(processes: pa.Table) -> Mask:
    own = (processes["rss_kib"].to_numpy() != 0) | (processes["user_ms"].to_numpy() != 0)
    mask: Mask = ~own & _in_root(processes)
    return mask


def _in_root(table: pa.Table) -> Mask:
    mask: Mask = pc.is_in(table["cgroup"].cast(pa.string()), value_set=_ROOT).to_numpy(zero_copy_only=False)
    return mask
