"""Whether it happens again: the same one on a core before other symptoms, and over boots.

Before five of five symptoms is worth more than once. What grows since each boot and makes trouble from a certain size
on comes back when it has grown so far again: a reboot that helped for a week is evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from necroscope.clock import iso
from necroscope.diagnose.judge.candidates import candidates
from necroscope.diagnose.judge.suspects import unusual
from necroscope.diagnose.priors import Priors
from necroscope.quantity import count, plural, span
from necroscope.vocabulary.case import Boot, Case, Run, Suspect
from necroscope.vocabulary.model import Evidence
from necroscope.vocabulary.verdict import Link

_TIMES_MOST = 5
_BOOTS_MOST = 4


@dataclass(frozen=True, slots=True)
class Recurrence:
    """How many other symptoms were looked at, and when those were before which the same suspect had a core."""

    looked: int = 0
    same: tuple[int, ...] = ()

    def link(self, priors: Priors) -> Link | None:
        """Said where another symptom could be looked at."""
        if not self.looked:
            return None
        number, of = len(self.same) + 1, self.looked + 1
        before = "both symptoms" if number == of == 2 else f"{number} of {plural(of, 'symptom')}"
        text = f"seen before {before}"
        seen = ", ".join(iso(at) for at in self.same[:_TIMES_MOST])
        evidence = Evidence(f"{text}{': also before ' + seen if seen else ''}", "samples", number, "symptoms")
        if self.looked >= 2 and not self.same:
            return Link("recurrence", text, (evidence,), priors.again_alone, "other symptoms came without it")
        return Link("recurrence", text, (evidence,))

    def raised(self, strength: float, priors: Priors) -> float:
        """A link's strength after it: every further time takes a part of the doubt."""
        return 1 - (1 - strength) * priors.again_doubt ** len(self.same)


def recurrence(case: Case, run: Run, suspect: Suspect, priors: Priors) -> Recurrence:
    """What the other symptoms of the case say. Those of the same starvation are no other time."""
    if not suspect.name or case.others is None:
        return Recurrence()
    looked, same = 0, []
    for one in case.others:
        tried = candidates(one.symptom, one.named, one.starvations, case.starts, priors)
        if tried and tried[0].run.cpu == run.cpu and tried[0].run.overlaps(run.window):
            continue
        looked += 1
        if tried and tried[0].score > 0 and _is_it(tried[0].suspect, suspect, priors):
            same.append(one.symptom.at_ns)
    return Recurrence(looked, tuple(sorted(same)))


def _is_it(one: Suspect | None, suspect: Suspect, priors: Priors) -> bool:
    """The same name, and again most of a core and more than usual."""
    if one is None or one.name != suspect.name or one.context:
        return False
    return unusual(one, priors) and one.share >= priors.again_share


def projection(boots: Iterable[Boot]) -> Link | None:
    """Growth since each boot, and when it will be back after the next one."""
    known = [one for one in boots if one.per_hour is not None]
    if not known:
        return None
    evidence = [_since(one) for one in known[-_BOOTS_MOST:]]
    sizes = [one.at_symptom for one in known if one.at_symptom]
    rate = known[-1].per_hour or 0.0
    text = f"zombies grew by {count(rate)} an hour"
    if sizes and rate > 0:
        hours = min(sizes) / rate
        text += f"; after a reboot there are as many again in about {span(hours * 3600)}"
        evidence.append(Evidence(f"{count(min(sizes))} at {count(rate)} an hour", "memcg", round(hours, 1), "h"))
    return Link("projection", text, tuple(evidence))


def _since(one: Boot) -> Evidence:
    text = f"since {iso(one.from_ns)}: from {count(one.first[1])} to {count(one.last[1])}"
    text += f", {count(one.per_hour or 0.0)} an hour"
    if one.at_symptom is not None:
        text += f"; the first symptom came at about {count(one.at_symptom)}"
    return Evidence(text, "memcg", round(one.per_hour or 0.0, 1), "1/h", (one.from_ns, one.last[0]))


def product(strengths: Sequence[float]) -> float:
    """Links multiplied."""
    found = 1.0
    for one in strengths:
        found *= one
    return found
