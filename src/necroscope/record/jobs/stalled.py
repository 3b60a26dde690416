"""Jobs that stand still: a GPU at 0 % whose memory is held, and `job-progress` marks that do not come any more.

A GPU counts when it worked before, in this recording: memory alone may belong to a notebook that nobody uses. Marks
count when there were three of one subject; they are late after three times their usual distance, and not before
`after_s`. Each standstill is one event, until the job moves again or ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median

from necroscope.clock import NS
from necroscope.quantity import size, span
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import Sample

KIND, SOURCE = "job-stalled", "mark"
HELD_BYTES = 1 << 30
WORKED = 5.0
WORKED_S = 30.0
_ENDS = frozenset({"job-finished", "job-succeeded", "job-failed"})
_MOST_JOBS = 256
_TIMES = 9


@dataclass(slots=True)
class _Gpu:
    worked_s: float = 0.0
    idle_since_ns: int | None = None
    seen_ns: int = 0
    reported: bool = False


@dataclass(slots=True)
class _Job:
    at_ns: list[int] = field(default_factory=list)
    reported: bool = False


class Stalled:
    """Told of looks at GPUs and of marks; tells standstills."""

    def __init__(self, after_s: float) -> None:
        self.after_s = after_s
        self._gpus: dict[str, _Gpu] = {}
        self._jobs: dict[str, _Job] = {}

    def gpus(self, samples: Iterable[Sample], at_ns: int) -> Iterator[Event]:
        """One look at all GPUs."""
        used: dict[str, dict[str, float]] = {}
        for sample in samples:
            used.setdefault(sample.labels[0], {})[sample.signal] = sample.value
        for name, values in used.items():
            share, held = values.get("gpu_utilization_percent"), values.get("gpu_memory_used_bytes", 0.0)
            if share is not None:
                yield from self._gpu(name, share, held, at_ns)

    def marks(self, events: Iterable[Event]) -> None:
        """Marks of progress, and of ends."""
        for event in events:
            if event.source != "mark":
                continue
            if event.kind in _ENDS:
                self._jobs.pop(event.subject, None)
            elif event.kind == "job-progress":
                while len(self._jobs) >= _MOST_JOBS and event.subject not in self._jobs:
                    self._jobs.pop(next(iter(self._jobs)))
                job = self._jobs.setdefault(event.subject, _Job())
                job.at_ns = [*job.at_ns[1 - _TIMES :], event.at_ns]
                job.reported = False

    def late(self, now_ns: int) -> Iterator[Event]:
        """Jobs whose progress does not come."""
        for subject, job in self._jobs.items():
            if len(job.at_ns) < 3 or job.reported:
                continue
            usual_ns = median(after - before for before, after in zip(job.at_ns, job.at_ns[1:], strict=False))
            quiet_ns = now_ns - job.at_ns[-1]
            if quiet_ns > max(self.after_s * NS, 3 * usual_ns):
                job.reported = True
                text = (
                    f"no progress of {subject or 'a job'} for {span(quiet_ns / NS)}, usually each {span(usual_ns / NS)}"
                )
                yield Event(now_ns, KIND, SOURCE, subject, text, stall_s=quiet_ns / NS, from_ns=job.at_ns[-1])

    def _gpu(self, name: str, share: float, held: float, at_ns: int) -> Iterator[Event]:
        gpu = self._gpus.setdefault(name, _Gpu(seen_ns=at_ns))
        passed_s, gpu.seen_ns = (at_ns - gpu.seen_ns) / NS, at_ns
        if share >= WORKED:
            gpu.worked_s += max(0.0, min(passed_s, 10.0))
        if share > 0 or held < HELD_BYTES:
            gpu.idle_since_ns, gpu.reported = None, False
            if held < HELD_BYTES:
                gpu.worked_s = 0.0  # the job is gone
            return
        gpu.idle_since_ns = at_ns if gpu.idle_since_ns is None else gpu.idle_since_ns
        idle_s = (at_ns - gpu.idle_since_ns) / NS
        if gpu.worked_s >= WORKED_S and idle_s >= self.after_s and not gpu.reported:
            gpu.reported = True
            text = f"GPU {name} has been at 0 % for {span(idle_s)} while {size(int(held))} of its memory are held"
            yield Event(at_ns, KIND, SOURCE, f"gpu{name}", text, stall_s=idle_s, from_ns=gpu.idle_since_ns)
