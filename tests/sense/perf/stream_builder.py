"""perf streams made in Python: a header, events, and any record with its `sample_id`."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from necroscope.sense.perf.format.layout import Sample, Type

SAMPLED = Sample.IDENTIFIER | Sample.IP | Sample.TID | Sample.TIME | Sample.CPU | Sample.PERIOD | Sample.CALLCHAIN
HEADER = b"PERFILE2" + struct.pack("<Q", 16)
KERNEL, USER = (1 << 64) - 128, (1 << 64) - 512


def record(kind: int, payload: bytes, misc: int = 0) -> bytes:
    """Any record; the payload is filled up to whole words."""
    payload += bytes(-len(payload) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(payload)) + payload


def attr(sample_type: int = SAMPLED, ids: tuple[int, ...] = (7,), kind: int = 1, config: int = 0, **more: int) -> bytes:
    """HEADER_ATTR with `sample_id_all`."""
    fields = struct.pack("<IIQQQQQ", kind, 128, config, 97, sample_type, more.get("read_format", 0), 1 << 18)
    fields += struct.pack(
        "<IIQQQQIiQ", 0, 0, 0, 0, more.get("branch", 0), more.get("regs_user", 0), 0, 0, more.get("regs_intr", 0)
    )
    return record(Type.HEADER_ATTR, fields.ljust(128, b"\0") + struct.pack(f"<{len(ids)}Q", *ids))


def round_end() -> bytes:
    """FINISHED_ROUND."""
    return record(Type.FINISHED_ROUND, b"")


@dataclass
class Maker:
    """Records of one event with the usual sample_type; time in nanoseconds."""

    counter: int = 7
    cpu: int = 0
    parts: list[bytes] = field(default_factory=list)

    def trailer(self, time: int, pid: int = 0) -> bytes:
        return struct.pack("<IIQIIQ", pid, pid, time, self.cpu, 0, self.counter)

    def sample(
        self, time: int, pid: int, chain: tuple[int, ...] = (KERNEL, 0xFFFFFFFF81000010), tid: int | None = None
    ) -> bytes:
        tid = pid if tid is None else tid
        data = struct.pack("<QQIIQIIQ", self.counter, chain[-1], pid, tid, time, self.cpu, 0, 1_000_000)
        return record(Type.SAMPLE, data + struct.pack(f"<{1 + len(chain)}Q", len(chain), *chain), 1)

    def comm(self, time: int, pid: int, name: str, by_exec: bool = False, tid: int | None = None) -> bytes:
        text = name.encode() + b"\0"
        text += bytes(-len(text) % 8)
        head = struct.pack("<II", pid, pid if tid is None else tid)
        return record(Type.COMM, head + text + self.trailer(time), (1 << 13) if by_exec else 0)

    def fork(self, time: int, pid: int, parent: int, tid: int | None = None, ptid: int | None = None) -> bytes:
        ids = (pid, parent, pid if tid is None else tid, parent if ptid is None else ptid)
        return record(Type.FORK, struct.pack("<IIIIQ", *ids, time) + self.trailer(time))

    def exit(self, time: int, pid: int, tid: int | None = None) -> bytes:
        ids = (pid, 1, pid if tid is None else tid, 1)
        return record(Type.EXIT, struct.pack("<IIIIQ", *ids, time) + self.trailer(time))

    def mmap2(
        self,
        time: int,
        pid: int,
        start: int,
        size: int,
        path: str,
        offset: int = 0,
        inode: int = 0,
        build_id: bytes = b"",
    ) -> bytes:
        text = path.encode() + b"\0"
        text += bytes(-len(text) % 8)
        identity = struct.pack("<IIQQ", 8, 1, inode, 0)
        if build_id:
            identity = struct.pack("<BBH20s", len(build_id), 0, 0, build_id)
        head = struct.pack("<IIQQQ", pid, pid, start, size, offset) + identity + struct.pack("<II", 5, 2)
        return record(Type.MMAP2, head + text + self.trailer(time), (1 << 14) if build_id else 0)

    def lost(self, time: int, count: int) -> bytes:
        return record(Type.LOST, struct.pack("<QQ", self.counter, count) + self.trailer(time))

    def cgroup(self, number: int, path: str) -> bytes:
        text = path.encode() + b"\0"
        return record(Type.CGROUP, struct.pack("<Q", number) + text + bytes(-len(text) % 8) + self.trailer(0))

    def ksymbol(self, time: int, address: int, size: int, name: str, gone: bool = False, behind: bytes = b"") -> bytes:
        text = name.encode() + b"\0"
        text += bytes(-len(text) % 8)
        head = struct.pack("<QIHH", address, size, 1, int(gone))
        return record(Type.KSYMBOL, head + text + self.trailer(time) + behind)

    def bpf_event(self, time: int, behind: bytes = b"") -> bytes:
        return record(Type.BPF_EVENT, struct.pack("<HHI8s", 1, 0, 7, b"tagtagta") + self.trailer(time) + behind)
