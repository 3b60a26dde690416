"""Who is who over time: the name of every thread, the address space and the cgroup of every process.

Records of one flush are applied in time order: a fork inherits name, space and cgroup, an exec renames and starts a new
space, an exit lets go, a little later (a task runs on in the kernel after it has reported its end). Samples
then ask, all at once, what held at their rank. Memory is bounded whatever comes: the oldest tasks go first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.decode.interning import Names
from necroscope.sense.perf.format.layout import Type
from necroscope.sense.perf.format.sideband import Mappings, TaskRows
from necroscope.sense.perf.format.tables import select
from necroscope.sense.perf.tasks.address_spaces import NOTHING, Space, overlapping
from necroscope.sense.perf.tasks.fresh_mappings import FreshMappings
from necroscope.sense.perf.tasks.timeline import Timeline

U32s = NDArray[np.uint32]
U64s = NDArray[np.uint64]
I64s = NDArray[np.int64]
_LINGER_FLUSHES = 3
_LOW = (1 << 32) - 1
_MOST_SPACES = (1 << 31) - 2
_MOST_UNFOLDED = 256
IDLE = "swapper"


@dataclass(frozen=True, slots=True)
class Move:
    """A process came to another cgroup."""

    rank: int
    pid: int
    cgroup: str


@dataclass(frozen=True, slots=True)
class TaskChanges:
    """What happened to tasks in one flush, each with its rank; `rows` and `moves` are sorted by it."""

    rows: TaskRows | None
    ranks: I64s
    maps: Mappings | None
    map_ranks: I64s
    moves: list[Move]


class Tasks:
    """Names, spaces and cgroups. `cgroup_of` says where a process is that nobody spoke of yet; "" is unknown."""

    def __init__(self, cgroup_of: Callable[[int], str] | None = None, limit: int = 1 << 18) -> None:
        self.comm_names = Names("")
        self.cgroup_names = Names("")
        self._cgroup_of = cgroup_of
        self._comms = Timeline(self._unnamed, keep=False)
        self._comms.now[0] = self.comm_names.number(IDLE)
        self._cgroups = Timeline(self._ask_cgroup)
        self._spaces = Timeline(self._new_space)
        self._by_number: dict[int, Space] = {}
        self._next_space = 1
        self._dying: dict[int, int] = {}
        self._flush = 0
        self._limit = limit
        self._fresh = FreshMappings.none()
        self._touched: list[Space] = []
        self._sampled = np.zeros(0, np.uint32)

    # -- what happened -----------------------------------------------------------------------------------

    def apply(self, due: TaskChanges, sampled: U32s) -> None:
        """Take in what happened in one flush; `sampled`: the processes that have samples in it, each once, sorted."""
        self._flush += 1
        self._sampled = sampled
        rows, ranks, passing = due.rows, due.ranks, _passing(due.rows, sampled)
        maps, map_ranks, moves = due.maps, due.map_ranks, due.moves
        if rows is not None and passing.size:
            stays = ~np.isin(rows.pid, passing)
            rows, ranks = select(rows, stays), ranks[stays]
            moves = [move for move in moves if move.pid not in set(passing.tolist())]
            if maps is not None:
                stays = ~np.isin(maps.pid, passing)
                maps, map_ranks = select(maps, stays), map_ranks[stays]
        self._fresh = FreshMappings.of(maps, map_ranks)
        waiting = deque(moves)
        for rank, kind, pid, tid, ppid, ptid, comm, by_exec in _lists(rows, ranks) if rows else ():
            while waiting and waiting[0].rank < rank:
                self._move(waiting.popleft())
            if kind == Type.COMM:
                self._comms.set(tid, rank, comm)
                if by_exec:
                    old = self._space(pid, rank)
                    self._replace_space(pid, rank, list(old.parts) if old else [], [])
            elif kind == Type.FORK:
                self._fork(rank, pid, tid, ppid, ptid, by_exec)
            else:
                self._dying[tid] = self._flush
        for move in waiting:
            self._move(move)

    def _fork(self, rank: int, pid: int, tid: int, ppid: int, ptid: int, synthesised: bool) -> None:
        self._dying.pop(tid, None)
        parent = self._comms.now.get(ptid)
        self._comms.set(tid, rank, self._unnamed(tid) if parent is None else parent)
        if pid == ppid:
            return
        parent_space = None if synthesised else self._space(ppid, rank)
        if parent_space is None:
            self._replace_space(pid, rank, [], [])
        else:
            self._replace_space(pid, rank, parent_space.before, list(parent_space.parts))
        cgroup = self._cgroups.now.get(ppid)
        if cgroup is not None and not synthesised:
            self._cgroups.set(pid, rank, cgroup)
        else:
            self._cgroups.forget(pid)

    def _move(self, move: Move) -> None:
        self._cgroups.set(move.pid, move.rank, self.cgroup_names.number(move.cgroup))

    def _replace_space(self, pid: int, rank: int, before: list[U64s], parts: list[U64s]) -> None:
        old = self._space(pid, rank)
        if old is not None:
            old.since = _LOW  # closed: what comes is not its own
        space = self._make_space(pid, rank)
        space.before, space.parts = before, parts
        self._touched.append(space)
        self._spaces.set(pid, rank, space.number)

    def _space(self, pid: int, rank: int) -> Space | None:
        """A process's space with all that it has mapped at a rank; None when nothing is known of it."""
        if pid not in self._spaces.now and pid not in self._fresh.spans:
            return None
        space = self._by_number[self._spaces.get(pid)]
        self._absorb(space, rank)
        return space

    def _absorb(self, space: Space, up_to: int) -> None:
        """Give a space those of its process's new mappings that came before a rank."""
        if space.pid in self._fresh.spans and space.since < up_to:
            rows = self._fresh.rows(space.pid, space.since, up_to)
            if rows.shape[0]:
                space.add(rows)
            space.since = up_to
            self._touched.append(space)

    # -- what held when -----------------------------------------------------------------------------------

    def comms(self, tids: U32s, ranks: I64s) -> NDArray[np.int32]:
        """The name of each thread at each rank, as a number in `comm_names`."""
        return self._comms.at(tids, ranks)

    def cgroups(self, pids: U32s, ranks: I64s) -> NDArray[np.int32]:
        """The cgroup of each process at each rank, as a number in `cgroup_names`."""
        return self._cgroups.at(pids, ranks)

    def versions(self, pids: U32s, ranks: I64s) -> U64s:
        """A number for what each process has mapped at each rank; equal numbers, equal mappings. Never 0.

        A mapping counts for all samples of its flush, as only code that is mapped can run; unless it covers another
        one, then it counts from its rank on.
        """
        if self._fresh.spans:
            for pid in self._fresh.spans.keys() & set(self._sampled.tolist()):
                self._unfold(self._by_number[self._spaces.get(pid)])
        return self._spaces.seen_as(pids, ranks, self._state)

    def _unfold(self, space: Space) -> None:
        """Give a space its new mappings; where one covers what is there, a new space begins."""
        rows, ranks = self._fresh.rows_and_ranks(space.pid, space.since)
        if rows.shape[0] > _MOST_UNFOLDED or not overlapping(np.concatenate([*space.parts, rows])):
            self._absorb(space, _LOW)
            return
        for row, rank in zip(rows, ranks.tolist(), strict=True):
            if overlapping(np.concatenate([*space.parts, row[None]])):
                self._absorb(space, rank - 1)
                parts = list(space.parts)
                space.since = _LOW
                space = self._make_space(space.pid, rank - 1)
                space.parts = parts
                self._touched.append(space)
                self._spaces.set(space.pid, rank, space.number)
            self._absorb(space, rank)

    def _state(self, number: int) -> int:
        space = self._by_number[number]
        self._absorb(space, _LOW)
        return number << 32 | space.added & _LOW

    def mapped(self, version: int) -> U64s:
        """The rows of a version, oldest first."""
        space = self._by_number.get(version >> 32)
        return NOTHING if space is None else space.rows()

    # -- the end of a flush -------------------------------------------------------------------------------

    def settle(self) -> None:
        """End the flush: new mappings join their spaces, dead tasks go."""
        for pid in self._fresh.spans:
            if pid not in self._dying:
                self._absorb(self._by_number[self._spaces.get(pid)], _LOW)
        for space in self._touched:
            space.since = 0
            space.settle()
        self._touched.clear()
        self._fresh = FreshMappings.none()
        self._forget_exited()
        self._spaces.settle()
        self._comms.settle()
        self._cgroups.settle()
        live = set(self._spaces.now.values())
        if len(self._by_number) > len(live):
            self._by_number = {number: space for number, space in self._by_number.items() if number in live}

    def forget_files(self) -> None:
        """Numbers of files have lost their meaning: all mappings go."""
        for space in self._by_number.values():
            space.before, space.parts = [], []

    def forget_names(self) -> None:
        """Drop names that no task has any more; numbers from before mean nothing then."""
        self._comms.renumber(self.comm_names.keep(self._comms.now.values()))
        self._cgroups.renumber(self.cgroup_names.keep(self._cgroups.now.values()))

    def _forget_exited(self) -> None:
        for tid in [one for one, flush in self._dying.items() if flush + _LINGER_FLUSHES <= self._flush]:
            del self._dying[tid]
            for timeline in (self._comms, self._cgroups, self._spaces):
                timeline.forget(tid)
        for timeline in (self._comms, self._cgroups, self._spaces):
            timeline.shrink(self._limit)

    # -- tasks nobody spoke of ------------------------------------------------------------------------------

    def _unnamed(self, tid: int) -> int:
        return self.comm_names.number(f":{tid - (1 << 32) if tid >> 31 else tid}")

    def _ask_cgroup(self, pid: int) -> int:
        return self.cgroup_names.number(self._cgroup_of(pid) if self._cgroup_of else "")

    def _new_space(self, pid: int) -> int:
        return self._make_space(pid, 0).number

    def _make_space(self, pid: int, since: int) -> Space:
        space = Space(self._next_space, pid, since=since)
        self._by_number[space.number] = space
        self._next_space = self._next_space % _MOST_SPACES + 1
        return space


def _passing(rows: TaskRows | None, sampled: U32s) -> U32s:
    """Processes that were born and ended within the flush without a sample: in a storm, nearly all of them.

    Nobody will ask for them, so nothing about them is kept; unless a child inherits from them that outlives them.
    """
    if rows is None:
        return np.zeros(0, np.uint32)
    forks = (rows.type == Type.FORK) & (rows.pid != rows.parent_pid)
    born, parent = rows.pid[forks], rows.parent_pid[forks]
    ended = rows.pid[(rows.type == Type.EXIT) & (rows.pid == rows.tid)]
    passing = np.setdiff1d(np.intersect1d(born, ended), sampled, assume_unique=True)
    while passing.size:
        heirs = np.isin(parent, passing) & ~np.isin(born, passing)
        if not heirs.any():
            break
        passing = np.setdiff1d(passing, parent[heirs])
    return passing


def _lists(rows: TaskRows, ranks: I64s) -> Iterable[tuple[int, int, int, int, int, int, int, bool]]:
    columns = (ranks, rows.type, rows.pid, rows.tid, rows.parent_pid, rows.parent_tid, rows.comm, rows.exec)
    return zip(*(column.tolist() for column in columns), strict=True)
