"""What each process had used when it was last looked at: a bounded part of all processes in each round.

Reading the stat of every process is what makes a process table dear. A round spends at most `SWEEP_S` of CPU time:
first on those that are wanted (who was sampled lately, who was worth telling in the round before), then on the others
in turn, from where the round before stopped. On most nodes that is all of them; of 5,000 processes a round sees some
2,000. Who computes is among the wanted ones; who waits for a core without ever getting it is seen when its turn comes,
and from then on is wanted too.

Source: /proc/PID/stat.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from necroscope import clock
from necroscope.clock import NS
from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.processes.names import Process, parse_stat

SWEEP_S = 0.03
MAX_PROCESSES = 100_000

_CHECKED_EVERY = 64
_STAT_BYTES = 4096
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# Fields behind the name: state, user and system ticks, the start.
_STATE, _USER, _SYSTEM, _NICE, _START, _POLICY = 0, 11, 12, 16, 19, 38
# SCHED_BATCH, SCHED_IDLE
_PATIENT = (b"3", b"5")


@dataclass(frozen=True, slots=True)
class Moved:
    """A process that used a core since the round before, or runs or waits at this instant; ticks since then."""

    process: Process
    user_ticks: int
    system_ticks: int
    young: bool = False


@dataclass(frozen=True, slots=True)
class Round:
    """One round: how many processes there are, how many were looked at, and the moved among them."""

    processes: int
    looked_at: int
    moved: tuple[Moved, ...]


class ProcessSweep:
    """Keeps, of each process, its last look: the round, its start, and the ticks it had used."""

    def __init__(self, budget_s: float = SWEEP_S) -> None:
        self._budget_s = budget_s
        self._known: dict[int, tuple[int, bytes, int, int]] = {}
        self._round = 0
        self._last_pid = 0
        self._before_ticks: int | None = None

    def look(self, host: Host, wanted: Iterable[int] = (), others: bool = True) -> Round:
        """The next round; without `others`, only the wanted are looked at. Use is counted against the round before:
        one that was not looked at then is reported as waiting, and what it used from its next look on, unless it is
        younger than that."""
        self._round += 1
        now_ticks = host.clock().boottime_ns * _TICKS_PER_S // NS
        pids = [int(name) for name in host.entries("/proc") if name.isdecimal()]
        looked_at, moved = 0, []
        # A process that is gone between the list and the look was there a moment ago: it counts as looked at.
        for pid, text in self._texts(host, self._order(pids, wanted, others)):
            looked_at += 1
            if text and (one := self._compared(pid, text)) is not None:
                moved.append(one)
        here = set(pids)
        self._known = {pid: seen for pid, seen in self._known.items() if pid in here}
        self._before_ticks = now_ticks
        return Round(len(pids), looked_at, tuple(moved))

    def _order(self, pids: list[int], wanted: Iterable[int], others: bool) -> Sequence[tuple[int, bool]]:
        """Those that are wanted, then the others in turn. True: this one moves the turn on."""
        pids.sort()
        here = set(pids)
        first = [pid for pid in dict.fromkeys(wanted) if pid in here]
        chosen = set(first)
        place = bisect_right(pids, self._last_pid)
        turn = [pid for pid in pids[place:] + pids[:place] if pid not in chosen]
        return [(pid, False) for pid in first] + [(pid, True) for pid in turn[: MAX_PROCESSES if others else 0]]

    def _texts(self, host: Host, order: Sequence[tuple[int, bool]]) -> Iterator[tuple[int, bytes]]:
        ends_s = clock.thread_cpu_s() + self._budget_s
        for position, (pid, in_turn) in enumerate(order):
            if position % _CHECKED_EVERY == 0 and clock.thread_cpu_s() > ends_s:
                return
            yield pid, host.short(f"/proc/{pid}/stat", _STAT_BYTES) or b""
            if in_turn:
                self._last_pid = pid

    def _compared(self, pid: int, text: bytes) -> Moved | None:
        # The name may hold parentheses and blanks; the last ") " ends it.
        fields = text[text.rfind(b") ") + 2 :].split(b" ", _START + 1)
        try:
            start, user, system = fields[_START], int(fields[_USER]), int(fields[_SYSTEM])
            known, self._known[pid] = self._known.get(pid), (self._round, start, user, system)
            if known is None or known[1] != start:
                return self._first_seen(text, user, system)
            # Of one that was passed over in the round before, nobody knows when it used what it used.
            used = (user - known[2], system - known[3]) if known[0] == self._round - 1 else (0, 0)
            if used == (0, 0) and not (fields[_STATE] == b"R" and _wants_to_run(text)):
                return None
            return Moved(parse_stat(text), max(0, used[0]), max(0, used[1]))
        except (IndexError, ValueError, Unavailable):
            return None

    def _first_seen(self, text: bytes, user: int, system: int) -> Moved | None:
        """All that a young process used, it used since the round before; a tick is the resolution of its start."""
        process = parse_stat(text)
        if self._before_ticks is None or process.start_ticks < self._before_ticks - 1:
            return None
        return Moved(process, user, system, young=True)


def _wants_to_run(text: bytes) -> bool:
    """Whether a process that wants to run is to be missed when it does not: one that made itself patient is not."""
    fields = text[text.rfind(b") ") + 2 :].split()
    if len(fields) <= _POLICY:
        return True
    return int(fields[_NICE]) <= 0 and fields[_POLICY] not in _PATIENT
