"""Victims tell what they went without, and it becomes a mark."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from necroscope.clock import NS
from necroscope.lab.actors import actors, echo, victim
from necroscope.lab.actors.victims import Victims
from necroscope.vocabulary.event import Event


def test_a_victim_that_was_stopped_tells_how_long() -> None:
    marks: list[Event] = []
    victims = Victims(marks.append)
    actor = actors.start(victim.work, [], "calm-otter", cpu=min(os.sched_getaffinity(0)))
    try:
        victims.add(actor, "stall", "{name} ({pid}) did not run for {seconds}", cpu=3)
        time.sleep(0.5)
        victims.hear()
        marks.clear()  # on a busy machine it may have waited for a core before
        os.kill(actor.pid, signal.SIGSTOP)
        time.sleep(1.0)
        woken_ns = time.time_ns()
        os.kill(actor.pid, signal.SIGCONT)
        time.sleep(0.5)
        victims.hear()
    finally:
        actor.end()
    mark = max(marks, key=lambda one: one.stall_s or 0.0)
    assert mark.text.startswith(f"calm-otter ({actor.pid}) did not run for 1.")
    assert (mark.kind, mark.subject, mark.cpu, mark.pid, mark.task) == (
        "stall",
        "calm-otter",
        3,
        actor.pid,
        "calm-otter",
    )
    assert mark.stall_s == pytest.approx(victims.longest_s("stall"))
    assert abs(mark.at_ns - woken_ns) < NS // 2
    assert 0.9 < victims.longest_s("stall") < 2.0
    assert victims.longest_s("slow-echo") == 0.0


def test_an_echo_through_a_stopped_server_takes_as_long() -> None:
    server = actors.start(echo.serve, ["127.0.0.1"], "calm-server")
    client = actors.start(echo.probe, ["127.0.0.1"], "calm-client")
    try:
        time.sleep(0.3)
        client.listen()
        os.kill(server.pid, signal.SIGSTOP)
        time.sleep(0.8)
        os.kill(server.pid, signal.SIGCONT)
        row = json.loads(client.answer(5))
    finally:
        client.end()
        server.end()
    assert 0.7 < row["stalled_s"] < 2.0
    assert abs((row["to_ns"] - row["from_ns"]) / NS - row["stalled_s"]) < 0.1
