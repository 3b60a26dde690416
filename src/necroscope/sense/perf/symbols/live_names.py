"""Names of running processes' frames: asked of the confined children, remembered as ranges, never waited for long.

The decoder says what it wants for a flush, then waits a little for all of it together, and goes on without what is
late; that is named the next time. Waiting is bounded for each flush and to a fifth of all time, and ends when one
request takes long, so that nobody can hold up samples by making files slow. What is known of a file counts for the
tenant that maps it, and for no other.
"""

from __future__ import annotations

import math
import queue
from collections import Counter, OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from necroscope import clock
from necroscope.sense.confined.messages import MAP, MOST_PLACES, OBJECT, Answer, Request
from necroscope.sense.confined.pipeline import Asked, Incident, Pipeline
from necroscope.sense.confined.refusal import FAULTS, PASSING, Refusal
from necroscope.sense.confined.tenants import GONE, Tenants
from necroscope.sense.host import Host
from necroscope.sense.perf.format.sideband import MappedFile
from necroscope.sense.perf.symbols.jit import made_at_run_time
from necroscope.sense.perf.symbols.ranges import NOT_KNOWN, KnownRanges

U64s = NDArray[np.uint64]
WAIT_S = 0.1
_WAITING_RATE = 0.2
_STUCK_S, _LOOK_S = 0.05, 0.02
_MAP_AGAIN_S = 10.0
_AGAIN_S, _REFUSED_S = 2.0, 60.0
_FILES = 4096
_NAME_BYTES = 8 << 20
_LONGEST_PATH = 4096
_ASKED = 4
Key = tuple[object, ...]


@dataclass(slots=True)
class KnownFile:
    """What is known of one file, or of the map of one process; what was asked and not answered yet. `gone`: a process
    that was over when its file was asked for, which says nothing about the file of another."""

    key: str
    ranges: KnownRanges = field(default_factory=KnownRanges)
    refusal: Refusal | None = None
    again_s: float = 0.0
    gone: int = 0
    kept: bool = False
    asked: int = 0
    places: set[int] = field(default_factory=set)


class LiveNames:
    """One recording's; used by the decoder's thread alone. `unresolved` counts frames without a name, by reason."""

    def __init__(self, host: Host, wait_s: float = WAIT_S, pipeline: Pipeline | None = None) -> None:
        self.host = host
        self.build_ids: dict[str, str] = {}
        self.unresolved: Counter[Refusal] = Counter()
        self.tenants = Tenants()
        self._wait_s = wait_s
        self._pipeline = pipeline or Pipeline()
        self._files: OrderedDict[Key, KnownFile] = OrderedDict()
        self._nbytes = 0
        self._room_s, self._room_since_s = 2 * wait_s, clock.elapsed_s()
        self._deadline_s = 0.0
        self._number = 0

    # -- for the decoder -------------------------------------------------------------------------------------

    def begin(self) -> None:
        """A new flush: what came meanwhile counts, and there may be waited again."""
        now = clock.elapsed_s()
        self._room_s = min(4 * self._wait_s, self._room_s + (now - self._room_since_s) * _WAITING_RATE)
        self._room_since_s = now
        self._deadline_s = now + min(self._wait_s, max(0.0, self._room_s))
        self._take_answers(0.0)

    def hold(self, file: MappedFile, pid: int) -> None:
        """A file was mapped for the first time: have it looked at while the process lives."""
        if file.path.startswith("/") and not made_at_run_time(file.path):
            tenant = self.tenants.of_process(pid)
            known = self._known(_object_key(file, tenant))
            if not len(known.ranges) and not known.asked:
                self._ask(known, tenant, _request(known.key, file, pid, ()))

    def tenant(self, space: int, pid: int) -> int:
        """Whose a process is, as a number; equal numbers may name each other's frames."""
        return self.tenants.of_space(space, pid)

    def want(self, file: MappedFile, pid: int, space: int, places: U64s) -> None:
        """These places are about to be asked for."""
        tenant = self.tenant(space, pid)
        known = self._known(_key(file, tenant, pid, space))
        now = clock.elapsed_s()
        if now >= known.again_s or (known.refusal is Refusal.GONE and pid != known.gone):
            known.refusal = None
            known.again_s = math.inf
            if made_at_run_time(file.path):
                self._nbytes -= known.ranges.nbytes
                known.ranges = KnownRanges()
                known.again_s = now + _MAP_AGAIN_S
        if known.refusal is not None or known.asked >= _ASKED:
            return
        unknown = places[known.ranges.find(places) == NOT_KNOWN]
        missing = sorted(set(unknown.tolist()) - known.places) if unknown.size else []
        for low in range(0, len(missing), MOST_PLACES):
            self._ask(known, tenant, _request(known.key, file, pid, tuple(missing[low : low + MOST_PLACES])))

    def names(self, file: MappedFile, pid: int, space: int) -> tuple[KnownRanges | None, bool]:
        """What is known of a file now, after a little waiting if something is on its way; and whether that is all that
        there will be."""
        found = self._settled(file, pid, space)
        if found.refusal is not None:
            return None, found.refusal not in PASSING
        return (found.ranges, False) if len(found.ranges) else (None, False)

    def count(self, file: MappedFile, pid: int, space: int, frames: int) -> None:
        """So many frames of this file have no name because it was not read, or not yet."""
        known = self._known(_key(file, self.tenant(space, pid), pid, space))
        self.unresolved[known.refusal or Refusal.PENDING] += frames

    def _settled(self, file: MappedFile, pid: int, space: int) -> KnownFile:
        found = self._known(_key(file, self.tenant(space, pid), pid, space))
        while found.asked:
            left_s = self._deadline_s - clock.elapsed_s()
            if left_s <= 0 or self._stuck():
                break
            self._take_answers(min(left_s, _LOOK_S))
        return found

    def incidents(self) -> list[Incident]:
        """Faults since the last call."""
        found = []
        while not self._pipeline.incidents.empty():
            found.append(self._pipeline.incidents.get())
        return found

    @property
    def pids(self) -> dict[str, int]:
        """The children's processes, by name."""
        return self._pipeline.pids

    def close(self) -> None:
        """End the children."""
        self._pipeline.close()

    # -- requests and answers ----------------------------------------------------------------------------------

    def _known(self, key: Key) -> KnownFile:
        found = self._files.get(key)
        if found is None:
            self._number += 1
            found = self._files[key] = KnownFile(f"{key[0]}:{self._number}")
            self._bound()
        self._files.move_to_end(key)
        return found

    def _bound(self) -> None:
        if self._nbytes > _NAME_BYTES:
            self._nbytes = sum(one.ranges.nbytes for one in self._files.values())
        while len(self._files) > _FILES or (self._nbytes > _NAME_BYTES and len(self._files) > 1):
            _, oldest = self._files.popitem(last=False)
            self._nbytes -= oldest.ranges.nbytes

    def _ask(self, known: KnownFile, tenant: int, request: Request) -> None:
        if self._pipeline.ask(Asked(tenant, request, known.kept, known, self.tenants.trusted(tenant))):
            known.asked += 1
            known.places.update(request.places)
        else:
            self._refuse(known, Refusal.QUEUE)

    def _stuck(self) -> bool:
        since_s = self._pipeline.busy_since_s
        return since_s is not None and clock.elapsed_s() - since_s > _STUCK_S

    def _take_answers(self, timeout_s: float) -> None:
        """Everything that came, or comes within the time."""
        began = clock.elapsed_s()
        try:
            self._take(*self._pipeline.answers.get(timeout_s > 0, timeout_s or None))
            while True:
                self._take(*self._pipeline.answers.get_nowait())
        except queue.Empty:
            self._room_s -= clock.elapsed_s() - began

    def _take(self, asked: Asked, answer: Answer) -> None:
        known = asked.whom
        if not isinstance(known, KnownFile):
            return
        known.asked -= 1
        known.places.difference_update(asked.request.places)
        before = known.ranges.nbytes
        known.kept = answer.kept
        if answer.reason is Refusal.GONE and asked.request.kind == OBJECT:
            known.gone = asked.request.pid
            if not len(known.ranges) and known.refusal is None:
                self._refuse(known, Refusal.GONE)
        elif answer.reason is not None:
            self._refuse(known, answer.reason)
        else:
            known.ranges.add(answer.ranges)
        if answer.more:
            known.again_s = 0.0
        self._nbytes += known.ranges.nbytes - before
        if known.ranges.nbytes > _NAME_BYTES:  # one file alone: its names are asked for again
            self._nbytes -= known.ranges.nbytes
            known.ranges = KnownRanges()

    def _refuse(self, known: KnownFile, reason: Refusal) -> None:
        if reason is Refusal.BACK_OFF and known.refusal in FAULTS:
            return  # asked before the fault: its own reason stands
        known.refusal = reason
        known.kept = False
        known.again_s = clock.elapsed_s() + (_AGAIN_S if reason in PASSING else _REFUSED_S)


def _key(file: MappedFile, tenant: int, pid: int, space: int) -> Key:
    if made_at_run_time(file.path):
        return MAP, space, pid
    return _object_key(file, tenant)


def _object_key(file: MappedFile, tenant: int) -> Key:
    if tenant == GONE or not file.build_id:
        return OBJECT, tenant, file.path, file.build_id, file.device, file.inode
    return OBJECT, tenant, file.build_id


def _request(key: str, file: MappedFile, pid: int, places: tuple[int, ...]) -> Request:
    kind = MAP if made_at_run_time(file.path) else OBJECT
    path = file.path[:_LONGEST_PATH]
    return Request(0, kind, key, pid, path, file.inode, file.build_id, places)
