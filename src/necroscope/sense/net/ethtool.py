"""A network driver's own statistics, asked of the live kernel by the ethtool ioctls.

    SIOCETHTOOL, struct ifreq {name 16 bytes, pointer}; at the pointer, in the machine's byte order:
    GSSET_INFO   cmd:u32 0:u32 sets:u64 count:u32           how many statistics the driver has
    GSTRINGS     cmd:u32 set:u32 count:u32 names            32 bytes each, ended by a zero byte
    GSTATS       cmd:u32 count:u32 values:u64 each

The kernel writes as many names and values as there are at that moment, however many were announced: queues may come
between two calls. So the buffer has room for four times the most that is accepted; its untouched pages cost nothing.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import struct
from socket import AF_INET, SOCK_DGRAM, if_nametoindex, socket

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.numbers import count

NET = "/sys/class/net"

_SIOCETHTOOL = 0x8946
_GSTRINGS, _GSTATS, _GSSET_INFO = 0x1B, 0x1D, 0x37
_STATISTICS = 1  # ETH_SS_STATS, a set of strings
_NAME_BYTES, _VALUE_BYTES = 32, 8
_MOST = 32_768
_ROOM_BYTES = 4 * _MOST * _NAME_BYTES


def driver_statistics(host: Host, device: str) -> tuple[tuple[str, int], ...]:
    """The driver's own counters in its order and under its names, asked of the live kernel.

    Names come anew with every call: their number changes with the number of queues.
    """
    if host.captured:
        raise Unavailable(f"the driver statistics of {device} were not captured", "capture the host again")
    _same_device(host, device)
    try:
        names, values = _ask(device.encode("utf-8", "surrogateescape"))
    except OSError as error:
        reason = (error.strerror or "it cannot be asked").lower()
        raise Unavailable(f"the statistics of {device} cannot be asked for: {reason}") from error
    if not names:
        raise Unavailable(f"the driver of {device} has no statistics")
    if len(names) != len(values):
        raise Unavailable(f"the driver of {device} changed its statistics while they were read", "ask again")
    return tuple(zip(names, values, strict=True))


def _same_device(host: Host, device: str) -> None:
    """sysfs may show another network namespace than this process is in: never mix up two devices of one name."""
    try:
        index = if_nametoindex(device)
    except (OSError, ValueError):
        index = -1
    if count(host.read(f"{NET}/{device}/ifindex").strip()) != index:
        raise Unavailable(f"{device} is in another network namespace", f"run in the network namespace that {NET} shows")


def _ask(device: bytes) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Names, and values in their order; none of either for a driver that has none."""
    with socket(AF_INET, SOCK_DGRAM) as kernel, mmap.mmap(-1, _ROOM_BYTES) as buffer:
        start = ctypes.c_char.from_buffer(buffer)
        try:
            request = struct.pack("16sP16x", device, ctypes.addressof(start))
            if not _announced(kernel, request, buffer):
                return (), ()
            names = _names(kernel, request, buffer)
            return names, _values(kernel, request, buffer, len(names))
        finally:
            del start  # a buffer that is referred to cannot be closed


def _announced(kernel: socket, request: bytes, buffer: mmap.mmap) -> int:
    struct.pack_into("=IIQI", buffer, 0, _GSSET_INFO, 0, 1 << _STATISTICS, 0)
    fcntl.ioctl(kernel, _SIOCETHTOOL, request)
    _, _, sets, number = struct.unpack_from("=IIQI", buffer)
    return number if sets and 0 < number <= _MOST else 0


def _names(kernel: socket, request: bytes, buffer: mmap.mmap) -> tuple[str, ...]:
    struct.pack_into("=III", buffer, 0, _GSTRINGS, _STATISTICS, 0)
    fcntl.ioctl(kernel, _SIOCETHTOOL, request)
    number = min(struct.unpack_from("=III", buffer)[2], _MOST)
    return tuple(_text(buffer[12 + _NAME_BYTES * index : 12 + _NAME_BYTES * (index + 1)]) for index in range(number))


def _values(kernel: socket, request: bytes, buffer: mmap.mmap, number: int) -> tuple[int, ...]:
    struct.pack_into("=II", buffer, 0, _GSTATS, number)
    fcntl.ioctl(kernel, _SIOCETHTOOL, request)
    count = min(struct.unpack_from("=II", buffer)[1], _MOST)
    return struct.unpack_from(f"={count}Q", buffer, 8)


def _text(name: bytes) -> str:
    return name.partition(b"\0")[0].decode("utf-8", "replace").strip()
