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

from necroscope.sense.importers.frame_names import frame_name
from necroscope.sense.perf.modules import NOT_KERNEL, file_module, module_name
from necroscope.sense.perf.samples import UNKNOWN
from necroscope.sense.perf.symbols.bpf_programs import BPF
from necroscope.sense.perf.symbols.jit import JIT_MODULE

INLINED = ""
"""The module of a frame that was inlined: that of the frame around it."""

# Every run is bounded: a line of blanks must not be tried at all its places.
_HEAD = re.compile(rb"(.{0,200}?)(?<!\S)(-?\d{1,10})(?:\s{0,9}/\s{0,9}(-?\d{1,10}))?\s{1,30}(?:\[(\d{1,5})\]\s{1,30})?"
                   rb"(?:[.a-zA-Z0-9]{4,6}\s{1,30})?(\d{1,12})\.(\d{1,9}):(?:\s{1,30}(\d{1,18})(?=\s|$))?"
                   rb"(?:\s{1,30}([^\s:]\S{0,200}?):(?=\s|$))?", re.DOTALL)  # fmt: skip
_FILE = re.compile(rb"\s\((?=[/\[])")
_HEX = re.compile(rb"[0-9a-f]{1,16}")
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
    line = line.lstrip()
    found = _HEAD.match(line)
    if found is None:
        return None
    comm, pid, tid, cpu, seconds, fraction, period, event = found.groups()
    if int(seconds) > _LATEST_S:
        return None
    at_ns = int(seconds) * 1_000_000_000 + int(fraction) * 10 ** (9 - len(fraction))
    numbers = (int(pid), int(tid) if tid else None, int(cpu) if cpu else -1, at_ns, int(period or 0))
    return Head(comm.strip(), *numbers, event or b"", line[found.end() :].strip())


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
        name = frame_name(left.rpartition(b"+0x")[0] or left)
        return name, INLINED if file == b"inlined)" else _module(file[:-1], name[:9], _in_kernel(address))
    return _odd_frame(line)


def _odd_frame(line: bytes) -> tuple[str, str] | None:
    line = line.strip()
    left, file = _parted(line)
    words = left.split(None, 1)
    addressed = len(words) == 2 and _HEX.fullmatch(words[0]) is not None
    if file is None and not addressed:
        return None
    name = _OFFSET.sub("", frame_name(words[1] if addressed else left))
    if file is None:
        return name, UNKNOWN
    return name, INLINED if file == b"inlined" else named_module(
        frame_name(file), name, _in_kernel(words[0]) if addressed else None
    )


def _parted(line: bytes) -> tuple[bytes, bytes | None]:
    """What stands before a file in brackets, and the file; None where there is none."""
    if not line.endswith(b")"):
        return line, None
    found = _FILE.search(line, 1)
    at = found.start() + 1 if found is not None else line.rfind(b"(")
    if found is None and (at < 1 or not line[at - 1 : at].isspace() or b")" in line[at:-1]):
        return line, None
    left = line[:at].rstrip()
    return (left, line[at + 1 : -1]) if left else (line, None)


@lru_cache(maxsize=1 << 14)
def _module(path: bytes, symbol: str, kernel: bool) -> str:
    return named_module(frame_name(path), symbol, kernel)


def _in_kernel(address: bytes) -> bool:
    """By its highest bit, as our own decoder decides it."""
    return len(address) == 16 and address[0] >= ord("8")


def named_module(path: str, symbol: str = "", kernel: bool | None = None) -> str:
    """A file that perf names, as our own decoder calls it. `kernel`: by its address; without one its name counts."""
    if kernel is False:
        return _user_module(path)
    if _KERNEL.match(path):
        return "[kernel]"
    if path.startswith("[guest.kernel"):
        return "[guest]"
    if path.startswith(("bpf_prog_", "[bpf")) or symbol.startswith("bpf_prog_"):
        return BPF
    if found := _KERNEL_MODULE.match(path):
        return f"[{found[1].replace('-', '_')}]"
    if re.fullmatch(r"\[\w+\]", path, re.ASCII):
        return path
    return _user_module(path)


def _user_module(path: str) -> str:
    """Whatever it is called, it is not the kernel."""
    if path.startswith("[guest.kernel"):
        return "[guest]"
    if path in NOT_KERNEL:
        return path
    special = path.startswith(("/", "[", "anon_inode:"))
    name = module_name(path) if special else file_module(path.rpartition("/")[2]) if path else UNKNOWN
    return JIT_MODULE if re.fullmatch(r"(?:perf|jit)-\d+\.map|jitted-\d+-\d+\.so", name) else name
