"""The store of a scan."""

from __future__ import annotations

from necroscope.sense.sensor import Look
from necroscope.store.memory import MemoryStore, Point
from necroscope.vocabulary.model import HostIdentity, Reading, Sample, Symptom, Unseen


def _look(sensor: str, at_ns: int, reading: Reading) -> Look:
    return Look(sensor, at_ns, reading, 0.0)


def test_signals_keep_their_time_and_labels() -> None:
    store = MemoryStore()
    store.add(
        [
            _look("cpu", 1, Reading((Sample("a", 1.0, ("0",)), Sample("b", 5.0)))),
            _look("cpu", 2, Reading((Sample("a", 3.0, ("0",)),))),
        ]
    )
    assert store.signal("a") == [Point(1, ("0",), 1.0), Point(2, ("0",), 3.0)]
    assert store.instants("cpu") == (1, 2)


def test_records_and_unseen_are_those_of_the_last_look() -> None:
    store = MemoryStore()
    one, two = HostIdentity("a", "k", "b", 1), HostIdentity("b", "k", "b", 1)
    store.add([_look("inventory", 1, Reading(records=(one,), unseen=(Unseen("x", "old"),)))])
    store.add([_look("inventory", 2, Reading(records=(two,))), _look("nic", 2, Reading(unseen=(Unseen("nic", "no"),)))])
    assert store.latest(HostIdentity) == (two,)
    assert store.unseen() == (Unseen("nic", "no"),)


def test_seen_is_not_the_same_as_nothing_found() -> None:
    store = MemoryStore()
    store.add([_look("systemd", 1, Reading()), _look("nic", 1, Reading(unseen=(Unseen("nic", "no"),)))])
    assert store.seen("systemd")
    assert not store.seen("nic")
    assert not store.seen("never asked")


def _symptom(at_ns: int, first_at_ns: int, repeats: int = 1) -> Symptom:
    return Symptom("nic-reset", at_ns, 0, "reset", first_at_ns, repeats, device="eth0")


def test_symptoms_stay_and_one_that_comes_again_whole_replaces_its_part() -> None:
    store = MemoryStore()
    store.add([_look("kmsg", 1, Reading(records=(_symptom(5, 5),)))])
    whole, other = _symptom(6, 5 + 300), _symptom(9, 50_000_000)
    store.add([_look("kmsg", 2, Reading(records=(whole, other)))])
    store.add([_look("kmsg", 3, Reading())])
    assert store.symptoms() == (whole, other)


def test_watching_does_not_grow() -> None:
    store = MemoryStore(depth=2)
    for at in range(1000):
        store.add([_look("cpu", at, Reading((Sample("a", at),)))])
    assert [point.value for point in store.signal("a")] == [998, 999]
