"""Folded stacks, as flame graph tools take them: thread name and frames, outermost first, and how many samples.

    worker;main;read;do_syscall_64_[k];vfs_read_[k] 17

Kernel frames end in `_[k]`, as `stackcollapse-perf --kernel` marks them. What separates in this format is replaced in
names: `;` becomes `:`, blanks of a thread's name `_`; unprintable characters are written out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from necroscope.query.samples.counting import count_samples
from necroscope.query.samples.sample_counts import SampleCounts
from necroscope.query.select import FOLDED
from necroscope.sense.perf.modules import in_kernel
from necroscope.show.export.frames import FrameTable
from necroscope.show.export.source import Source
from necroscope.show.plain import plain


def write(source: Source, file: BinaryIO) -> None:
    """The samples of a source as folded stacks."""
    counts = count_samples([source.select.window], source.chunks())
    source.cut = counts.cut
    for line in lines(counts):
        file.write(f"{line}\n".encode("utf-8", "backslashreplace"))


def lines(counts: SampleCounts) -> Iterator[str]:
    """A line for each thread name and stack, by thread name. Imported lines come out as they came in, without one."""
    if not counts.samples.size:
        return
    table = FrameTable()
    stacks = [table.numbers(text) for text in counts.stacks]
    names = [_frame(name, module) for name, module in table.labels()]
    comms = sorted({task.comm for task in counts.tasks})
    number = {comm: place for place, comm in enumerate(comms)}
    comm_of = np.array([number[task.comm] for task in counts.tasks], np.int64)
    key = comm_of[counts.task] * len(stacks) + counts.stack
    keys, place = np.unique(key, return_inverse=True)
    samples, _ = counts.by(place.reshape(-1).astype(np.int64), keys.size)
    for one, count in zip(keys.tolist(), samples.sum(axis=1).tolist(), strict=True):
        comm, stack = divmod(one, len(stacks))
        thread = () if counts.event == FOLDED and not comms[comm] else (_thread(comms[comm]),)
        yield ";".join([*thread, *(names[frame] for frame in stacks[stack])]) + f" {count}"


def _thread(comm: str) -> str:
    return plain(comm.replace(";", ":").replace(" ", "_")) or "[unknown]"


def _frame(name: str, module: str) -> str:
    return plain(name.replace(";", ":")) + ("_[k]" if in_kernel(module) else "")
