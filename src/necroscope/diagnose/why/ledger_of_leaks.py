"""The old way to the facts about leaks: `query/leak_facts.py` reads them."""

from __future__ import annotations

from dataclasses import dataclass

from necroscope.diagnose.why.identity import Owners, owners_of
from necroscope.diagnose.why.scene import Held
from necroscope.event import Window
from necroscope.leak_facts import LeakFacts
from necroscope.query.leak_facts import read_leak_facts
from necroscope.query.rows import Row


@dataclass(frozen=True, slots=True)
class Leaks:
    """Facts about leaks, with what older callers ask of them."""

    facts: LeakFacts

    @property
    def owners(self) -> Owners:
        """Units and containers that the recording tells of."""
        return owners_of(self.facts)

    @property
    def zombies(self) -> tuple[Row, ...]:
        """How many in all over time, as rows."""
        return tuple({"at_ns": at_ns, "parent": "", "zombies": number} for at_ns, number in self.facts.zombies.looks)


def read_leaks(store: Held, at_ns: int, recorded: Window, notes: list[str]) -> Leaks:
    """Read the facts about leaks around a moment."""
    return Leaks(read_leak_facts(store, at_ns, recorded, notes))
