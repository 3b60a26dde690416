"""TCP's counters: real files, short ones, and nonsense."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.net.tcp import Tcp, parse_pairs
from necroscope.vocabulary.model import Sample

SNMP = b"Ip: Forwarding\nIp: 1\nTcp: RtoMin OutSegs RetransSegs EstabResets\nTcp: 200 123456 42 -1\nUdp: X\nUdp: 1\n"
NETSTAT = b"TcpExt: TCPTimeouts TCPAbortOnTimeout TCPAbortOnData\nTcpExt: 12 3 4\nIpExt: A\nIpExt: 7\n"


def _host(folder: Path, snmp: bytes, netstat: bytes | None) -> Host:
    (folder / "proc/net").mkdir(parents=True)
    (folder / "proc/net/snmp").write_bytes(snmp)
    if netstat is not None:
        (folder / "proc/net/netstat").write_bytes(netstat)
    return Host(folder)


def test_both_files_and_columns_that_are_missing(tmp_path: Path) -> None:
    assert Tcp().read(_host(tmp_path / "a", SNMP, NETSTAT)).samples == (
        Sample("tcp_sent_segments", 123456),
        Sample("tcp_retransmitted_segments", 42),
        Sample("tcp_timeouts", 12),
        Sample("tcp_aborts", 3, ("timeout",)),
        Sample("tcp_aborts", 4, ("data",)),
    )
    assert len(Tcp().read(_host(tmp_path / "b", SNMP, None)).samples) == 2


@pytest.mark.parametrize(
    "text", [b"", b"Tcp:", b"Tcp: OutSegs RetransSegs\nTcp: 1\n", b"Tcp: OutSegs\n", b"\xff\x00" * 99]
)
def test_what_does_not_match_is_nothing(text: bytes, tmp_path: Path) -> None:
    assert parse_pairs(text, b"Tcp:") == {}
    with pytest.raises(Unavailable):
        Tcp().read(_host(tmp_path, text, None))


def test_this_machine_tells_them() -> None:
    names = {sample.signal for sample in Tcp().read(Host()).samples}
    assert {"tcp_sent_segments", "tcp_retransmitted_segments", "tcp_timeouts", "tcp_aborts"} <= names
