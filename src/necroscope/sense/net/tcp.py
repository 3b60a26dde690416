"""TCP of this network namespace: what had to be sent again, what timed out, what was given up.

    /proc/net/snmp        Tcp: RtoAlgorithm RtoMin ... ActiveOpens PassiveOpens ... OutSegs RetransSegs ...
                          Tcp: 1 200 ... 4711 17 ... 123456 42 ...
    /proc/net/netstat     TcpExt: SyncookiesSent ... TCPTimeouts ... TCPAbortOnTimeout ...
                          TcpExt: 0 ... 12 ... 3 ...

A line of names and a line of numbers, of the same length; kernels have more or fewer columns. Between a device's reset
and a job that fails, these are the link: connections time out seconds to minutes after the packets were lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.numbers import count
from necroscope.vocabulary.model import Reading, Sample, Signal

_COLUMNS: Mapping[str, tuple[str, str]] = {
    "OutSegs": ("tcp_sent_segments", ""),
    "RetransSegs": ("tcp_retransmitted_segments", ""),
    "EstabResets": ("tcp_resets", ""),
    "AttemptFails": ("tcp_failed_connects", ""),
    "TCPTimeouts": ("tcp_timeouts", ""),
    "TCPSynRetrans": ("tcp_retransmitted_syns", ""),
    "TCPAbortOnTimeout": ("tcp_aborts", "timeout"),
    "TCPAbortOnData": ("tcp_aborts", "data"),
    "TCPAbortOnClose": ("tcp_aborts", "close"),
    "TCPAbortOnMemory": ("tcp_aborts", "memory"),
    "TCPAbortOnLinger": ("tcp_aborts", "linger"),
    "TCPAbortFailed": ("tcp_aborts", "failed"),
}


def _counter(name: str, unit: str, help_: str, labels: tuple[str, ...] = ()) -> Signal:
    return Signal(name, unit, "counter", help_, labels)


class Tcp:
    """Retransmissions, timeouts and aborted connections."""

    name: ClassVar[str] = "tcp"
    signals: ClassVar[tuple[Signal, ...]] = (
        _counter("tcp_sent_segments", "segments", "Segments sent, retransmissions not counted."),
        _counter("tcp_retransmitted_segments", "segments", "Segments that were sent again."),
        _counter("tcp_resets", "connections", "Established connections that were reset, by either side."),
        _counter("tcp_failed_connects", "connections", "Connections that could not be made."),
        _counter("tcp_timeouts", "timeouts", "Times that no answer came before the retransmission timer ran out."),
        _counter("tcp_retransmitted_syns", "segments", "First segments of connections that were sent again."),
        _counter("tcp_aborts", "connections", "Connections that the kernel gave up, by why.", ("reason",)),
    )

    def read(self, host: Host) -> Reading:
        """One look at both files."""
        found = parse_pairs(host.read("/proc/net/snmp"), b"Tcp:")
        found |= parse_pairs(host.read_or_none("/proc/net/netstat") or b"", b"TcpExt:")
        known = [(name, found[name]) for name in _COLUMNS if name in found]
        if not known:
            raise Unavailable("/proc/net/snmp has no line of TCP")
        return Reading(tuple(_sample(*_COLUMNS[name], value) for name, value in known))


def parse_pairs(text: bytes, title: bytes) -> dict[str, int]:
    """Numbers by name, of the two lines that begin with the title; empty where they do not match."""
    lines = [line.split() for line in text.splitlines() if line.startswith(title)]
    if len(lines) < 2 or len(lines[0]) != len(lines[1]):
        return {}
    pairs = zip(lines[0][1:], lines[1][1:], strict=True)
    return {name.decode("ascii", "replace"): number for name, word in pairs if (number := count(word)) is not None}


def _sample(signal: str, label: str, value: int) -> Sample:
    return Sample(signal, value, (label,) if label else ())
