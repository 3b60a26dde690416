"""perf and its decoder, in a thread of their own: rows come out, whatever happens to perf.

perf that dies, hangs or lost track of CPUs that came or went is started again, each time after a longer pause, and at
once where its end showed what the next must do without; the time without samples in between is recorded as a gap, from
the last sample of one perf to the first of the next. What perf and the kernel lack is reported once for each thing.
Between the recorder and perf stand two bounded queues: when the disk stalls, the kernel's rings fill up last, and what
is lost then is counted by the kernel and reported.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from typing import Protocol

from necroscope import clock
from necroscope.errors import NecroscopeError, Unavailable
from necroscope.record.gaps import Silence, gap, own_event
from necroscope.record.sampled import Sampled
from necroscope.record.unresolved import Unresolved
from necroscope.sense.cgroups.hierarchies import layout, parse_memberships
from necroscope.sense.host import Host
from necroscope.sense.inventory import online_cpus
from necroscope.sense.perf.cgroups.churn import CgroupChurn
from necroscope.sense.perf.decode.stream import Decoder
from necroscope.sense.perf.launch.complaints import first_sentence
from necroscope.sense.perf.launch.options import FREQUENCY_HZ
from necroscope.sense.perf.launch.session import PerfSession
from necroscope.sense.perf.launch.starter import PerfStarter
from necroscope.sense.perf.rows import Row
from necroscope.sense.perf.samples import SampleBatch
from necroscope.sense.perf.symbols.live_names import LiveNames
from necroscope.sense.perf.symbols.symbols import Symbols, live_symbols
from necroscope.vocabulary.event import Event

TAKE_S = 0.5
HANGING_S = 10.0
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 60.0
_STEADY_S = 60.0
_QUEUED = 512
_TRACED = "cgroup:"
_ENDED = "perf ended by itself"
_HUNG = f"perf did not answer for {HANGING_S:.0f} s and was ended"


class Starter(Protocol):
    """What starts one perf after another: `PerfStarter`."""

    def sample_at(self, frequency_hz: int) -> None:
        """How often perfs that are started from now on sample."""

    def start(self) -> PerfSession:
        """A perf whose stream has begun."""

    def ended(self, session: PerfSession, hung: bool = False) -> bool:
        """Whether the next perf need not wait, for what was learnt from this one."""


class PerfFeed:
    """Runs perf until closed. `rows` and `events` hand out what came since they were last asked."""

    def __init__(self, host: Host, starter: Starter | None = None, frequency_hz: int = FREQUENCY_HZ) -> None:
        self._host, self._starter = host, starter or PerfStarter(host)
        self._rows: queue.Queue[list[Row]] = queue.Queue(maxsize=_QUEUED)
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.sampled = Sampled()
        self.usual_hz = self._frequency_hz = frequency_hz
        self._name_programs = True
        self._silence = Silence(clock.now().monotonic_ns)
        self.unresolved = Unresolved()
        self._names: LiveNames | None = None
        self._complaint = ""
        self._asked = ""
        self._lacks: set[str] = set()
        self._again = False
        self._stop = threading.Event()
        self._forgotten = threading.Event()
        self._session: PerfSession | None = None
        self._thread = threading.Thread(target=self._run, name="perf-feed", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int | None:
        """perf's process, while one runs."""
        session = self._session
        return session.pid if session else None

    @property
    def children(self) -> dict[str, int]:
        """The processes that look for names, by name."""
        names = self._names
        return names.pids if names else {}

    @property
    def complaint(self) -> str:
        """Why there is no perf, as long as there is none."""
        return self._complaint

    def rows(self) -> list[Row]:
        """Rows that came since the last call."""
        found: list[Row] = []
        with contextlib.suppress(queue.Empty):
            while True:
                found += self._rows.get_nowait()
        return found

    def events(self) -> list[Event]:
        """What happened to perf since the last call."""
        found = []
        while not self._events.empty():
            found.append(self._events.get())
        return found

    def stacks_forgotten(self) -> None:
        """The writer bounds its memory of stacks; from now on all of them come anew."""
        self._forgotten.set()

    def name_programs(self, wanted: bool) -> None:
        """Look for names of functions that are new, or no longer."""
        self._name_programs = wanted

    def sample_at(self, frequency_hz: int) -> None:
        """Sample so often from now on; perf is started anew for that."""
        self._frequency_hz = frequency_hz

    def close(self, patience_s: float = 10.0) -> list[Row]:
        """End perf; the rows that were still on their way."""
        self._stop.set()
        found: list[Row] = []
        ends = clock.elapsed_s() + patience_s
        while self._thread.is_alive() and clock.elapsed_s() < ends:
            found += self.rows()
            self._thread.join(0.05)
        return found + self.rows()

    # -- the thread --------------------------------------------------------------------------------------

    def _run(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while not self._stop.is_set():
            began_s, self._again = clock.elapsed_s(), False
            try:
                self._one_perf()
            except NecroscopeError as error:
                self._failed(f"{error.message} ({error.hint})" if error.hint else error.message)
            # Whatever is wrong with this stream, the next may do; and the recorder must not go blind in silence.
            except Exception as error:
                self._failed(f"the stream of perf could not be read: {error!r}")
            if self._again:
                continue
            steady = clock.elapsed_s() - began_s > _STEADY_S
            pause_s = _FIRST_PAUSE_S if steady else min(2 * pause_s, _LONGEST_PAUSE_S)
            self._stop.wait(pause_s)
        self._tell_gap(self._silence.until(clock.now().monotonic_ns))

    def _one_perf(self) -> None:
        cpus = online_cpus(self._host)
        self._starter.sample_at(self._frequency_hz)
        with contextlib.ExitStack() as ending:
            with self._starter.start() as session:
                self._session = session
                try:
                    symbols, blind = live_symbols(self._host)
                    ending.callback(self._end_names, symbols)
                    self._names = symbols.objects if isinstance(symbols.objects, LiveNames) else None
                    decoder = make_decoder(self._host, symbols, session.options.cgroups)
                    nameless = (f"kernel functions have no names: {blind.message}",) if blind else ()
                    self._complaint, self._asked = "", session.options.event
                    self._tell_start((*session.lacking, *nameless))
                    reason = self._pump(session, decoder, cpus)
                finally:
                    self._session = None
            while data := session.take(0.0):
                self._put(decoder.feed(data))
            self._put(decoder.finish())
        if not self._stop.is_set():
            if reason in (_ENDED, _HUNG):
                self._again = self._starter.ended(session, reason == _HUNG)
                said = first_sentence(session.said)
                reason = f"{reason}: {said}" if said else reason
            self._silence.began(reason)
            self._report("perf-ended", reason)

    def _tell_start(self, lacking: tuple[str, ...]) -> None:
        """Each thing that is missing is reported once, at the first perf that does without it."""
        self._report("perf-started", f"missing: {len(lacking)}" if lacking else "with all options")
        for sentence in lacking:
            if sentence not in self._lacks:
                self._lacks.add(sentence)
                self._report("perf-lacks", sentence)

    def _end_names(self, symbols: Symbols) -> None:
        self._tell_names()
        for event in self.unresolved.rest():
            self._events.put(event)
        self._names = None
        symbols.close()

    def _tell_names(self) -> None:
        if self._names is not None:
            for event in self.unresolved.take(self._names):
                self._events.put(event)

    def _failed(self, complaint: str) -> None:
        """A complaint that comes again and again is reported once."""
        self._silence.began(complaint)
        if complaint != self._complaint:
            self._complaint = complaint
            self._report("perf-unavailable", complaint)

    def _pump(self, session: PerfSession, decoder: Decoder, cpus: int | None) -> str:
        while not self._stop.is_set():
            data = session.take(TAKE_S)
            if data is None:
                return _ENDED
            if self._forgotten.is_set():
                self._forgotten.clear()
                decoder.emit_stacks_again()
            if data:
                self._put(decoder.feed(data))
                self._tell_names()
            if session.hangs_for_s() > HANGING_S:
                return _HUNG
            if data and online_cpus(self._host) != cpus:
                return "CPUs came or went"
            decoder.name_programs(self._name_programs)
            if self._frequency_hz != session.options.frequency_hz:
                return f"samples are taken at {self._frequency_hz} Hz from now on (see recorder-sheds)"
        return "asked to end"

    def _put(self, rows: list[Row]) -> None:
        self.sampled.add(rows)
        self._tell_gap(self._silence.heard(rows))
        if self._asked and (sampled := _sampled(rows)):
            self._report("perf-sampling", _sampling(self._asked, sampled))
            self._asked = ""
        while rows:
            try:
                self._rows.put(rows, timeout=1.0)
            except queue.Full:
                if self._stop.is_set():
                    return
            else:
                return

    def _report(self, kind: str, text: str) -> None:
        self._events.put(own_event(clock.now().realtime_ns, kind, text, "perf"))

    def _tell_gap(self, found: tuple[int, int, str] | None) -> None:
        if found is not None:
            now = clock.now()
            from_ns, to_ns = now.from_monotonic(found[0]), now.from_monotonic(found[1])
            self._events.put(gap(from_ns, to_ns, "perf", found[2]))


def _sampled(rows: list[Row]) -> str:
    """The event by which samples are taken in time; empty without such samples. Tracepoints have samples as well."""
    names = (name for row in rows if isinstance(row, SampleBatch) and len(row) for name in row.events)
    return next((name for name in names if not name.startswith(_TRACED)), "")


def _sampling(asked: str, sampled: str) -> str:
    """perf may take another event than it was asked for, and says so to nobody."""
    if asked in sampled:
        return f"samples are taken by {sampled}"
    blind = ": code that runs with interrupts off is not seen" if sampled.startswith("cpu-clock") else ""
    return f"samples are taken by {sampled}; {asked} was asked for and cannot be had here{blind}"


def make_decoder(host: Host, symbols: Symbols, cgroups: bool = True) -> Decoder:
    """A decoder for this host. On cgroup v1 it also knows the memory cgroup of samples, which perf does not; where perf
    tells no `cgroups` at all, it asks for each process too."""
    try:
        where = layout(host)
    except Unavailable:
        return Decoder(symbols, churn=CgroupChurn())
    mount, row = where.mount_of("memory"), where.controllers.get("memory")
    if mount is None or mount.v2:
        asked = None if cgroups else (lambda pid: cgroup_of(host, pid, ""))
        return Decoder(symbols, cgroup_of=asked, memory_root=0, churn=CgroupChurn(0))
    number = row.hierarchy if row else None
    return Decoder(
        symbols,
        cgroup_of=lambda pid: cgroup_of(host, pid, "memory"),
        memory_root=number,
        churn=CgroupChurn(number),
    )


def cgroup_of(host: Host, pid: int, controller: str) -> str:
    """The cgroup of a process for a v1 controller, or by the empty name on v2; empty when the process is gone."""
    text = host.read_or_none(f"/proc/{pid}/cgroup", 65536)
    return parse_memberships(text).get(controller, "") if text else ""
