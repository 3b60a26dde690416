"""Whether it happens again: the same culprit before other symptoms, over boots, and when it will be back.

Before five of five symptoms is worth more than once. What grows since each boot and makes trouble from a certain size
on comes back when it has grown so far again: a reboot that helped for a week is evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from necroscope.case import Run
from necroscope.clock import NS, iso
from necroscope.config import Config
from necroscope.diagnose.why.candidates import candidates
from necroscope.diagnose.why.ledger_of_leaks import Leaks
from necroscope.diagnose.why.scene import Held, look_around
from necroscope.diagnose.why.suspects import Suspect
from necroscope.diagnose.why.symptom import EVER, complaint, symptoms_in
from necroscope.model import Evidence
from necroscope.quantity import count, plural, span
from necroscope.query.landmarks import events
from necroscope.store.catalog import Window
from necroscope.store.tables import Event
from necroscope.verdict import Claim, Complaint

_OTHERS = 5
# Symptoms of one incident come in a row: they are one witness, not many.
_APART_NS = 10 * NS
_LONG_NS = 600 * NS
_MOST_OF_IT = 0.4
_BELIEVED = 0.45


@dataclass(frozen=True, slots=True)
class Recurrence:
    """How many other symptoms were looked at, and before how many of them the same suspect held a core."""

    looked: int
    same: tuple[int, ...]

    @property
    def claim(self) -> Claim | None:
        """Told where another symptom could be looked at."""
        if not self.looked:
            return None
        number = len(self.same) + 1
        text = f"the same before {number} of {plural(self.looked + 1, 'symptom')}"
        seen = ", ".join(iso(at) for at in self.same[:5])
        evidence = Evidence(f"{text}{': also before ' + seen if seen else ''}", "samples", number, "symptoms")
        return Claim("recurrence", text, (evidence,))

    def raised(self, confidence: float) -> float:
        """Confidence after it: every further time takes a third of the doubt; being alone adds some. What is rather
        not believed stays so: whoever is busy often is near every symptom."""
        doubt = 1 - confidence
        for _ in self.same if confidence >= _BELIEVED else ():
            doubt *= 0.67
        if self.looked >= 2 and not self.same:
            doubt = min(1.0, doubt * 1.3)
        return round(min(0.99, 1 - doubt), 3)


ALONE = Recurrence(0, ())
"""No other symptom was looked at."""


def recurrence(
    store: Held, symptom: Complaint, run: Run, suspect: Suspect, recorded: Window, config: Config
) -> Recurrence:
    """Look at the nearest of the recording's other symptoms. Those of the same `run` are no other time."""
    if not suspect.name:
        return ALONE
    looked, same = 0, []
    for one in _others(store, symptom, recorded)[:_OTHERS]:
        scene = look_around(store, complaint(one), recorded, config)
        tried = candidates(scene, 2)
        if tried and tried[0].run.cpu == run.cpu and tried[0].run.overlaps(run.window):
            continue
        looked += 1
        if any(_is_it(found.suspect, suspect) for found in tried[:1] if found.score > 0):
            same.append(one.at_ns)
    return Recurrence(looked, tuple(sorted(same)))


def _others(store: Held, symptom: Complaint, recorded: Window) -> list[Event]:
    found = symptoms_in(store.snapshot(recorded), recorded)
    found.sort(key=lambda one: abs(one.at_ns - symptom.at_ns))
    kept, taken = [], [symptom.at_ns]
    for one in found:
        if all(abs(one.at_ns - at) >= _APART_NS for at in taken):
            kept.append(one)
            taken.append(one.at_ns)
    return kept


def _is_it(one: Suspect | None, suspect: Suspect) -> bool:
    """The same name, and again most of a core and more than usual."""
    return one is not None and one.name == suspect.name and not one.context and one.unusual and one.share >= _MOST_OF_IT


# -- over boots ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Boot:
    """Zombies since one boot: the first and last count, and the count when the first symptom came."""

    from_ns: int
    first: tuple[int, int]
    last: tuple[int, int]
    at_symptom: int | None
    symptom_ns: int | None

    @property
    def per_hour(self) -> float | None:
        """How fast they came; None where two looks are too near."""
        passed = self.last[0] - self.first[0]
        return (self.last[1] - self.first[1]) * 3600 * NS / passed if passed >= _LONG_NS else None


def boots(store: Held, leaks: Leaks, recorded: Window) -> list[Boot]:
    """Each boot that the recording has counts of, oldest first."""
    total: dict[int, int] = {}
    for row in leaks.zombies:
        total[row["at_ns"]] = total.get(row["at_ns"], 0) + int(row["zombies"])
    if not total:
        return []
    snapshot = store.snapshot()
    began = sorted({one.at_ns for one in events(snapshot, EVER, ("recorder",)) if one.kind == "boot"})
    symptoms = [one.at_ns for one in symptoms_in(snapshot, recorded)]
    edges = [min(total), *(at for at in began if at > min(total)), max(total) + 1]
    found = []
    for low, high in pairwise(edges):
        looks = sorted(at for at in total if low <= at < high)
        if looks:
            first = next((at for at in symptoms if low <= at < high), None)
            near = min(looks, key=lambda at: abs(at - first)) if first is not None else None
            found.append(
                Boot(
                    low,
                    (looks[0], total[looks[0]]),
                    (looks[-1], total[looks[-1]]),
                    total[near] if near is not None else None,
                    first,
                )
            )
    return found


def over_boots(found: Sequence[Boot]) -> Claim | None:
    """Growth since each boot, and when it will be back after the next one."""
    told = [one for one in found if one.per_hour is not None]
    if not told:
        return None
    evidence = []
    for one in told[-4:]:
        text = f"since {iso(one.from_ns)}: from {count(one.first[1])} to {count(one.last[1])}"
        text += f", {count(one.per_hour or 0.0)} an hour"
        if one.at_symptom is not None:
            text += f"; the first symptom came at about {count(one.at_symptom)}"
        evidence.append(Evidence(text, "memcg", round(one.per_hour or 0.0, 1), "1/h", (one.from_ns, one.last[0])))
    sizes = [one.at_symptom for one in told if one.at_symptom]
    rate = told[-1].per_hour or 0.0
    text = f"zombies grew by {count(rate)} an hour"
    if sizes and rate > 0:
        hours = min(sizes) / rate
        text += f"; after a reboot they are as many again in about {span(hours * 3600)}"
        evidence.append(Evidence(f"{count(min(sizes))} at {count(rate)} an hour", "memcg", round(hours, 1), "h"))
    return Claim("projection", text, tuple(evidence))
