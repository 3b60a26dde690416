"""Made-up nodes, read as a case is read."""

from __future__ import annotations

from pathlib import Path

from necroscope.clock import NS
from necroscope.config import Config
from necroscope.query import extent
from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.case.read import read_case
from necroscope.query.case.starvation.read import StarvationReader
from necroscope.query.case.surroundings import Surroundings, look_around
from necroscope.query.case.wanted import Orders
from necroscope.store.read.reader import Store
from necroscope.vocabulary.case import Case
from necroscope.vocabulary.verdict import Complaint
from stage.incident import Played, at


def complaint(second: float, kind: str = "nic-reset", **more: object) -> Complaint:
    """A complaint of the kernel."""
    return Complaint(kind, at(second), "kmsg", "x", **more)  # type: ignore[arg-type]


def around(store: Store, symptom: Complaint) -> Surroundings:
    """What is around a symptom in a recording."""
    fixed = FixedStore(store)
    recorded = extent.recorded(fixed.snapshot())
    assert recorded is not None
    return look_around(fixed, symptom, recorded, Config())


def surroundings(node: Played, folder: Path, second: float, kind: str = "nic-reset") -> Surroundings:
    """What is around a symptom of a made-up node."""
    return around(node.write(folder), complaint(second, kind))


def reader(scene: Surroundings, orders: Orders | None = None) -> StarvationReader:
    """Who reads the starved cores around a symptom."""
    return StarvationReader(scene, orders or Orders())


def case(store: Store, symptom: Complaint, orders: Orders | None = None, others: bool = True) -> Case:
    """The case of a symptom."""
    fixed = FixedStore(store)
    recorded = extent.recorded(fixed.snapshot())
    assert recorded is not None
    return read_case(fixed, symptom, recorded, Config(), orders=orders or Orders(), others=others)


def second_of(at_ns: int) -> float:
    """The second of the recording that a time is in, to a tenth."""
    return round((at_ns - at(0)) / NS, 1)
