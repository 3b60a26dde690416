"""Lines of `perf script`: the one that begins a sample, and those of its call chain.

         python3  4711/4712  [003] 11528.896142:      71428 cpu-clock:ppp:
    \t          1b9217 tuple_alloc+0x37 (/usr/lib/libpython3.11.so.1.0)
    \tffffffff821e81e7 clear_page_erms+0x7 ([kernel.kallsyms])

Which fields there are depends on perf's version and on `-F`. A thread's name may hold blanks, digits, colons, brackets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from necroscope.sense.perf.jit import JIT_MODULE
from necroscope.sense.perf.objects import module_name
from necroscope.sense.perf.programs import BPF
from necroscope.sense.perf.samples import UNKNOWN

INLINED = ""
"""The module of a frame that was inlined: that of the frame around it."""

_HEAD = re.compile(rb"\s*(.{0,200}?)\s*(?<!\S)(-?\d{1,10})(?:\s*/\s*(-?\d{1,10}))?\s+(?:\[(\d{1,5})\]\s+)?"
                   rb"(?:[.a-zA-Z0-9]{4,6}\s+)?(\d{1,12})\.(\d{1,9}):(?:\s+(\d{1,18})(?=\s|$))?"
                   rb"(?:\s+([^\s:]\S{0,200}?):(?=\s|$))?\s*(.*)$", re.DOTALL)  # fmt: skip
_FRAME = re.compile(rb"\s*(?:([0-9a-f]{1,16})\s+)?(\S.*?)\s+\(([/\[].*|[^()]*)\)\s*$", re.DOTALL)
_HEX = re.compile(rb"[0-9a-f]{1,16}")
_BARE = re.compile(rb"\s*([0-9a-f]{1,16})\s+(\S.*?)\s*$", re.DOTALL)
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")
_LATEST_S = 9_000_000_000  # what fits in 63 bits of nanoseconds
_LOST = re.compile(rb"PERF_RECORD_LOST(?:_SAMPLES)? lost(?:[ :]\s*)?(?:samples )?(\d{1,18})")
_KERNEL = re.compile(r"\[kernel[.\]]|(?:.*/)?vmlinux[^/]*$|(?:.*/)?\[kernel|.*/kcore$")
_KERNEL_MODULE = re.compile(r"(?:.*/)([^/]+)\.ko(?:\.(?:gz|xz|zst|debug))*$")


@dataclass(frozen=True, slots=True)
class Head:
    """The line that begins a sample. -1 is a CPU that was not printed; period 0 none; `rest` what follows the event."""

    comm: bytes
    pid: int
    tid: int | None
    cpu: int
    at_ns: int
    period: int
    event: bytes
    rest: bytes


def parse_head(line: bytes) -> Head | None:
    """A line that begins a sample; None when it is none."""
    found = _HEAD.match(line)
    if found is None:
        return None
    comm, pid, tid, cpu, seconds, fraction, period, event, rest = found.groups()
    if int(seconds) > _LATEST_S:
        return None
    at_ns = int(seconds) * 1_000_000_000 + int(fraction) * 10 ** (9 - len(fraction))
    numbers = (int(pid), int(tid) if tid else None, int(cpu) if cpu else -1, at_ns, int(period or 0))
    return Head(comm, *numbers, event or b"", rest.strip())


def parse_lost(rest: bytes) -> int | None:
    """How many records were lost, where a line tells that (`--show-lost-events`)."""
    found = _LOST.match(rest)
    return int(found[1]) if found else None


def parse_frame(line: bytes) -> tuple[str, str] | None:
    """Name and module of a frame; None for other lines, such as those of source files (`-F +srcline`)."""
    address, _, rest = line.strip().partition(b" ")
    left, paren, file = rest.rpartition(b" (")
    plain = file.endswith(b")") and b"(" not in file and b")" not in file[:-1]
    if paren and left and plain and _HEX.fullmatch(address):
        name = _text(left.rpartition(b"+0x")[0] or left)
        return name, INLINED if file == b"inlined)" else _module(file[:-1], name.startswith("bpf_prog_"))
    return _odd_frame(line)


def _odd_frame(line: bytes) -> tuple[str, str] | None:
    found = _FRAME.match(line)
    if found is not None:
        name, module = _OFFSET.sub("", _text(found[2])), _text(found[3])
        if module == "inlined":
            return name, INLINED
        return name, named_module(module, name)
    found = _BARE.match(line)
    return None if found is None else (_OFFSET.sub("", _text(found[2])), UNKNOWN)


@lru_cache(maxsize=1 << 14)
def _module(path: bytes, program: bool) -> str:
    return BPF if program else named_module(_text(path))


def named_module(path: str, symbol: str = "") -> str:
    """A file that perf names, as our own decoder calls it."""
    if _KERNEL.match(path):
        return "[kernel]"
    if path.startswith("[guest.kernel"):
        return "[guest]"
    if path.startswith(("bpf_prog_", "[bpf")) or symbol.startswith("bpf_prog_"):
        return BPF
    if found := _KERNEL_MODULE.match(path):
        return f"[{found[1].replace('-', '_')}]"
    name = module_name(path) if path else UNKNOWN
    return JIT_MODULE if re.fullmatch(r"(?:perf|jit)-\d+\.map|jitted-\d+-\d+\.so", name) else name


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
