"""The reading of a case: everything around a symptom, once."""

from __future__ import annotations

import numpy as np

from necroscope.config import Config
from necroscope.query.case.beginnings import boots
from necroscope.query.case.boots import boots_of
from necroscope.query.case.cores.strip import strip_of
from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.case.others import all_symptoms, other_symptoms
from necroscope.query.case.recorder_notes import blinds_in, gaps_in, hardware_in, lost_in, starts_in
from necroscope.query.case.starvation.read import StarvationReader
from necroscope.query.case.surroundings import BEFORE_NS, CLOSE_NS, Surroundings, look_around
from necroscope.query.case.wanted import Orders
from necroscope.query.cores.starved import mean_busy
from necroscope.query.leaks.facts import read_leak_facts
from necroscope.query.sealed import damaged
from necroscope.store.format.tables import SEGMENT
from necroscope.vocabulary.case import Boot, Case
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.leak_facts import LeakFacts
from necroscope.vocabulary.verdict import Complaint, Strip


def read_case(
    store: FixedStore,
    symptom: Complaint,
    recorded: Window,
    config: Config,
    *,
    orders: Orders,
    others: bool = True,
) -> Case:
    """Everything that is judged about a symptom. `others`: what was before other symptoms, too."""
    around = look_around(store, symptom, recorded, config)
    reader = StarvationReader(around, orders)
    starvations = reader.starvations()
    at_ns = symptom.at_ns
    before, close = (at_ns - BEFORE_NS, at_ns), (at_ns - CLOSE_NS, at_ns)
    leaks = read_leak_facts(store, at_ns, recorded, around.notes) if starvations else LeakFacts()
    elsewhere = other_symptoms(store, symptom, recorded, config) if others else None
    return Case(
        symptom,
        recorded,
        around.lookback,
        around.counted,
        around.cores,
        around.covered(before),
        around.covered(close),
        mean_busy(around.times, before),
        _averages_of_s(around),
        kernel=reader.kernel if starvations else "",
        named=around.named,
        starvations=starvations,
        strip=None if starvations else _strip(around, before),
        gaps=gaps_in(around.events, at_ns),
        blinds=blinds_in(around.events),
        starts=starts_in(around.events, at_ns),
        lost_ns=lost_in(around.events, [close, *(one.run.window for one in starvations)], at_ns),
        hardware=hardware_in(around.events, at_ns),
        others=elsewhere,
        leaks=leaks,
        boots=_boots(store, leaks, config.zombies.growing_from),
        damaged=tuple(table.name for table in SEGMENT if damaged(around.notes, table.name)),
        notes=tuple(around.notes),
    )


def _averages_of_s(around: Surroundings) -> float:
    """The longest time of which only an average of the cores' counters is known; 0 where somebody looked closely."""
    if around.counted or not around.times.at_ns.size:
        return 0.0
    return int(around.times.whole_ms.max()) / 1000


def _strip(around: Surroundings, before: Window) -> Strip | None:
    """The core that the symptom names, else the one that was busiest before it."""
    cpu = around.named.cpu if around.named is not None else _busiest(around, before)
    return strip_of(around.close, around.symptom.at_ns, cpu) if around.counted and cpu is not None else None


def _busiest(around: Surroundings, window: Window) -> int | None:
    near = around.close.within(window)
    if not near.at_ns.size:
        return None
    cpus, place = np.unique(near.cpu, return_inverse=True)
    total = np.bincount(place.reshape(-1), near.spent.sum(axis=1))
    idle = np.bincount(place.reshape(-1), near.spent[:, -1])
    return int(cpus[np.argmin(idle / np.maximum(1.0, total))])


def _boots(store: FixedStore, leaks: LeakFacts, least: int) -> tuple[Boot, ...]:
    """Where so many are there that their growth matters."""
    looks = leaks.zombies.looks
    if all(number < least for _, number in looks):
        return ()
    return boots_of(looks, boots(store), [one.at_ns for one in all_symptoms(store)])
