"""Some samples as columns, with the stacks that they name: what readers of samples hand out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.query.numbering import numbered
from necroscope.query.select import FOLDED

I64s = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Words:
    """A column of words: codes into names."""

    codes: NDArray[np.int32]
    names: tuple[str, ...]

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Words:
        """A column of texts, or of a dictionary of them."""
        array = column.unify_dictionaries().combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks else pa.array([], pa.string())
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        return cls(array.indices.to_numpy(zero_copy_only=False), tuple(array.dictionary.to_pylist()))

    def taken(self, rows: NDArray[Any]) -> Words:
        """Some rows of it."""
        return Words(self.codes[rows], self.names)

    def among(self, wanted: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Which rows have a name that is wanted."""
        return np.array([wanted(name) for name in self.names] or [False])[self.codes]


class StackTexts:
    """The stacks that samples name by number: ids and frames (canonical text, see docs/store-format.md)."""

    def __init__(self, ids: NDArray[np.uint64], frames: pa.Array) -> None:
        self._ids, self._frames = ids, frames

    def __len__(self) -> int:
        return int(self._ids.size)

    def ids(self, numbers: I64s) -> NDArray[np.uint64]:
        """Content hashes of stacks."""
        return self._ids[numbers]

    @property
    def nbytes(self) -> int:
        """Memory that they take."""
        return int(self._ids.nbytes + self._frames.nbytes)

    def only(self, numbers: I64s) -> StackTexts:
        """Some of them, in this order."""
        return StackTexts(self._ids[numbers], pa.array(self.frames(numbers), pa.string()))

    def frames(self, numbers: I64s) -> list[str]:
        """Frames of stacks, outermost first, each as name, 0x1F, module, 0x1E."""
        # `take` would import all of Arrow's functions, for which a flame graph waits longer than for its samples.
        _, bounds, data = self._frames.buffers()
        if data is None:
            return [""] * len(numbers)
        place = np.frombuffer(bounds, np.int32)[self._frames.offset :]
        spans = zip(place[numbers].tolist(), place[numbers + 1].tolist(), strict=True)
        text = memoryview(data)
        return [str(text[low:high], "utf-8") for low, high in spans]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some samples. `stack` are numbers of `stacks`; samples of one second may lie in several chunks.

    Where `samples` is there, a row stands for so many, and `weight` is their sum. Of roll-ups and folded stacks, where
    and when is not known, and -1 are pids and thread ids that are not known either.
    """

    at_ns: I64s
    cpu: NDArray[np.int32]
    pid: NDArray[np.int32]
    tid: NDArray[np.int32]
    comm: Words
    cgroup: Words
    event: Words
    weight: I64s
    stack: I64s
    stacks: StackTexts
    samples: I64s | None = None

    def __post_init__(self) -> None:
        if len(self) and (int(self.stack.max()) >= len(self.stacks) or int(self.stack.min()) < 0):
            raise IndexError("samples of stacks that are not there")

    def __len__(self) -> int:
        return int(self.at_ns.size)

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        columns = (self.at_ns, self.cpu, self.pid, self.tid, self.weight, self.stack)
        words = (self.comm, self.cgroup, self.event)
        return sum(one.nbytes for one in columns) + sum(one.codes.nbytes for one in words) + self.stacks.nbytes

    def with_own_stacks(self) -> Chunk:
        """With no other stacks than those that its samples name."""
        numbers, place = numbered(self.stack)
        return replace(self, stack=place, stacks=self.stacks.only(numbers))

    def with_counts(self) -> Chunk:
        """With as many samples for each row of folded stacks as its line counted."""
        if FOLDED not in self.event.names:
            return self
        folded = self.event.among(FOLDED.__eq__)
        return replace(self, samples=np.where(folded, self.weight, 1 if self.samples is None else self.samples))

    def taken(self, rows: NDArray[Any]) -> Chunk:
        """Some rows of it."""
        return Chunk(
            self.at_ns[rows],
            self.cpu[rows],
            self.pid[rows],
            self.tid[rows],
            self.comm.taken(rows),
            self.cgroup.taken(rows),
            self.event.taken(rows),
            self.weight[rows],
            self.stack[rows],
            self.stacks,
            None if self.samples is None else self.samples[rows],
        )
