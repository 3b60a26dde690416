r"""Records of the kernel's log: what `/dev/kmsg` yields, one record a read.

    12,345,1181629372,-,caller=C3;ena 0000:20:03.0 eth0: TX q 5 is paused ...
     SUBSYSTEM=pci
     DEVICE=+pci:0000:20:03.0

priority (facility * 8 + level), sequence number, stamp in microseconds of the kernel's local clock, flags, and with
CONFIG_PRINTK_CALLER (5.1+) who printed it: `T` a thread id, `C` a CPU. Bytes outside printable ASCII come as `\xNN`.
A captured host holds the same records in the regular file `/dev/kmsg`.
"""

from __future__ import annotations

import errno
import os
import re
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.host import Host

PATH = "/dev/kmsg"
RECORD_LIMIT_BYTES = 16 << 10
RECORDS_LIMIT = 500_000
BYTES_LIMIT = 64 << 20
RAW_LIMIT_BYTES = 8 << 20
SECONDS_LIMIT = 5.0
_SYSCALL_EVERY = 256  # the clock is asked once per so many records

_HEADER = re.compile(rb"(\d{1,10}),(\d{1,19}),(\d{1,19}),([^;]{0,200});")
_CALLER = re.compile(rb",caller=([TC]\d{1,10})")
_ESCAPE = re.compile(rb"\\x([0-9a-fA-F]{2})")


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record. `priority` is the level (0 emergency to 7 debug); `usec` counts from boot; `caller` may be empty."""

    seq: int
    usec: int
    priority: int
    facility: int
    text: str
    caller: str = ""
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """Records of one look, in order. `lost` were overwritten before they could be read since the look before;
    `missing_before` were overwritten before the first look; `whole` is False when a bound ended the look."""

    records: tuple[LogRecord, ...]
    lost: int = 0
    missing_before: int = 0
    whole: bool = True


# -- bytes -> records ------------------------------------------------------------------------------


def parse_record(data: bytes) -> LogRecord | None:
    """One record with its continuation lines; None when it is none."""
    first, *rest = data.split(b"\n")
    header = _HEADER.match(first)
    if header is None:
        return None
    number, seq, usec, flags = header.groups()
    caller = _CALLER.search(b"," + flags)
    return LogRecord(
        seq=int(seq),
        usec=int(usec),
        priority=int(number) & 7,
        facility=int(number) >> 3,
        text=_text(first[header.end() :]),
        caller=caller.group(1).decode() if caller else "",
        fields=tuple(_fields(rest)),
    )


def parse_records(data: bytes) -> list[LogRecord]:
    """Records of a captured log: one a line, continuations below. Broken lines are left out.

    A log without any record in it is `Unavailable`: it was cut or is something else.
    """
    records = [record for record in map(parse_record, _split(data)) if record is not None]
    if not records and data.strip():
        raise Unavailable("the captured kernel log holds no record", "capture the host again")
    return records


def _split(data: bytes) -> Iterable[bytes]:
    """Chunks that each begin with a header line and end before the next."""
    chunk: list[bytes] = []
    for line in data.split(b"\n"):
        if chunk and not line.startswith(b" "):
            yield b"\n".join(chunk)
            chunk = []
        chunk.append(line)
    yield b"\n".join(chunk)


def _fields(lines: Iterable[bytes]) -> Iterable[tuple[str, str]]:
    for line in lines:
        key, equals, value = line.partition(b"=")
        if line.startswith(b" ") and equals:
            yield _text(key[1:]), _text(value)


def _text(data: bytes) -> str:
    plain = _ESCAPE.sub(lambda found: bytes((int(found.group(1), 16),)), data)
    return plain.decode("utf-8", "replace")


# -- reading the ring ------------------------------------------------------------------------------


class KernelRing:
    """Reads the log on from where it stopped; the first look reads the whole ring.

    `path` is another log in the same form, whose reads bring many records at once: a file that somebody appends to.
    """

    def __init__(self, path: str | None = None) -> None:
        self._path = path
        self._last_seq: int | None = None
        self._fd: int | None = None

    def read(self, host: Host) -> Batch:
        """Everything since the last look. `Unavailable` when the log may not be read."""
        if host.captured:
            return self._advance(parse_records(host.read(PATH)), pipes=0, whole=True)
        if self._fd is None:
            self._fd = _open(host, self._path or PATH)
            weakref.finalize(self, os.close, self._fd)
        fd = self._fd
        chunks, pipes, whole = drain(lambda size: os.read(fd, size))
        if self._path is not None:
            chunks = list(_split(b"".join(chunks)))
        return self._advance([record for record in map(parse_record, chunks) if record is not None], pipes, whole)

    def _advance(self, records: list[LogRecord], pipes: int, whole: bool) -> Batch:
        last = self._last_seq
        fresh = [record for record in records if last is None or record.seq > last]
        if not fresh:
            return Batch((), lost=pipes, whole=whole)
        gaps = sum(max(after.seq - before.seq - 1, 0) for before, after in pairwise(fresh))
        if last is not None:
            gaps += fresh[0].seq - last - 1
        self._last_seq = fresh[-1].seq
        missing_before = fresh[0].seq if last is None else 0
        return Batch(tuple(fresh), lost=max(gaps, 0), missing_before=missing_before, whole=whole)


def raw_records(host: Host) -> bytes:
    """The log as a captured host holds it: the newest records, whole, up to `RAW_LIMIT_BYTES`."""
    if host.captured:
        return host.read(PATH)
    fd = _open(host)
    try:
        chunks, _, _ = drain(lambda size: os.read(fd, size))
    finally:
        os.close(fd)
    room, kept = RAW_LIMIT_BYTES, deque[bytes]()
    while chunks and (room := room - len(chunks[-1])) >= 0:
        kept.appendleft(chunks.pop())
    return b"".join(kept)


def drain(read: Callable[[int], bytes]) -> tuple[list[bytes], int, bool]:
    """Call `read` until the log is at its end: records, how often the reader was overtaken, and whether it got there.

    EAGAIN is the end. EPIPE says that the next record was overwritten; the kernel goes on with the oldest there is.
    EINVAL is a record larger than our buffer: the kernel has moved past it.
    """
    chunks: list[bytes] = []
    overtaken = size = 0
    deadline = clock.elapsed_s() + SECONDS_LIMIT
    for turn in range(RECORDS_LIMIT):
        if size > BYTES_LIMIT or (turn % _SYSCALL_EVERY == 0 and clock.elapsed_s() > deadline):
            return chunks, overtaken, False
        try:
            chunk = read(RECORD_LIMIT_BYTES)
        except BlockingIOError:
            return chunks, overtaken, True
        except OSError as error:
            overtaken += 1
            if not isinstance(error, BrokenPipeError) and error.errno != errno.EINVAL:
                return chunks, overtaken, False
            continue
        if not chunk:
            return chunks, overtaken, True
        size += len(chunk)
        chunks.append(chunk)
    return chunks, overtaken, False


def _open(host: Host, path: str = PATH) -> int:
    try:
        return os.open(host.live_path(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError as error:
        raise Unavailable(
            f"{path} may not be read", "run as root: kernel.dmesg_restrict keeps the log from other users"
        ) from error
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be opened ({(error.strerror or 'error').lower()})",
            "in a container, mount the host's /dev/kmsg",
        ) from error
