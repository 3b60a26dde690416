"""What a recording yields beside samples: the life of tasks and cgroups, and everything that is known to be missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.samples import SampleBatch


@dataclass(frozen=True, slots=True)
class TaskBatch:
    """Forks ("fork"), new names ("comm"), execs ("exec") and exits ("exit"), in time order, as columns.

    Only what happened while recording; what perf found at its start is not news.
    """

    at_ns: NDArray[np.int64]
    kind: NDArray[np.int8]
    pid: NDArray[np.int32]
    tid: NDArray[np.int32]
    parent: NDArray[np.int32]
    comm: NDArray[np.int32]
    comms: tuple[str, ...]

    KINDS = ("fork", "comm", "exec", "exit")

    def __len__(self) -> int:
        return int(self.at_ns.size)


@dataclass(frozen=True, slots=True)
class Lost:
    """Records the kernel could not write because nobody emptied its ring in time. CPU -1: unknown."""

    at_ns: int
    count: int
    cpu: int = -1


@dataclass(frozen=True, slots=True)
class Throttled:
    """The kernel stopped (or resumed) sampling on a CPU because sampling took too long."""

    at_ns: int
    cpu: int
    resumed: bool


@dataclass(frozen=True, slots=True)
class CgroupEvent:
    """A cgroup was made ("mkdir"), removed ("rmdir"), freed ("release"), or a process came to it ("attach_task").

    `root` is the hierarchy's number as in /proc/cgroups, `id` the cgroup's own. `pid` is who was moved, or who acted.
    """

    at_ns: int
    kind: str
    root: int
    id: int
    level: int
    path: str
    pid: int
    comm: str = ""


@dataclass(frozen=True, slots=True)
class CgroupSum:
    """Cgroups below one parent that came and went too fast to be recorded one by one, from `at_ns` on. An empty parent
    stands for all parents without a sum of their own. `pid` made or removed most of them; -1: none was seen to.

    `whole`: of these, how many were made, removed and released within the sum: nothing of them is left.
    """

    at_ns: int
    until_ns: int
    root: int
    parent: str
    made: int
    removed: int
    released: int
    whole: int
    examples: tuple[str, ...]
    pid: int = -1


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes of the stream that could not be understood and were skipped, up to the next place that could."""

    at_ns: int
    skipped: int


Row = SampleBatch | TaskBatch | Lost | Throttled | CgroupEvent | CgroupSum | Gap
