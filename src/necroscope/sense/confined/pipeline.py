"""The recorder's side: one thread asks opener and parser, one request after the other, and counts the time.

Who does not answer in time is killed and replaced, and the tenant over whose file it happened is left alone for a
while. A child that cannot even be killed is left behind, and as long as it is there nothing of that tenant is opened;
with `MOST_LEFT_BEHIND` of them, nothing of anybody. So many are started a minute, and no more. Nobody waits for this
thread.
"""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
from dataclasses import dataclass, replace

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.confined.back_off import BackOff
from necroscope.sense.confined.child import Child
from necroscope.sense.confined.fair_queue import FairQueue
from necroscope.sense.confined.messages import ANSWER_BYTES, MAP, Answer, Request, answer_of
from necroscope.sense.confined.refusal import FAULTS, Refusal
from necroscope.sense.confined.tenants import GONE

OPENER_S, PARSER_S = 1.0, 2.0
MOST_LEFT_BEHIND = 4
_STARTS, _START_EVERY_S = 8.0, 15.0
_READY_S = 5.0
_IDLE_S = 0.5


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, whose it is, and whether the parser may know the answer without the file. `whom` is the asker's.
    `trusted`: the node's own root, whose time is not counted."""

    tenant: int
    request: Request
    known: bool = False
    whom: object = None
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class Incident:
    """A fault: over whose process it happened, and for how long nothing of that tenant is looked at."""

    tenant: int
    pid: int
    reason: Refusal
    what: str
    seconds: float


class Pipeline:
    """Its children start at once. `answers` and `incidents` are filled by its thread."""

    def __init__(self) -> None:
        self.answers: queue.SimpleQueue[tuple[Asked, Answer]] = queue.SimpleQueue()
        self.incidents: queue.SimpleQueue[Incident] = queue.SimpleQueue()
        self.busy_since_s: float | None = None
        self._waiting: FairQueue[Asked] = FairQueue()
        self._back_off = BackOff()
        self._opener: Child | None = None
        self._parser: Child | None = None
        self._to_parser: socket.socket | None = None
        self._left_behind: list[tuple[int, Child]] = []
        self._serving = GONE
        self._starts, self._starts_s = _STARTS, clock.elapsed_s()
        self._number = 0
        self._ending = threading.Event()
        self._wake, self._waker = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._thread = threading.Thread(target=self._run, name="names", daemon=True)
        self._thread.start()

    @property
    def pids(self) -> dict[str, int]:
        """The children that run, by name; those left behind too."""
        children = {"opener": self._opener, "parser": self._parser}
        found = {name: child.pid for name, child in children.items() if child is not None}
        return found | {f"left-behind-{place}": child.pid for place, (_, child) in enumerate(list(self._left_behind))}

    def ask(self, asked: Asked) -> bool:
        """Put a request into the queue; False when there is no room."""
        return self._waiting.put(asked.tenant, asked)

    def close(self) -> None:
        """End the children; at once, whatever they do."""
        self._ending.set()
        with contextlib.suppress(OSError):
            os.write(self._waker, b"x")
        self._waiting.close()
        self._thread.join(1.0)

    # -- the thread ------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            with contextlib.suppress(Unavailable):
                self._start()
            while not self._ending.is_set():
                if found := self._waiting.take(_IDLE_S):
                    self._turn(found[1])
                self._left_behind = [one for one in self._left_behind if not one[1].gone()]
        finally:
            self._end_children()
            os.close(self._wake)
            os.close(self._waker)

    def _turn(self, asked: Asked) -> None:
        now = clock.elapsed_s()
        answer = self._refused(asked, now)
        if answer is None:
            self.busy_since_s, self._serving = now, asked.tenant
            answer = self._serve(asked)
            self.busy_since_s = None
            self._back_off.charge(asked.tenant, now, clock.elapsed_s() - now)
            if answer.reason in FAULTS and not self._ending.is_set():
                self._fault(asked, answer.reason)
        self.answers.put((asked, answer))

    def _refused(self, asked: Asked, now: float) -> Answer | None:
        """The answer without asking anybody."""
        if self._back_off.closed(asked.tenant, now) or any(asked.tenant == one for one, _ in self._left_behind):
            return Answer(0, Refusal.BACK_OFF)
        if not asked.trusted and self._back_off.spent(asked.tenant, now):
            return Answer(0, Refusal.BUDGET)
        try:
            self._start()
        except Unavailable:
            return Answer(0, Refusal.NO_CHILD)
        return None

    def _fault(self, asked: Asked, reason: Refusal) -> None:
        seconds = self._back_off.fault(asked.tenant, clock.elapsed_s())
        what = "its own map" if asked.request.kind == MAP else "a mapped file"
        self.incidents.put(Incident(asked.tenant, asked.request.pid, reason, what, seconds))

    # -- one request -----------------------------------------------------------------------------------------

    def _serve(self, asked: Asked) -> Answer:
        self._number += 1
        request = replace(asked.request, id=self._number)
        if asked.known:
            answer = self._ask_parser(request, request.packet())
            if answer.reason is not Refusal.GONE:
                return answer
        return self._opened(request) or self._ask_parser(request, b"")

    def _opened(self, request: Request) -> Answer | None:
        """Have the file opened and handed to the parser; None when that is done."""
        opener = self._opener
        if opener is None or not opener.send(request.packet()):
            self._lose_opener()
            return Answer(request.id, Refusal.OPENER_DIED)
        answer = self._heard(opener, request.id, OPENER_S)
        if isinstance(answer, Answer):
            if answer.reason is Refusal.PARSER_DIED:
                self._end_children()
            return answer if answer.reason else None
        self._lose_opener()
        return Answer(request.id, Refusal.OPENER_TIMEOUT if answer is None else Refusal.OPENER_DIED)

    def _ask_parser(self, request: Request, packet: bytes) -> Answer:
        """The parser's answer; without a packet, to what the opener handed over."""
        parser = self._parser
        if parser is None or (packet and not parser.send(packet)):
            self._end_children()
            return Answer(request.id, Refusal.PARSER_DIED)
        answer = self._heard(parser, request.id, PARSER_S)
        if isinstance(answer, Answer):
            return answer
        self._end_children()
        return Answer(request.id, Refusal.PARSER_TIMEOUT if answer is None else Refusal.PARSER_DIED)

    def _heard(self, child: Child, number: int, timeout_s: float) -> Answer | bytes | None:
        """The answer with this number; None when none came in time, no bytes from a dead child or for nonsense."""
        packet = child.receive(ANSWER_BYTES, timeout_s, self._wake)
        if not packet:
            return packet
        answer = answer_of(packet)
        return answer if answer is not None and answer.id == number else b""

    # -- children --------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """Both children run; `Unavailable` when they cannot be started now."""
        if self._parser is None:
            self._end_children()
            self._count_start()
            at_parser, at_opener = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with at_parser:
                self._to_parser = at_opener
                self._parser = Child("parser", [at_parser])
            self._wait_until_ready(self._parser)
        if self._opener is None and self._to_parser is not None:
            self._count_start()
            self._opener = Child("opener", [self._to_parser])
            self._wait_until_ready(self._opener)

    def _wait_until_ready(self, child: Child) -> None:
        """Wait until a child is there: its first packet. Its time to load is not the first request's."""
        if not child.receive(16, _READY_S, self._wake):
            self._end_children()
            raise Unavailable("a child did not start")

    def _count_start(self) -> None:
        now = clock.elapsed_s()
        self._starts = min(_STARTS, self._starts + (now - self._starts_s) / _START_EVERY_S)
        self._starts_s = now
        if self._starts < 1 or len(self._left_behind) >= MOST_LEFT_BEHIND:
            raise Unavailable("too many children had to be ended")
        self._starts -= 1

    def _lose_opener(self) -> None:
        if self._opener is not None:
            self._kill(self._opener)
            self._opener = None

    def _end_children(self) -> None:
        self._lose_opener()
        if self._parser is not None:
            self._kill(self._parser)
            self._parser = None
        if self._to_parser is not None:
            self._to_parser.close()
            self._to_parser = None

    def _kill(self, child: Child) -> None:
        if not child.kill():
            self._left_behind.append((self._serving, child))
