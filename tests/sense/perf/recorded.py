"""Small recordings of real life beside this file, and what `perf script` said of them on the machine they are from.

file   perf record -F 497 -g -a                       zstd   the same with -z
bare   -a, three events, no call chains               dwarf  --call-graph dwarf,256 -d -W --all-cgroups
pipe   -o - --all-cgroups --buildid-mmap --clockid mono, cpu-clock and four cgroup tracepoints     pipez  -o - -z
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable
from pathlib import Path

from necroscope.sense.perf.format.attrs import plain_name
from necroscope.sense.perf.rows import Row
from necroscope.sense.perf.samples import SampleBatch

FOLDER = Path(__file__).parent / "recordings"
FILES = ("file", "zstd", "bare", "dwarf")
STREAMS = ("pipe", "pipez")
_LINE = re.compile(r"^\s*(.*?)\s+(-?\d+)/(-?\d+)\s+(?:\[(\d+)\]\s+)?(\d+)\.(\d{9}):\s+(\d+)\s+(\S+?):$")
Line = tuple[str, int, int, int, int, int, str]


def data(name: str) -> bytes:
    return (FOLDER / f"{name}.data").read_bytes()


def script(name: str) -> list[Line]:
    """comm, pid, tid, cpu (-1: not recorded), time, period, event of every sample, as perf printed them."""
    lines = gzip.decompress((FOLDER / f"{name}.script.gz").read_bytes()).decode().splitlines()
    found = [_LINE.match(line) for line in lines]
    assert all(found), [line for line, one in zip(lines, found, strict=True) if not one][:3]
    return [
        (one[1], int(one[2]), int(one[3]), int(one[4] or -1), int(one[5] + one[6]), int(one[7]), plain_name(one[8]))
        for one in found
        if one
    ]


def samples(rows: Iterable[Row]) -> list[Line]:
    """The same of decoded rows, in the order they came."""
    lines: list[Line] = []
    for row in rows:
        if isinstance(row, SampleBatch):
            columns = (row.comm, row.pid, row.tid, row.cpu, row.at_ns, row.weight, row.event)
            for comm, pid, tid, cpu, at, weight, event in zip(*(one.tolist() for one in columns), strict=True):
                lines.append((row.comms[comm], pid, tid, cpu, at, weight, row.events[event]))
    return lines


def stacks(rows: Iterable[Row]) -> list[tuple[tuple[str, str], ...]]:
    """The stack of every sample, innermost frame first, as (name, module)."""
    known: dict[int, tuple[tuple[str, str], ...]] = {}
    found = []
    for row in rows:
        if isinstance(row, SampleBatch):
            for one in row.stacks:
                known[one.stack_id] = tuple(zip(one.frames, one.modules, strict=True))[::-1]
            found += [known[number] for number in row.stack_id.tolist()]
    return found
