"""What the decoder hands out: batches of samples as columns, and the stacks they refer to.

A stack's identity is the hash of its symbolised frames, so that recordings of many nodes merge without a table
of translations. Canonical bytes: for each frame, outermost first, name + 0x1F + module + 0x1E in UTF-8; the id is
BLAKE2b with 8 bytes of digest over them, read as a little-endian number.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

UNKNOWN = "[unknown]"


class Stack:
    """Frames, outermost first. `modules` has the same length: "[kernel]", "[nf_tables]", "libc.so.6", "[vdso]".

    Kept as its canonical bytes, which is what everybody wants: names are spelled out when somebody asks for them.
    """

    __slots__ = ("canonical", "stack_id")

    def __init__(self, stack_id: int, frames: Iterable[str], modules: Iterable[str]) -> None:
        self.stack_id = stack_id
        self.canonical = b"".join(map(canonical_frame, frames, modules))

    @classmethod
    def spelled(cls, canonical: bytes) -> Self:
        """The stack with these canonical bytes."""
        made = cls.__new__(cls)
        made.canonical = canonical
        made.stack_id = int.from_bytes(hashlib.blake2b(canonical, digest_size=8).digest(), "little")
        return made

    @property
    def text(self) -> str:
        """The canonical bytes as text; what is no UTF-8 is escaped as Python escapes it in names of files."""
        return self.canonical.decode("utf-8", "surrogateescape")

    @property
    def frames(self) -> tuple[str, ...]:
        """The names."""
        return tuple(frame.partition("\x1f")[0] for frame in self.text.split("\x1e")[:-1])

    @property
    def modules(self) -> tuple[str, ...]:
        """Where each name is."""
        return tuple(frame.partition("\x1f")[2] for frame in self.text.split("\x1e")[:-1])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stack) and (self.stack_id, self.canonical) == (other.stack_id, other.canonical)

    def __hash__(self) -> int:
        return self.stack_id

    def __repr__(self) -> str:
        return f"Stack({self.stack_id}, {self.frames}, {self.modules})"


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


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def clean(text: str) -> str:
    """A name without control characters and line ends; what was no UTF-8 is a replacement character."""
    return _CONTROL.sub(_harmless, text) if _CONTROL.search(text) else text


def _harmless(found: re.Match[str]) -> str:
    return "\ufffd" if "\ud800" <= found[0] <= "\udfff" else ""


def canonical_frame(name: str, module: str) -> bytes:
    """One frame's share of a stack's canonical bytes: whatever the names hold, it is one frame."""
    if "\x1e" in name or "\x1f" in name or "\x1e" in module or "\x1f" in module:
        name, module = clean(name), clean(module)
    return f"{name}\x1f{module}\x1e".encode("utf-8", "surrogateescape")


def stack_id(frames: Iterable[bytes]) -> int:
    """The id of a stack from its canonical frames, outermost first."""
    return int.from_bytes(hashlib.blake2b(b"".join(frames), digest_size=8).digest(), "little")
