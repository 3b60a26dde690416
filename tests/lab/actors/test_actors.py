"""Actors have the name and core they were given, take cues, answer, and end."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from necroscope.errors import NecroscopeError
from necroscope.lab.actors import actors


def parrot(word: str, times: int) -> None:
    print("hello", flush=True)  # noqa: T201
    for line in sys.stdin:
        print(line.strip() + word * times, flush=True)  # noqa: T201


def fail() -> None:
    raise SystemExit(3)


def test_an_actor_takes_cues_and_answers_in_order() -> None:
    core = max(os.sched_getaffinity(0))
    heard: list[int] = []
    actor = actors.start(parrot, ["ab", 2], "calm-otter", cpu=core, nice=3, started=heard.append)
    try:
        assert heard == [actor.pid]
        assert actor.answer() == "hello"
        actor.cue("one")
        actor.cue("two")
        assert [actor.answer(), actor.answer()] == ["oneabab", "twoabab"]
        assert Path(f"/proc/{actor.pid}/comm").read_text() == "calm-otter\n"
        assert Path(f"/proc/{actor.pid}/cmdline").read_bytes().startswith(b"calm-otter\0")
        assert os.sched_getaffinity(actor.pid) == {core}
        assert os.getpriority(os.PRIO_PROCESS, actor.pid) == 3
        actor.cue("three")
        deadline = time.monotonic() + 5
        while not (lines := actor.listen()) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert lines == ["threeabab"]
        assert actor.listen() == []
    finally:
        actor.end()
    assert not actor.alive
    assert not Path(f"/proc/{actor.pid}").exists()


def test_an_actor_that_does_not_answer_is_told() -> None:
    actor = actors.start(parrot, ["", 0], "still-lake")
    try:
        assert actor.answer() == "hello"
        with pytest.raises(NecroscopeError, match=r"still-lake did not answer$"):
            actor.answer(0.05)
    finally:
        actor.end()
    with pytest.raises(NecroscopeError, match="has ended"):
        actor.answer(0.05)


def test_an_actor_that_fails_at_once_is_heard_of() -> None:
    actor = actors.start(fail, [], "brief-wren")
    try:
        with pytest.raises(NecroscopeError, match="it has ended"):
            actor.answer(5)
    finally:
        actor.end()
    with pytest.raises(NecroscopeError, match="did not get ready"):
        actors.start(fail, [], "lost-wren", cgroups=[Path("/nowhere")])
