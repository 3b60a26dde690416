"""What a recording says about itself: machine, clock, build ids; from feature sections or feature records."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from necroscope.clock import NS
from necroscope.sense.perf.format.attrs import ATTR_MAX_BYTES, ATTR_MIN_BYTES, Events
from necroscope.sense.perf.format.layout import Misc

TRACING_DATA, BUILD_ID, HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS = range(1, 8)
CMDLINE, EVENT_DESC, SAMPLE_TIME, COMPRESSED, CLOCK_DATA = 11, 12, 21, 27, 29
_TEXTS = {HOSTNAME: "hostname", OSRELEASE: "release", VERSION: "perf_version", ARCH: "machine"}
KERNEL_PATHS = ("[kernel.kallsyms]", "[kernel]")


@dataclass(slots=True)
class Recording:
    """Filled while the recording is read; what was not said is empty."""

    hostname: str = ""
    release: str = ""
    perf_version: str = ""
    machine: str = ""
    cpus_online: int = 0
    cmdline: str = ""
    first_ns: int = 0
    last_ns: int = 0
    realtime_offset_ns: int | None = None
    kernel_build_id: str = ""
    build_ids: dict[str, str] = field(default_factory=dict)
    kernel_reference: tuple[str, int] | None = None

    def feature(self, number: int, data: bytes, events: Events) -> None:
        """Take in one feature; one that is cut or unknown is passed over."""
        try:
            self._feature(number, data, events)
        except (struct.error, IndexError, ValueError):
            return

    def _feature(self, number: int, data: bytes, events: Events) -> None:
        if number in _TEXTS:
            setattr(self, _TEXTS[number], _text(data, 0)[0])
        elif number == NRCPUS:
            self.cpus_online = struct.unpack_from("<II", data)[1]
        elif number == CMDLINE:
            self.cmdline = " ".join(_texts(data))
        elif number == SAMPLE_TIME:
            self.first_ns, self.last_ns = struct.unpack_from("<QQ", data)
        elif number == CLOCK_DATA:
            _, _, wall, own = struct.unpack_from("<IIQQ", data)
            self.realtime_offset_ns = wall - own if abs(wall - own) < NS << 33 else None
        elif number == BUILD_ID:
            self._build_ids(data)
        elif number == EVENT_DESC:
            _describe_events(data, events)

    def build_id(self, record: bytes) -> None:
        """One `build_id_event`, header included."""
        if len(record) < 36:
            return
        misc = struct.unpack_from("<H", record, 4)[0]
        size = min(record[32], 20) if misc & Misc.BUILD_ID_SIZE else 20
        identity = record[12 : 12 + size].hex()
        path = record[36:].partition(b"\0")[0].decode("utf-8", "surrogateescape")
        if path in KERNEL_PATHS:
            self.kernel_build_id = identity
        elif len(self.build_ids) < 1 << 16:
            self.build_ids[path] = identity

    def _build_ids(self, data: bytes) -> None:
        place = 0
        while place + 8 <= len(data):
            size = struct.unpack_from("<H", data, place + 6)[0]
            if size < 8:
                return
            self.build_id(data[place : place + size])
            place += size


def _describe_events(data: bytes, events: Events) -> None:
    """Names of events by their ids."""
    count, attr_size = struct.unpack_from("<II", data)
    if not ATTR_MIN_BYTES <= attr_size <= ATTR_MAX_BYTES:
        return
    place = 8
    for position in range(min(count, len(events))):
        ids = struct.unpack_from("<I", data, place + attr_size)[0]
        name, place = _text(data, place + attr_size + 4)
        place += 8 * ids
        if name:
            events.name(position, name)


def _texts(data: bytes) -> Iterator[str]:
    count, place = struct.unpack_from("<I", data)[0], 4
    for _ in range(min(count, 1024)):
        text, place = _text(data, place)
        yield text


def _text(data: bytes, place: int) -> tuple[str, int]:
    """A text with its length before it, and where it ends."""
    size = struct.unpack_from("<I", data, place)[0]
    value = data[place + 4 : place + 4 + size].partition(b"\0")[0]
    return value.decode("utf-8", "replace"), place + 4 + size
