"""A process in another network namespace floods a virtual link whose packets one core has to work off."""

from __future__ import annotations

import select
import socket
import sys
import time
from pathlib import Path

from necroscope.lab.actors.timing import answer
from necroscope.lab.needs import NETWORK
from necroscope.lab.scenario import Scenario, Subject, Truth
from necroscope.lab.scoring.checks import core_held, figure
from necroscope.lab.scoring.sampled import functions_sampled
from necroscope.lab.stage import Stage

_UDP_SEGMENT = 103
_SNDBUFFORCE = 32
_SEGMENTS = 60
_FUNCTIONS = ("net_rx_action", "process_backlog", "__netif_receive_skb_core", "ip_rcv", "udp_rcv", "__udp4_lib_rcv")
_REST_S = 0.02
_PAUSE_S = 0.001
# what is under way counts against the sender's buffer until it is worked off: with the usual one the core runs dry
_BUFFER_BYTES = 8_000_000


def play(stage: Stage) -> Truth:
    """The sender runs on another core. Who takes a packet now and then on the core itself has nothing to do with it."""
    network, port = stage.network(), stage.rng.randint(20_000, 60_000)
    steering = Path(f"/sys/class/net/{network.device}/queues/rx-0/rps_cpus")
    steering.write_text(f"{1 << stage.cpu:x}")
    receiver = stage.spawn(receive, network.address, port, cpu=stage.cpu)
    receiver.answer()
    sender = stage.spawn(
        send, network.address, port, stage.rng.randint(16, 120), stage.rng.randint(200, 320),
        cpu=stage.rng.choice(stage.other_cpus), realtime=1, network=network,
    )  # fmt: skip
    stage.victim()
    stage.decoy("receiver", kind="process", name=receiver.name)
    packets = 0
    with stage.recording():
        for _ in range(stage.rng.choice((1, 2))):
            with stage.episode():
                sender.cue(f"{stage.seconds(4.0, 7.0):.2f}")
                packets += int(sender.answer())
            stage.symptom()
            stage.sleep(stage.seconds(2.0, 6.0))
    stage.report.happened.update(packets=packets, device=network.device)
    thread = f"ksoftirqd/{stage.cpu}"
    return Truth("softirq-flood", Subject("process", sender.name), thread, 0, stage.cpu)


def send(address: str, port: int, size: int, burst: int) -> None:
    """A few packets all the time; on the cue `SECONDS` as many as it can, in bursts; says how many.

    Many small packets go out in one piece, and are taken apart where they arrive: that costs the receiver's core far
    more than the sender's.
    """
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.connect((address, port))
    out.setsockopt(socket.IPPROTO_UDP, _UDP_SEGMENT, size)
    out.setsockopt(socket.SOL_SOCKET, _SNDBUFFORCE, _BUFFER_BYTES)
    few, many = bytes(size * 2), bytes(size * _SEGMENTS)
    while True:
        if not select.select([sys.stdin], [], [], _REST_S)[0]:
            _send(out, few)
            continue
        ends, count = time.monotonic() + float(sys.stdin.readline() or 0), 0
        while time.monotonic() < ends:
            count += sum(_send(out, many) for _ in range(burst)) // size
            time.sleep(_PAUSE_S)
        answer(count)


def _send(out: socket.socket, data: bytes) -> int:
    try:
        return out.send(data)
    except OSError:  # nobody listens for a moment, or there is no room
        return 0


def receive(address: str, port: int) -> None:
    """Take a few packets, rest."""
    into = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    into.bind((address, port))
    into.setblocking(False)
    answer("bound")
    while True:
        for _ in range(10):
            try:
                into.recv(2048)
            except BlockingIOError:
                break
        time.sleep(_REST_S)


scenario = Scenario(
    name="softirq-flood",
    summary="A process on another core floods a virtual link; the core that works off its packets is held.",
    play=play,
    cause="softirq-flood",
    subject="process",
    innocent=True,
    needs=(NETWORK,),
    hides=("steady-load",),
    shows=(
        core_held(3.0, "softirq"),
        functions_sampled("packets being worked off", _FUNCTIONS, 0.5),
        figure("packets", "packets sent in floods", at_least=500_000, unit="packets"),
    ),
)
