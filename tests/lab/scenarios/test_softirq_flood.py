"""The two processes of the softirq flood, on the loopback device."""

from __future__ import annotations

import socket

from necroscope.lab.actors import actors
from necroscope.lab.scenarios.softirq_flood import send


def test_a_flood_on_a_cue_and_a_trickle_otherwise() -> None:
    into = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    into.bind(("127.0.0.1", 0))
    into.settimeout(10)
    sender = actors.start(send, ("127.0.0.1", into.getsockname()[1], 32, 5), "calm-sender")
    try:
        assert into.recv(2048) == bytes(32)
        sender.cue("0.1")
        sent = int(sender.answer())
        assert sent >= 300
        assert sent % 300 == 0
    finally:
        sender.end()
        into.close()
