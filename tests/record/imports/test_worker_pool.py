"""Several processes on one piece of work: results in order, errors as they are, nobody left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from necroscope.errors import BadInput, Unavailable
from necroscope.record.imports.worker_pool import Progress, work_together
from stage.own_children import own_children

ORPHANS = """
import os, sys, time
from necroscope.record.imports.worker_pool import work_together
def work(number, progress):
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(60)
work_together(2, work, lambda done: None)
"""


BEFORE: set[int] = set()


@pytest.fixture(autouse=True)
def children_of_others() -> None:
    """What other tests left is not the crew's."""
    BEFORE.clear()
    BEFORE.update(own_children())


def nobody() -> None:
    """The crew has left no child."""
    assert own_children() <= BEFORE


def test_results_come_in_order_and_progress_is_told() -> None:
    shares: list[float] = []

    def work(number: int, progress: Progress) -> list[int]:
        for step in range(101):
            progress(step / 100)
        time.sleep(0.05 * (3 - number))
        return [number, os.getpid()]

    made = work_together(3, work, shares.append)
    assert [number for number, _ in made] == [0, 1, 2]
    assert len({pid for _, pid in made} | {os.getpid()}) == 4
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    nobody()


@pytest.mark.parametrize("error", [BadInput("x is no recording", "record again"), Unavailable("no room", "make room")])
def test_an_error_of_one_ends_all_and_comes_out_as_it_is(error: BadInput | Unavailable) -> None:
    def work(number: int, progress: Progress) -> None:
        if number == 1:
            raise error
        time.sleep(60)

    began = time.monotonic()
    with pytest.raises(type(error)) as caught:
        work_together(2, work, lambda done: None)
    assert (caught.value.message, caught.value.hint) == (error.message, error.hint)
    assert time.monotonic() - began < 30
    nobody()


def test_a_defect_keeps_its_trace() -> None:
    def work(number: int, progress: Progress) -> float:
        return 1 / number

    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        work_together(2, work, lambda done: None)
    nobody()


def test_one_that_is_killed_is_told() -> None:
    def work(number: int, progress: Progress) -> None:
        progress(0.5)
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(Unavailable, match="was killed"):
        work_together(2, work, lambda done: None)
    nobody()


def test_nobody_outlives_the_one_who_asked(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(parent.stdout.readline()) for _ in range(2)]
        parent.kill()
    end = time.monotonic() + 10
    while any(map(alive, workers)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(map(alive, workers))


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie that waits for somebody to look does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
