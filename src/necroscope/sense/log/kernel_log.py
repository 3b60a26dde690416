"""The kernel's log as a sensor: symptoms, each with what it names, the stack below it and its repeats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import ClassVar

from necroscope.clock import now
from necroscope.sense.host import Host
from necroscope.sense.log.episodes import Episode
from necroscope.sense.log.joining import Joiner
from necroscope.sense.log.kmsg import Batch, KernelRing
from necroscope.sense.log.log_clock import Arrivals, LogClock, log_clock
from necroscope.sense.log.symptoms import catalogue
from necroscope.vocabulary.model import Reading, Sample, Signal, Symptom, Unseen
from necroscope.vocabulary.symptom_kind import Kind

SYMPTOMS_LIMIT = 1000
TEXT_LIMIT = 500
_CHUNK = 5000
_OWN = ("driver", "device", "queue", "cpu", "task", "pid", "function")

RECORDS = Signal("kernel_log_records", "records", "gauge", "records of the kernel's log that this look read")
LOST = Signal("kernel_log_lost_records", "records", "gauge", "records overwritten before this look could read them")
SYMPTOMS = Signal("kernel_log_symptoms", "events", "gauge", "complaints in the records that this look read", ("kind",))


class KernelLog:
    """Reads the log on from where the last look stopped; the first look reads all of it.

    A symptom whose lines were still coming in at the last look comes again, whole, with the same `first_at_ns`.
    `path` is another log than the kernel's, in the same form.
    """

    name: ClassVar[str] = "kmsg"
    signals: ClassVar[tuple[Signal, ...]] = (RECORDS, LOST, SYMPTOMS)

    def __init__(self, path: str | None = None) -> None:
        self._ring = KernelRing(path)
        self._joiner: Joiner | None = None
        self._arrivals = Arrivals()

    def read(self, host: Host) -> Reading:
        """One look. `Unavailable` when the log may not be read."""
        began = now()
        batch = self._ring.read(host)
        if self._joiner is None:
            self._joiner = Joiner(catalogue())
        if batch.whole:
            self._arrivals.learn([record.usec for record in batch.records], began.monotonic_ns, now().monotonic_ns)
        else:
            self._arrivals.missed()
        # Most looks find nothing, and then nobody asks for the clock, which takes longer than the rest.
        repeats = Repeats(cache(lambda: self._arrivals.clock(log_clock(host))))
        for start in range(0, len(batch.records), _CHUNK):
            self._joiner.feed(batch.records[start : start + _CHUNK])
            repeats.add(self._joiner.settled())
        repeats.add(self._joiner.take())
        symptoms = repeats.symptoms()
        unseen = _unseen(batch, repeats.clock, symptoms)
        return Reading(_samples(batch, symptoms), tuple(symptoms[-SYMPTOMS_LIMIT:]), unseen)


class Repeats:
    """Folds episodes that tell the same into one symptom: the last of them, with the first one's time."""

    def __init__(self, clock: Callable[[], LogClock]) -> None:
        self.clock = clock
        self._by_key: dict[tuple[str, ...], Symptom] = {}

    def add(self, episodes: Iterable[Episode]) -> None:
        """Take episodes, oldest first."""
        for episode in episodes:
            symptom = to_symptom(episode, self.clock())
            key = _key(episode.kind, symptom)
            before = self._by_key.pop(key, None)
            self._by_key[key] = symptom if before is None else _again(before, symptom)

    def symptoms(self) -> list[Symptom]:
        """Oldest first, by their last occurrence."""
        return sorted(self._by_key.values(), key=lambda symptom: symptom.at_ns)


def to_symptom(episode: Episode, clock: LogClock) -> Symptom:
    """An episode as the rest of the program knows it. Text is one printable line."""
    fields = {name: _printable(value) for name, value in episode.fields.items()}
    at_ns, uncertainty_ns = clock.place(episode.last_usec)
    queue = _number(episode.queues[0]) if episode.queues else None
    details = {name: value for name, value in fields.items() if name not in _OWN}
    if len(episode.queues) > 1:
        details["queues"] = ",".join(episode.queues[:64])
    return Symptom(
        kind=episode.kind.name,
        at_ns=at_ns,
        uncertainty_ns=uncertainty_ns,
        text=_printable(episode.text.split("\n", 1)[0])[:TEXT_LIMIT],
        first_at_ns=clock.place(episode.first_usec)[0],
        driver=fields.get("driver", ""),
        device=fields.get("device") or fields.get("bus", ""),
        queue=queue,
        cpu=_number(fields.get("cpu") or fields.get("napi_cpu", "")),
        task=fields.get("task", ""),
        pid=_number(fields.get("pid", "")),
        function=fields.get("function") or episode.stack.function,
        stack=episode.stack.frames,
        details=tuple(sorted(details.items())),
    )


def _key(kind: Kind, symptom: Symptom) -> tuple[str, ...]:
    details = dict(symptom.details)
    return (kind.name, *(str(getattr(symptom, name, details.get(name, ""))) for name in kind.repeat_by))


def _again(before: Symptom, after: Symptom) -> Symptom:
    return replace(
        after,
        first_at_ns=min(before.first_at_ns, after.first_at_ns),
        repeats=before.repeats + after.repeats,
        stack=after.stack or before.stack,
        function=after.function or before.function,
    )


def _number(text: str) -> int | None:
    """A number that the log wrote; None for none, for a negative one (the driver's "unknown") and for nonsense."""
    return int(text) if text.isdecimal() and len(text) < 19 else None


def _printable(text: str) -> str:
    """Names and lines come from anybody who may name a process: what could steer a terminal is replaced."""
    return "".join(char if char.isprintable() else "�" for char in text)


def _samples(batch: Batch, symptoms: list[Symptom]) -> tuple[Sample, ...]:
    counts: Counter[str] = Counter()
    for symptom in symptoms:
        counts[symptom.kind] += symptom.repeats
    return (
        Sample(RECORDS.name, len(batch.records)),
        Sample(LOST.name, batch.lost),
        *(Sample(SYMPTOMS.name, counts[kind], (kind,)) for kind in catalogue().kinds),
    )


def _unseen(batch: Batch, clock: Callable[[], LogClock], symptoms: list[Symptom]) -> tuple[Unseen, ...]:
    notes = (
        (batch.missing_before, f"{batch.missing_before} older records of the kernel's log were overwritten", _LARGER),
        (batch.lost, f"{batch.lost} records of the kernel's log were overwritten before they were read", _LARGER),
        (not batch.whole, "the kernel's log was not read to its end in one look", "look again"),
        (len(symptoms) > SYMPTOMS_LIMIT, f"only the last {SYMPTOMS_LIMIT} of {len(symptoms)} symptoms are given", ""),
        (
            symptoms and clock().reading is None,
            "the time of symptoms is not known: the capture holds no clock, and their times count from boot",
            "capture the host again",
        ),
    )
    return tuple(Unseen(KernelLog.name, reason, hint) for holds, reason, hint in notes if holds)


_LARGER = "boot with a larger log_buf_len"
