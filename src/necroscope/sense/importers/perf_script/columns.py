"""The words of a sample's first line as numbers, remembered: the same few come again and again, except times."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.importers.perf_script.lines import Head
from necroscope.sense.importers.perf_script.scan import ByHash
from necroscope.sense.perf.decode.interning import Names
from necroscope.sense.perf.format.attrs import plain_name

NOT_KNOWN = -1
_REMEMBERED = 1 << 16
_INT32 = (1 << 31) - 1
_LATEST_NS = 9_000_000_000_000_000_000
_ORIGIN = re.compile(rb"[ \n]*([^\s#].{0,63}?) +(\d{1,10})(?:/(\d{1,10}))?(?: +\[(\d{1,5})\])? *")
_SUBJECT = re.compile(rb" *(?:(\d{1,18}) +)?([^\s:]\S{0,200})")

Origin = tuple[int, int, int, int, bool]


class Origins(dict[bytes, int]):
    """`python3 4711/4712 [003]` as a number of rows: name, pid, tid, core (-1: not printed), one number only."""

    def __init__(self) -> None:
        super().__init__()
        self.comms = Names()
        self._rows: list[Origin] = []
        self._numbers: dict[Origin, int] = {}
        self._table = np.zeros((0, 5), np.int32)
        self.by_hash = ByHash()

    def __missing__(self, text: bytes) -> int:
        found = _ORIGIN.fullmatch(text)
        if found is None or max(map(int, found.groups(b"0")[1:])) > _INT32:
            return NOT_KNOWN
        comm, pid, tid, cpu = found.groups()
        number = self[text] = self._number(comm, int(pid), int(tid) if tid else None, int(cpu) if cpu else -1)
        return number

    def of(self, head: Head) -> int:
        """The number of a line that was taken apart already."""
        return self._number(head.comm, head.pid, head.tid, head.cpu)

    def column(self, place: int) -> NDArray[np.int32]:
        """One field of all rows."""
        if len(self._table) < len(self._rows):
            fresh = np.array(self._rows[len(self._table) :], np.int32)
            self._table = np.concatenate([self._table, fresh])
        return self._table[:, place]

    def bound(self) -> None:
        """Forget when there are many; numbers handed out before mean nothing then."""
        if max(len(self), len(self._rows)) > _REMEMBERED:
            self.clear()
            self.__init__()  # type: ignore[misc]

    def _number(self, comm: bytes, pid: int, tid: int | None, cpu: int) -> int:
        pid, thread = (min(max(one, -1), _INT32) for one in (pid, pid if tid is None else tid))
        row = (self.comms.number(comm.decode("utf-8", "replace")), pid, thread, cpu, tid is None)
        number = self._numbers.setdefault(row, len(self._rows))
        if number == len(self._rows):
            self._rows.append(row)
        return number


class Subjects(dict[bytes, int]):
    """`     71428 cpu-clock:ppp` as a number of rows: event, and period (0: not printed)."""

    def __init__(self) -> None:
        super().__init__()
        self.events = Names()
        self.periods: list[int] = []
        self._codes: list[int] = []
        self.by_hash = ByHash()

    def __missing__(self, text: bytes) -> int:
        found = _SUBJECT.fullmatch(text)
        if found is None:
            return NOT_KNOWN
        number = self[text] = self._number(found[2], int(found[1] or 0))
        return number

    def of(self, head: Head, event: bytes) -> int:
        """The number of a line that was taken apart already; `event` where it names none."""
        key = b"%d %b" % (head.period, head.event or event)
        return self[key] if _SUBJECT.fullmatch(key) else self._number(event, head.period)

    def column(self, _: int) -> NDArray[np.int32]:
        """The event of all rows, as numbers into `events`."""
        return np.array(self._codes, np.int32)

    def bound(self) -> None:
        """Forget when there are many; numbers handed out before mean nothing then."""
        if len(self.periods) > _REMEMBERED:
            self.clear()
            self.__init__()  # type: ignore[misc]

    def _number(self, event: bytes, period: int) -> int:
        self.periods.append(period)
        self._codes.append(self.events.number(plain_name(event.decode("utf-8", "replace"))))
        return len(self.periods) - 1


def times_ns(words: Sequence[bytes]) -> NDArray[np.int64]:
    """`11528.896142` as nanoseconds; `ValueError` when one is no time."""
    if not words:
        return np.zeros(0, np.int64)
    table = np.array(words)
    width = table.dtype.itemsize
    digits = table.view(np.uint8).reshape(len(words), width)
    dot = words[0].find(b".")
    if 0 < dot <= 10 and 1 <= width - dot - 1 <= 9 and (digits[:, dot] == ord(".")).all():
        places = np.delete(digits, dot, axis=1) - np.uint8(ord("0"))
        powers = 10 ** np.arange(dot + 8, dot + 8 - places.shape[1], -1, dtype=np.uint64)
        if (places <= 9).all():
            at_ns: NDArray[np.uint64] = places.astype(np.uint64) @ powers
            if int(at_ns.max()) < _LATEST_NS:
                return at_ns.astype(np.int64)
    return np.array([_time_ns(word) for word in words], np.int64)


def _time_ns(word: bytes) -> int:
    seconds, _, fraction = word.partition(b".")
    if not seconds.isdigit() or not fraction.isdigit() or len(fraction) > 9 or int(seconds) > _LATEST_NS // 10**9:
        raise ValueError
    return int(seconds) * 1_000_000_000 + int(fraction.ljust(9, b"0"))
