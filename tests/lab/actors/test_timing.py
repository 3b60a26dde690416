"""How actors take their cues."""

from __future__ import annotations

import io
import os
import sys
import time

import pytest

from necroscope.lab.actors.timing import on_cues


def test_a_little_all_the_time_and_hard_on_a_cue(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read, write = os.pipe()
    stdin = os.fdopen(read)
    monkeypatch.setattr(sys, "stdin", stdin)
    done: list[str] = []

    def little() -> None:
        done.append("little")
        if len(done) == 2:
            os.write(write, b"0.25\n")
        if len(done) == 4:
            os.close(write)

    def hard(ends: float) -> str:
        done.append("hard")
        return f"{ends - time.monotonic():.1f}"

    with stdin:
        on_cues(little, hard, rest_s=0.01)
    assert done == ["little", "little", "hard", "little"]
    assert capsys.readouterr().out in ("0.2\n", "0.3\n")


def test_no_input_is_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended(io.StringIO):
        def fileno(self) -> int:
            return fd

    fd = os.open(os.devnull, os.O_RDONLY)
    monkeypatch.setattr(sys, "stdin", Ended(""))
    try:
        on_cues(lambda: pytest.fail("worked after the end"), lambda ends: pytest.fail("took no cue for one"), 0.01)
    finally:
        os.close(fd)
