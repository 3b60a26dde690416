"""Stacks are remembered as long as they are used, in bounded memory."""

from __future__ import annotations

from necroscope.sense.perf.samples import Stack
from necroscope.store.write.stack_cache import StackCache
from stage.recorded import LOOP, SYSCALL, stack

SMALL = 204  # what a stack of one frame `f` in `m` takes


def test_frames_come_back_as_they_are_written() -> None:
    cache = StackCache()
    cache.learn([stack(SYSCALL), stack(LOOP)])
    assert cache.frames(stack(LOOP).stack_id) == "main\x1fworker\x1espin\x1fworker\x1e"
    assert cache.frames(1) is None


def test_the_book_is_bounded_and_forgets_what_is_not_used() -> None:
    cache = StackCache(max_bytes=100 * SMALL)
    cache.learn([stack(LOOP)])
    for number in range(1000):
        cache.learn([Stack(number, ("f", str(number)), ("m", "m"))])
        assert cache.frames(stack(LOOP).stack_id) is not None
        assert len(cache) <= 101
    assert cache.frames(0) is None
    assert cache.frames(999) == "f\x1fm\x1e999\x1fm\x1e"


def test_forgetting_is_reported_once_and_what_was_used_since_is_kept() -> None:
    cache = StackCache(max_bytes=10 * SMALL)
    cache.learn([Stack(number, ("f",), ("m",)) for number in range(5)])
    assert not cache.take_dropped()
    cache.learn([Stack(5, ("f",), ("m",))])
    assert cache.take_dropped()
    assert not cache.take_dropped()
    assert all(cache.frames(number) for number in range(6)), "the generation before is still known"


def test_names_that_are_no_utf8_are_written_out() -> None:
    cache = StackCache()
    cache.learn([Stack(1, (b"\xff".decode("utf-8", "surrogateescape"),), ("m",))])
    assert cache.frames(1) == "\\xff\x1fm\x1e"
