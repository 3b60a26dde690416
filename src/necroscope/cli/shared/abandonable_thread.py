"""Work that does not listen to Ctrl-C, done where it need not: in a thread that the program does not wait for."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import TypeVar

_Result = TypeVar("_Result")
_STOPPED = 130


def abandonable(work: Callable[[], _Result]) -> _Result:
    """What the work returns or raises. After Ctrl-C the program tidies up and ends, however busy the work is: DuckDB
    2.0 waits for its own threads when a query is interrupted, often for ever."""
    future: Future[_Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    try:
        return future.result()
    except KeyboardInterrupt:
        atexit.register(_leave)
        raise


def _leave() -> None:
    """End without taking the libraries down, under which the work still runs."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(_STOPPED)
