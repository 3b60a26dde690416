"""Reports of frames without a name: how many and why, and whose files are left alone for how long."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

from necroscope import clock
from necroscope.clock import NS
from necroscope.record.gaps import OWN_SOURCE
from necroscope.sense.confined.pipeline import Incident
from necroscope.sense.confined.refusal import ODD, SENTENCES, Refusal
from necroscope.sense.perf.symbols.live_names import LiveNames
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import Sample, Signal

KIND, FAULT_KIND = "frames-unresolved", "symbols-refused"
SIGNAL = Signal(
    "perf_unresolved_frames",
    "frames",
    "counter",
    "Places in code (each counted once per second) left without a name because their file was not read.",
    ("reason",),
)
_EVERY_S = 60.0
_FIRST_S = 5.0


class Unresolved:
    """Filled by the thread of perf, read by the recorder's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._total: Counter[Refusal] = Counter()
        self._reported: Counter[Refusal] = Counter()
        self._next_s = clock.elapsed_s() + _FIRST_S

    def take(self, names: LiveNames) -> Iterator[Event]:
        """What happened since the last call: each fault, and now and then the counts."""
        found, names.unresolved = names.unresolved, Counter()
        with self._lock:
            self._total += found
        for incident in names.incidents():
            yield _fault(incident, names.tenants.text(incident.tenant))
        if clock.elapsed_s() >= self._next_s:
            yield from self.rest()

    def rest(self) -> Iterator[Event]:
        """What was not reported yet, now."""
        self._next_s = clock.elapsed_s() + _EVERY_S
        fresh = Counter({reason: count for reason, count in (self._total - self._reported).items() if reason in ODD})
        self._reported = self._total.copy()
        if fresh:
            parts = "; ".join(f"{count:,} because {SENTENCES[reason]}" for reason, count in fresh.most_common())
            at_ns = clock.now().realtime_ns
            yield Event(at_ns, KIND, OWN_SOURCE, "perf", parts, count=fresh.total())

    def samples(self) -> list[Sample]:
        """The counts so far, by reason."""
        with self._lock:
            return [Sample(SIGNAL.name, count, (str(reason),)) for reason, count in sorted(self._total.items())]


def _fault(incident: Incident, tenant: str) -> Event:
    """Whose files are left alone, from when to when; the text says at what it went wrong."""
    at_ns = clock.now().realtime_ns
    until_ns = at_ns + int(incident.seconds * NS)
    why, pid = SENTENCES[incident.reason], incident.pid
    return Event(
        at_ns, FAULT_KIND, OWN_SOURCE, tenant, str(incident.what), reason=why, pid=pid, from_ns=at_ns, to_ns=until_ns
    )
