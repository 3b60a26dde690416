"""Reading kernel memory in bulk: what a reader can do, and the one that does it through BPF.

Whoever walks kernel structures depends on `KernelMemory` only. No read can fault or change anything; what cannot be
read is zeros and is counted. Whether an address may be read at all is for `pointers` to judge before it comes here.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Protocol

from necroscope.sense.host import Host
from necroscope.sense.kernel.bpf import programs
from necroscope.sense.kernel.bpf.programs import LENGTH_MAX, SLOTS
from necroscope.sense.kernel.bpf.syscall import Bpf

STRING_MAX = 256

_ENDINGS: dict[int, Literal["full", "head", "unreadable", "wild"]] = {
    programs.ENDED_FULL: "full",
    programs.ENDED_AT_HEAD: "head",
    programs.ENDED_UNREADABLE: "unreadable",
    programs.ENDED_WILD: "wild",
}


@dataclass(frozen=True, slots=True)
class Chain:
    """Nodes of a list in their order, the bytes around each (densely packed), and why the chase ended."""

    nodes: tuple[int, ...]
    data: bytes
    ended: Literal["full", "head", "unreadable", "wild"]


class KernelMemory(Protocol):
    """Bulk reads. `failed_reads` counts what could not be read; address 0 is never read and not counted."""

    failed_reads: int

    def gather(self, addresses: Sequence[int], length: int) -> bytes:
        """`length` bytes from each address, one after the other; zeros where nothing can be read."""
        ...

    def strings(self, addresses: Sequence[int]) -> list[bytes]:
        """The NUL-terminated string at each address, at most 255 bytes of it; empty where nothing can be read."""
        ...

    def chase(self, node: int, head: int, back: int, length: int, limits: tuple[int, int]) -> Chain:
        """Follow list pointers from `node` until `head`: `length` bytes that begin `back` before each node.

        At most `SLOTS` nodes. A pointer that is not aligned or outside of `limits` is not followed.
        """
        ...

    def current_task(self) -> int:
        """The address of the running task, which lies in the linear map."""
        ...

    def jiffies(self) -> int:
        """The kernel's 64-bit tick counter."""
        ...


class BpfMemory:
    """Kernel memory of this host, through three small BPF programs. Use as a context."""

    def __init__(self, host: Host) -> None:
        self.failed_reads = 0
        self._bpf = Bpf(host)
        try:
            self._map_fd, self._map = self._bpf.create_map(programs.MAP_BYTES)
            self._gather = self._bpf.load(programs.gather(self._map_fd, strings=False))
            self._strings = self._bpf.load(programs.gather(self._map_fd, strings=True))
            self._chase = self._bpf.load(programs.chase(self._map_fd))
            self._introduce = self._bpf.load(programs.introduce(self._map_fd))
        except BaseException:
            self._bpf.close()
            raise

    def __enter__(self) -> BpfMemory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bpf.close()

    def gather(self, addresses: Sequence[int], length: int) -> bytes:
        """See `KernelMemory`."""
        return b"".join(
            self._gather_slots(self._gather, addresses[first : first + SLOTS], length)
            for first in range(0, len(addresses), SLOTS)
        )

    def strings(self, addresses: Sequence[int]) -> list[bytes]:
        """See `KernelMemory`."""
        out: list[bytes] = []
        for first in range(0, len(addresses), SLOTS):
            data = self._gather_slots(self._strings, addresses[first : first + SLOTS], STRING_MAX)
            out += [data[at : data.find(b"\0", at, at + STRING_MAX)] for at in range(0, len(data), STRING_MAX)]
        return out

    def chase(self, node: int, head: int, back: int, length: int, limits: tuple[int, int]) -> Chain:
        """See `KernelMemory`."""
        if not 0 <= back <= length - 8 or length > LENGTH_MAX:
            raise ValueError(f"a window of {length} bytes, {back} before the node")
        low, high = limits
        struct.pack_into("<6Q", self._map, programs.COUNT, SLOTS, length, back, low, max(high - low, 0), head)
        struct.pack_into("<Q", self._map, programs.ADDRESSES, node)
        self._bpf.run(self._chase)
        done, ended = struct.unpack_from("<2Q", self._map, programs.DONE)
        nodes = struct.unpack_from(f"<{done}Q", self._map, programs.ADDRESSES)
        self.failed_reads += ended == programs.ENDED_UNREADABLE
        return Chain(nodes, self._map[programs.DATA : programs.DATA + done * length], _ENDINGS[ended])

    def current_task(self) -> int:
        """See `KernelMemory`."""
        self._bpf.run(self._introduce)
        return int(struct.unpack_from("<Q", self._map, programs.TASK)[0])

    def jiffies(self) -> int:
        """See `KernelMemory`."""
        self._bpf.run(self._introduce)
        return int(struct.unpack_from("<Q", self._map, programs.JIFFIES)[0])

    def _gather_slots(self, program: int, addresses: Sequence[int], length: int) -> bytes:
        count = len(addresses)
        if not 0 < length <= LENGTH_MAX:
            raise ValueError(f"slots of {length} bytes")
        struct.pack_into("<2Q", self._map, programs.COUNT, count, length)
        self._map[programs.ADDRESSES : programs.ADDRESSES + 8 * count] = array("Q", addresses).tobytes()
        self._bpf.run(program)
        # the upper byte of a negative status
        failed = self._map[programs.STATUS + 7 : programs.STATUS + 8 * count : 8].count(0xFF)
        if failed:
            self.failed_reads += failed - addresses.count(0)
        return self._map[programs.DATA : programs.DATA + count * length]
