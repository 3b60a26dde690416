"""Stacks are remembered as long as they are used, in bounded memory."""

from __future__ import annotations

from necroscope.sense.perf.samples import Stack
from necroscope.store.write.stack_book import StackBook
from stage.recorded import LOOP, SYSCALL, stack

SMALL = 204  # what a stack of one frame `f` in `m` takes


def test_frames_come_back_as_they_are_written() -> None:
    book = StackBook()
    book.learn([stack(SYSCALL), stack(LOOP)])
    assert book.frames(stack(LOOP).stack_id) == "main\x1fworker\x1espin\x1fworker\x1e"
    assert book.frames(1) is None


def test_the_book_is_bounded_and_forgets_what_is_not_used() -> None:
    book = StackBook(max_bytes=100 * SMALL)
    book.learn([stack(LOOP)])
    for number in range(1000):
        book.learn([Stack(number, ("f", str(number)), ("m", "m"))])
        assert book.frames(stack(LOOP).stack_id) is not None
        assert len(book) <= 101
    assert book.frames(0) is None
    assert book.frames(999) == "f\x1fm\x1e999\x1fm\x1e"


def test_forgetting_is_reported_once_and_what_was_used_since_is_kept() -> None:
    book = StackBook(max_bytes=10 * SMALL)
    book.learn([Stack(number, ("f",), ("m",)) for number in range(5)])
    assert not book.take_forgot()
    book.learn([Stack(5, ("f",), ("m",))])
    assert book.take_forgot()
    assert not book.take_forgot()
    assert all(book.frames(number) for number in range(6)), "the generation before is still known"


def test_names_that_are_no_utf8_are_written_out() -> None:
    book = StackBook()
    book.learn([Stack(1, (b"\xff".decode("utf-8", "surrogateescape"),), ("m",))])
    assert book.frames(1) == "\\xff\x1fm\x1e"
