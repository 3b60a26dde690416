"""Pieces of perf's stream are taken once a second, all at once; plenty of them, or their end, at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from necroscope.sense.perf.launch import chunks
from necroscope.sense.perf.launch.chunks import Chunks


@pytest.fixture
def due_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    return lambda seconds: monkeypatch.setattr(chunks, "until_take_s", lambda _: seconds)


def test_pieces_wait_for_their_moment_and_come_together(due_in: Callable[[float], None]) -> None:
    due_in(0.3)
    some = Chunks(1000, 100)
    began = time.monotonic()
    some.put(b"one ")
    assert some.take(0.05) == b""
    some.put(b"two")
    assert some.take(5.0) == b"one two"
    assert 0.25 < time.monotonic() - began < 4.9


def test_without_any_time_what_is_there_is_taken(due_in: Callable[[float], None]) -> None:
    due_in(60.0)
    some = Chunks(1000, 100)
    assert some.take(0.0) == b""
    some.put(b"one")
    assert some.take(0.0) == b"one"


def test_plenty_is_due_at_once(due_in: Callable[[float], None]) -> None:
    due_in(60.0)
    some = Chunks(1000, 100)
    threading.Timer(0.1, lambda: some.put(b"x" * 100)).start()
    began = time.monotonic()
    assert len(some.take(30.0)) == 100
    assert time.monotonic() - began < 5.0


def test_the_end_is_reported_when_all_was_taken(due_in: Callable[[float], None]) -> None:
    due_in(60.0)
    some = Chunks(1000, 100)
    some.put(b"rest")
    some.end()
    assert not some.over
    assert some.take(30.0) == b"rest"
    assert some.over
    assert some.take(30.0) == b""


def test_who_brings_more_than_there_is_room_for_waits(due_in: Callable[[float], None]) -> None:
    due_in(60.0)
    some = Chunks(100, 50)
    some.put(b"x" * 100)
    bringing = threading.Thread(target=lambda: some.put(b"y"), daemon=True)
    bringing.start()
    bringing.join(0.2)
    assert bringing.is_alive()
    assert some.take(1.0) == b"x" * 100
    bringing.join(5.0)
    assert some.take(0.0) == b"y"
