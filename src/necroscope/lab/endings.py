"""How a run ends early: by Ctrl-C, SIGTERM or a closed terminal, and never in the middle of cleaning up."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator

_ENDS = (signal.SIGTERM, signal.SIGHUP)


class Ended(SystemExit):
    """A signal asked for the end; what a scenario's own `sys.exit` is not."""


@contextlib.contextmanager
def orderly_end() -> Iterator[None]:
    """SIGTERM and a closed terminal end the block as Ctrl-C does: everything is undone. What is ignored (`nohup`) stays
    so."""

    def leave(number: int, _: object) -> None:
        raise Ended(128 + number)

    with _handled(_ENDS, leave):
        yield


@contextlib.contextmanager
def undisturbed(on_interrupt: Callable[[], None]) -> Iterator[None]:
    """The block is done to its end; an interrupt meanwhile calls `on_interrupt`, and takes effect afterwards."""
    wanted: list[int] = []

    def later(number: int, _: object) -> None:
        wanted.append(number)
        on_interrupt()

    with _handled((signal.SIGINT, *_ENDS), later):
        yield
    if wanted:
        raise KeyboardInterrupt if wanted[0] == signal.SIGINT else Ended(128 + wanted[0])


@contextlib.contextmanager
def _handled(numbers: tuple[signal.Signals, ...], handler: Callable[[int, object], None]) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in numbers}
    ours = [number for number, old in before.items() if old is not signal.SIG_IGN]
    for number in ours:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])
