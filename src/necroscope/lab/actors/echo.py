"""An echo over a pair of virtual devices: the server is on the core, and how long the answer takes shows the stall."""

from __future__ import annotations

import json
import socket
import time

from necroscope.clock import NS
from necroscope.lab.actors.timing import answer

PORT = 7007
REPORTED_S = 0.2
_EVERY_S = 0.05
_PATIENCE_S = 5.0


def serve(address: str) -> None:
    """Send back whatever comes."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((address, PORT))
        while True:
            data, sender = server.recvfrom(2048)
            server.sendto(data, sender)


def probe(address: str) -> None:
    """Ask twenty times a second; a line tells each answer that took long, or did not come in five seconds."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((address, PORT))
        client.settimeout(_PATIENCE_S)
        number = 0
        while True:
            number += 1
            began_ns = time.time_ns()
            _round_trip(client, str(number).encode())
            took_s = (time.time_ns() - began_ns) / NS
            if took_s > REPORTED_S:
                row = {"from_ns": began_ns, "to_ns": time.time_ns(), "stalled_s": round(took_s, 3)}
                answer(json.dumps(row))
            time.sleep(_EVERY_S)


def _round_trip(client: socket.socket, question: bytes) -> None:
    try:
        client.send(question)
        while client.recv(2048) != question:
            pass
    except OSError:
        time.sleep(_EVERY_S)
