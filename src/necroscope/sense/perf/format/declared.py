"""What a stream declares before and between its records: events and their names, formats of tracepoints, features."""

from __future__ import annotations

import struct

import numpy as np

from necroscope.sense.perf.format.attrs import EventAttr, Events, parse_attr
from necroscope.sense.perf.format.layout import HEADER_BYTES, Type
from necroscope.sense.perf.format.recording import Recording
from necroscope.sense.perf.format.sideband import text
from necroscope.sense.perf.format.tracepoints import Format

_NAME_UPDATE = 2


class Declarations:
    """Filled while the stream, or a file's header, is read."""

    def __init__(self) -> None:
        self.recording = Recording()
        self.events = Events()
        self.formats: dict[int, Format] = {}

    def add_event(self, attr: EventAttr) -> None:
        """One more event."""
        self.events.add(attr)
        self._name_tracepoints()

    def add_formats(self, formats: dict[int, Format]) -> None:
        """How tracepoints look, by their number."""
        self.formats.update(formats)
        self._name_tracepoints()

    def take(self, kind: int, record: bytes) -> None:
        """Take in a record of perf's own, header included; one that declares nothing is passed over."""
        if kind == Type.EVENT_UPDATE and len(record) > 24:
            what, counter = struct.unpack_from("<QQ", record, HEADER_BYTES)
            if what == _NAME_UPDATE:
                self.events.name_by_id(counter, text(record[24:]))
        elif kind == Type.HEADER_BUILD_ID:
            self.recording.build_id(record)
        elif kind == Type.HEADER_FEATURE and len(record) > 16:
            self.recording.feature(struct.unpack_from("<Q", record, HEADER_BYTES)[0], record[16:], self.events)

    def _name_tracepoints(self) -> None:
        for position, attr in enumerate(self.events.attrs):
            known = self.formats.get(attr.config)
            if attr.tracepoint and known is not None and attr.name.startswith("tracepoint:"):
                self.events.name(position, f"{known.system}:{known.name}" if known.system else known.name)


def read_attr(record: bytes) -> EventAttr | None:
    """The event that a HEADER_ATTR declares: its attr, then the ids of its counters. None when it is cut short."""
    payload = record[HEADER_BYTES:]
    size = struct.unpack_from("<I", payload, 4)[0] if len(payload) >= 64 else 0
    if not 64 <= size <= len(payload):
        return None
    ids = np.frombuffer(payload[size : size + (len(payload) - size & ~7)], np.uint64)
    return parse_attr(payload[:size], ids.tolist())
