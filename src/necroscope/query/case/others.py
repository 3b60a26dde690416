"""The other symptoms of a recording, with the starved cores that may belong to them, in short."""

from __future__ import annotations

from necroscope.clock import NS
from necroscope.config import Config
from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.case.starvation.read import StarvationReader
from necroscope.query.case.surroundings import look_around
from necroscope.query.case.symptom import complaint, symptoms_in
from necroscope.query.case.wanted import Orders
from necroscope.vocabulary.case import OtherSymptom
from necroscope.vocabulary.event import Event, Window
from necroscope.vocabulary.verdict import Complaint

_MOST, _RUNS_MOST = 5, 2
# Symptoms of one incident come in a row: they are one witness, not many.
_APART_NS = 10 * NS


def other_symptoms(store: FixedStore, symptom: Complaint, recorded: Window, config: Config) -> tuple[OtherSymptom, ...]:
    """The nearest of the recording's other symptoms that are apart from this one and from each other."""
    return tuple(_other(store, one, recorded, config) for one in _nearest(store, symptom, recorded))


def _nearest(store: FixedStore, symptom: Complaint, recorded: Window) -> list[Event]:
    found = all_symptoms(store)
    kept: list[Event] = []
    taken = [symptom.at_ns]
    for one in sorted(found, key=lambda one: abs(one.at_ns - symptom.at_ns)):
        inside = recorded[0] <= one.at_ns <= recorded[1]
        if inside and len(kept) < _MOST and all(abs(one.at_ns - at) >= _APART_NS for at in taken):
            kept.append(one)
            taken.append(one.at_ns)
    return kept


def all_symptoms(store: FixedStore) -> list[Event]:
    """Every symptom of a recording, oldest first."""
    return store.once("symptoms", lambda: symptoms_in(store.snapshot()))


def _other(store: FixedStore, event: Event, recorded: Window, config: Config) -> OtherSymptom:
    around = look_around(store, complaint(event), recorded, config)
    reader = StarvationReader(around, Orders(), short=True)
    return OtherSymptom(around.symptom, around.named, reader.starvations(_RUNS_MOST))
