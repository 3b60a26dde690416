"""The old way to who leaks: `diagnose/leak` attributes."""

from __future__ import annotations

from dataclasses import dataclass

from necroscope.diagnose.leak import attribute
from necroscope.diagnose.leak import source as to_blame
from necroscope.diagnose.leak.alignment import Alignment
from necroscope.diagnose.leak.attribution import Leak
from necroscope.diagnose.why.ledger_of_leaks import Leaks
from necroscope.leak_facts import LeakUnit, What
from necroscope.model import Evidence, Subject


@dataclass(frozen=True, slots=True)
class Source:
    """Who leaks, how well that is shown (0 to 1), by which witnesses, and the unit behind it where there is one."""

    leak: Leak

    @property
    def subject(self) -> Subject:
        """Whom to act on."""
        return self.leak.subject

    @property
    def strength(self) -> float:
        """How well it is shown."""
        return self.leak.strength

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What shows it."""
        return self.leak.evidence

    @property
    def leaked(self) -> int:
        """How many were seen to be left behind; where too few were, how many bear its name."""
        return self.leak.seen or self.leak.named

    @property
    def unit(self) -> LeakUnit | None:
        """The unit, where systemd told of it."""
        return self.leak.unit

    @property
    def alignment(self) -> Alignment | None:
        """How well restarts and leaks go together in time."""
        return self.leak.alignment

    @property
    def restarts(self) -> tuple[tuple[int, int], ...]:
        """When restarts were noticed, and how many."""
        return self.leak.restarts.noticed if self.leak.restarts is not None else ()


def find_source(leaks: Leaks, what: What) -> Source | None:
    """Who leaks zombies or directories; None where nobody can be shown to."""
    found = to_blame(attribute(leaks.facts, what))
    return Source(found) if found is not None else None
