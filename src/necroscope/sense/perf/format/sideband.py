"""Records that are no samples, as columns: who was born, renamed and ended, what was mapped where, what was lost.

Under a storm of short processes nine of ten bytes are these, and nearly all of them mappings. So mappings are never
taken apart one by one: their fixed fields become columns, and what they map (file name, device and inode or
build id) becomes one number through a hash of its bytes. Only the first mapping of a file is looked at in Python.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.decode.hashing import SpanHasher
from necroscope.sense.perf.decode.interning import ByHash, Names
from necroscope.sense.perf.format.attrs import Events
from necroscope.sense.perf.format.layout import KERNEL_PID, Misc, Sample, Type
from necroscope.sense.perf.format.walk import Block, only

I64s = NDArray[np.int64]
U64s = NDArray[np.uint64]
U32s = NDArray[np.uint32]
_MMAP_WORDS, _MMAP2_WORDS = 5, 9
_TOO_LONG = (Type.KSYMBOL, Type.BPF_EVENT)
_FIXED_WORDS, _LONGEST_SYMBOL = 3, 512
_LOW = np.uint64(0xFFFFFFFF)
_USUAL_BUILD_ID, _LONGEST_BUILD_ID = 16, 20
_MINORS = 1 << 20
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class MappedFile:
    """What a mapping shows: a path as the process saw it, and what identifies the file behind it."""

    path: str
    build_id: str = ""
    device: tuple[int, int] = (0, 0)
    inode: int = 0


@dataclass(frozen=True, slots=True)
class Mappings:
    """Executable mappings of processes. `file` is a number in the decoder's table of files."""

    time: U64s
    pid: U32s
    start: U64s
    end: U64s
    offset: U64s
    file: NDArray[np.int32]

    def __len__(self) -> int:
        return int(self.time.size)


@dataclass(frozen=True, slots=True)
class TaskRows:
    """Forks, new names and exits. `comm` is the new name's number, -1 for others; `exec` marks an exec.

    `reported_elsewhere`: whoever reads another piece of the same recording reports it.
    """

    time: U64s
    type: U32s
    pid: U32s
    tid: U32s
    parent_pid: U32s
    parent_tid: U32s
    comm: NDArray[np.int32]
    exec: NDArray[np.bool_]
    reported_elsewhere: NDArray[np.bool_]

    def __len__(self) -> int:
        return int(self.time.size)


@dataclass(frozen=True, slots=True)
class Notice:
    """A rare record by itself. Time 0: it counts at once. CPU -1: unknown. The payload ends before `sample_id`."""

    time: int
    type: int
    misc: int
    cpu: int
    payload: bytes


class Trailers:
    """`sample_id` at the end of records: when, and on which CPU. Without it, records count at once."""

    def __init__(self, events: Events) -> None:
        lead = events.attrs[0] if events.attrs else None
        self._time = lead.word_from_end(Sample.TIME) if lead else None
        self._cpu = lead.word_from_end(Sample.CPU) if lead else None
        self.words = lead.trailer_words() if lead else 0

    def times(self, block: Block, at: I64s) -> U64s:
        """The time of each record; 0 for what perf made up at its start."""
        time = self._read(block, at, self._time)
        time[time == np.uint64(0xFFFFFFFFFFFFFFFF)] = 0
        return time

    def cpus(self, block: Block, at: I64s) -> NDArray[np.int32]:
        """The CPU of each record, -1 when it does not say."""
        if self._cpu is None:
            return np.full(at.size, -1, np.int32)
        return (self._read(block, at, self._cpu) & _LOW).astype(np.uint32).view(np.int32)

    def _read(self, block: Block, at: I64s, word: int | None) -> U64s:
        if word is None:
            return np.zeros(at.size, np.uint64)
        size = self._sizes(block, at)
        return np.where(size > word, block.words[block.start[at] + size - np.minimum(word, size)], np.uint64(0))

    def _sizes(self, block: Block, at: I64s) -> I64s:
        """Words up to the end of `sample_id`. Kernels make some records longer for every perf that listens (seen on
        6.18): what follows their `sample_id` then is whatever the ring held before."""
        size = block.size[at]
        odd = np.flatnonzero(np.isin(block.type[at], _TOO_LONG))
        if odd.size:
            size = size.copy()
            for place in odd.tolist():
                size[place] = min(int(size[place]), self._length(block, int(at[place])))
        return size

    def _length(self, block: Block, record: int) -> int:
        words = _FIXED_WORDS
        if block.type[record] == Type.KSYMBOL:
            start = int(block.start[record]) + _FIXED_WORDS
            name = block.words[start : int(block.start[record] + block.size[record])].tobytes()[:_LONGEST_SYMBOL]
            words += len(name.partition(b"\0")[0]) // 8 + 1
        return words + self.words


def mappings(
    block: Block, hasher: SpanHasher, trailers: Trailers, files: ByHash[MappedFile]
) -> tuple[list[Mappings], int]:
    """Executable mappings of processes in this block, and how many records were too short to be one."""
    parts, broken = [], 0
    for kind, words in ((Type.MMAP2, _MMAP2_WORDS), (Type.MMAP, _MMAP_WORDS)):
        at = block.of_type(kind)
        if not at.size:
            continue
        whole = block.size[at] > words + trailers.words
        broken += int(at.size - np.count_nonzero(whole))
        at = at[whole & ((block.misc[at] & Misc.MMAP_DATA) == 0)]
        at = at[(block.words[block.start[at] + 1] & _LOW) != KERNEL_PID]  # the kernel's own: `kernel_mappings`
        if at.size:
            parts.append(_mappings(block, hasher, at, words, trailers, files))
    return parts, broken


def _mappings(
    block: Block, hasher: SpanHasher, at: I64s, words: int, trailers: Trailers, files: ByHash[MappedFile]
) -> Mappings:
    start, end = block.start[at], block.start[at] + block.size[at] - trailers.words
    identified = words == _MMAP2_WORDS
    with_build_id = (block.misc[at] & Misc.MMAP_BUILD_ID) != 0
    keys = hasher.spans(start + words, end)
    if identified:  # device and inode, or the build id; protection and flags do not count
        keys = (keys ^ (hasher.spans(start + 5, start + 8) * _SPREAD)) + with_build_id

    def describe(position: int) -> MappedFile:
        record = block.words[start[position] : end[position]].tobytes()
        return _mapped_file(record, identified, bool(with_build_id[position]))

    address = block.words[start + 2]
    return Mappings(
        time=trailers.times(block, at),
        pid=(block.words[start + 1] & _LOW).astype(np.uint32),
        start=address,
        end=address + block.words[start + 3],
        offset=block.words[start + 4],
        file=files.numbers(keys, describe),
    )


def _mapped_file(record: bytes, identified: bool, with_build_id: bool) -> MappedFile:
    name = record[72 if identified else 40 :].partition(b"\0")[0]
    path = name.decode("utf-8", "surrogateescape")
    if not identified:
        return MappedFile(path)
    if with_build_id and _has_build_id(record):
        return MappedFile(path, build_id=record[44 : 44 + record[40]].hex())
    major, minor, inode = (int.from_bytes(record[low:high], "little") for low, high in ((40, 44), (44, 48), (48, 56)))
    return MappedFile(path, device=(major, minor), inode=inode)


def _has_build_id(record: bytes) -> bool:
    """Whether the mark tells the truth.

    While another perf asks for build ids, the kernel (seen on 6.18) sets it on records that have device and inode too:
    what looks like the length is then the low byte of a major number, and what looks like an id begins with a minor.
    """
    length, short = record[40], record[40] < _USUAL_BUILD_ID
    if not 0 < length <= _LONGEST_BUILD_ID or any(record[41:44]):
        return False
    return not short or int.from_bytes(record[44:48], "little") >= _MINORS


def tasks(
    block: Block, hasher: SpanHasher, trailers: Trailers, names: Names, comms: ByHash[int]
) -> tuple[list[TaskRows], int]:
    """Forks, exits and new names in this block, in their order, and how many records were too short."""
    at = block.of_type(Type.FORK, Type.EXIT, Type.COMM)
    if not at.size:
        return [], 0
    kind = block.type[at]
    whole = block.size[at] >= np.where(kind == Type.COMM, 3, 4) + trailers.words
    broken = int(at.size - np.count_nonzero(whole))
    at, kind = at[whole], kind[whole]
    if not at.size:
        return [], broken
    start = block.start[at]
    renamed = kind == Type.COMM
    ids, more = block.words[start + 1], block.words[start + np.where(renamed, 1, 2)]
    comm = np.full(at.size, -1, np.int32)
    comm[renamed] = _comms(block, hasher, at[renamed], trailers, names, comms)
    high = np.uint64(32)
    rows = TaskRows(
        time=trailers.times(block, at),
        type=kind,
        pid=(ids & _LOW).astype(np.uint32),
        # COMM: pid, tid. FORK and EXIT: pid, ppid, tid, ptid.
        tid=np.where(renamed, ids >> high, more & _LOW).astype(np.uint32),
        parent_pid=(ids >> high).astype(np.uint32),
        parent_tid=(more >> high).astype(np.uint32),
        comm=comm,
        exec=(block.misc[at] & Misc.COMM_EXEC) != 0,
        reported_elsewhere=np.zeros(at.size, np.bool_),
    )
    return [rows], broken


def _comms(
    block: Block, hasher: SpanHasher, at: I64s, trailers: Trailers, names: Names, comms: ByHash[int]
) -> NDArray[np.int32]:
    if not at.size:
        return np.zeros(0, np.int32)
    start, end = block.start[at] + 2, block.start[at] + block.size[at] - trailers.words
    keys = hasher.spans(start, end)

    def name(position: int) -> int:
        return names.number(text(block.words[start[position] : end[position]].tobytes()[:64]))

    numbers = comms.numbers(keys, name)
    return np.array(comms.values, np.int32)[numbers]


def notices(block: Block, trailers: Trailers, *kinds: int) -> list[Notice]:
    """Records of these types, one by one; for what is rare."""
    at = block.of_type(*kinds)
    return _notices(block, trailers, at) if at.size else []


def cgroups(block: Block, trailers: Trailers) -> Block | None:
    """Records that tell the path of a cgroup, without their `sample_id`; None when there are none."""
    at = block.of_type(Type.CGROUP)
    at = at[block.size[at] > 2 + trailers.words]
    if not at.size:
        return None
    found = only(block, at)
    return replace(found, size=found.size - trailers.words)


def kernel_mappings(block: Block, trailers: Trailers) -> list[Notice]:
    """Where the kernel says it is itself."""
    at = block.of_type(Type.MMAP, Type.MMAP2)
    at = at[block.size[at] > _MMAP_WORDS]
    at = at[(block.words[block.start[at] + 1] & _LOW) == KERNEL_PID]
    return _notices(block, trailers, at[:64]) if at.size else []


def _notices(block: Block, trailers: Trailers, at: I64s) -> list[Notice]:
    times, cpus = trailers.times(block, at).tolist(), trailers.cpus(block, at).tolist()
    low = (block.start[at] + 1).tolist()
    high = (block.start[at] + np.maximum(block.size[at] - trailers.words, 1)).tolist()
    rows = zip(times, block.type[at].tolist(), block.misc[at].tolist(), cpus, low, high, strict=True)
    return [Notice(time, kind, misc, cpu, block.words[a:b].tobytes()) for time, kind, misc, cpu, a, b in rows]


def text(data: bytes) -> str:
    """Bytes up to the first zero; what is no UTF-8 is replaced."""
    return data.partition(b"\0")[0].decode("utf-8", "replace")
