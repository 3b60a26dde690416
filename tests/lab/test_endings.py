"""How runs end early: in order, and not in the middle of cleaning up."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from necroscope.lab.endings import Ended, orderly_end, undisturbed


@pytest.fixture(autouse=True)
def _handlers_come_back() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    after = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        signal.signal(number, handler)
    assert after == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_block_with_its_number(number: signal.Signals) -> None:
    with pytest.raises(Ended) as left, orderly_end():
        os.kill(os.getpid(), number)
    assert left.value.code == 128 + number


def test_what_is_ignored_stays_so() -> None:
    old = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with orderly_end(), undisturbed(lambda: pytest.fail("nobody was to hear of it")):
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, old)


@pytest.mark.parametrize(
    ("number", "ends"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Ended), (signal.SIGHUP, Ended)]
)
def test_cleaning_up_goes_on_to_its_end(number: signal.Signals, ends: type[BaseException]) -> None:
    said: list[str] = []
    done: list[int] = []

    def clean_up() -> None:
        with undisturbed(lambda: said.append("goes on")):
            for step in range(3):
                os.kill(os.getpid(), number)
                done.append(step)

    with pytest.raises(ends):
        clean_up()
    assert (said, done) == (["goes on"] * 3, [0, 1, 2])
