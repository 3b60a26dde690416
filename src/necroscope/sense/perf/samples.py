"""What the decoder hands out: batches of samples as columns, and the stacks they refer to.

A stack's identity is the hash of its symbolised frames, so that recordings of many nodes merge without a table
of translations. Canonical bytes: for each frame, outermost first, name + 0x1F + module + 0x1E in UTF-8; the id is
BLAKE2b with 8 bytes of digest over them, read as a little-endian number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNKNOWN = "[unknown]"


@dataclass(frozen=True, slots=True)
class Stack:
    """Frames, outermost first. `modules` has the same length: "[kernel]", "[nf_tables]", "libc.so.6", "[vdso]"."""

    stack_id: int
    frames: tuple[str, ...]
    modules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SampleBatch:
    """Samples in time order as far as perf promises. Columns have equal length; text columns are codes into tuples.

    `at_ns` is on the clock of the recording (CLOCK_MONOTONIC for `--clockid mono`). "" as a cgroup is unknown.
    `weight` is the period: nanoseconds for clocks. `stacks` are those this decoder has not handed out before.
    """

    at_ns: NDArray[np.int64]
    cpu: NDArray[np.int32]
    pid: NDArray[np.int32]
    tid: NDArray[np.int32]
    comm: NDArray[np.int32]
    comms: tuple[str, ...]
    cgroup: NDArray[np.int32]
    cgroups: tuple[str, ...]
    event: NDArray[np.int32]
    events: tuple[str, ...]
    weight: NDArray[np.int64]
    stack_id: NDArray[np.uint64]
    stacks: tuple[Stack, ...]

    def __len__(self) -> int:
        return int(self.at_ns.size)


def canonical_frame(name: str, module: str) -> bytes:
    """One frame's share of a stack's canonical bytes."""
    return f"{name}\x1f{module}\x1e".encode("utf-8", "surrogateescape")


def stack_id(frames: Iterable[bytes]) -> int:
    """The id of a stack from its canonical frames, outermost first."""
    return int.from_bytes(hashlib.blake2b(b"".join(frames), digest_size=8).digest(), "little")
