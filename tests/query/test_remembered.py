"""What was read is kept as long as a question lasts, within bounds."""

from __future__ import annotations

import pytest

from necroscope.query.remembered import remembered, remembering


def _read(log: list[str], key: str, size: int = 10) -> str:
    def read() -> str:
        log.append(key)
        return f"value of {key}"

    return remembered(key, read, lambda _: size)


def test_within_a_question_everything_is_read_once() -> None:
    log: list[str] = []
    with remembering():
        assert [_read(log, key) for key in "aba"] == ["value of a", "value of b", "value of a"]
        with remembering():
            _read(log, "b")
    assert log == ["a", "b"]
    with remembering():
        _read(log, "a")
    assert log == ["a", "b", "a"]


def test_without_a_question_nothing_is_kept() -> None:
    log: list[str] = []
    _read(log, "a")
    _read(log, "a")
    assert log == ["a", "a"]


def test_what_was_not_used_for_longest_goes_first() -> None:
    log: list[str] = []
    with remembering(10_000):
        for key in "abcdefa":
            _read(log, key, 1400)
        log.clear()
        for key in ("g", "a", "h", "b"):
            _read(log, key, 1400)
    assert log == ["g", "h", "b"]


def test_what_would_push_out_too_much_is_not_kept() -> None:
    log: list[str] = []
    with remembering(10_000):
        _read(log, "small", 100)
        for _ in range(2):
            _read(log, "large", 5_000)
        _read(log, "small", 100)
    assert log == ["small", "large", "large"]


def test_what_cannot_be_read_is_tried_again() -> None:
    tries = []

    def broken() -> str:
        tries.append(1)
        raise OSError("no")

    with remembering():
        for _ in range(2):
            with pytest.raises(OSError, match="no"):
                remembered("key", broken, len)
    assert len(tries) == 2
