"""From a starved core and who was on it to the mechanism, the leak behind it, and whom to act on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from necroscope.clock import NS
from necroscope.diagnose.mechanism import Mechanism
from necroscope.diagnose.why.candidates import Candidate
from necroscope.diagnose.why.facts import Facts, gather, with_suspect
from necroscope.diagnose.why.identity import subject_of
from necroscope.diagnose.why.leak_source import Source, find_source
from necroscope.diagnose.why.ledger_of_leaks import Leaks, read_leaks
from necroscope.diagnose.why.mechanism_of import Found, mechanism_of
from necroscope.diagnose.why.orders import ORDERED_BY, OWN_CGROUP, Orderer, least_share, orderers
from necroscope.diagnose.why.recurrence import ALONE, Recurrence
from necroscope.diagnose.why.scene import Scene
from necroscope.diagnose.why.suspects import Suspect
from necroscope.diagnose.why.symptom import ASKED
from necroscope.diagnose.why.waits import waited_for
from necroscope.diagnose.why.weigh import core_strength, who_strength
from necroscope.model import Subject
from necroscope.query.profile import profile
from necroscope.query.rows import rows_of
from necroscope.query.select import Select

# A core that was taken when the symptom had been told, unless its time is off by as much as it may be.
_AFTER_ALL = 0.55
NOBODY = 0.9
"""What a verdict is worth that names nobody to act on."""


@dataclass(frozen=True, slots=True)
class Reasoned:
    """What was concluded of the best candidate, before it is told."""

    best: Candidate
    suspect: Suspect
    facts: Facts
    found: Found
    leaks: Leaks
    source: Source | None
    subject: Subject | None
    orderer: Orderer | None
    confidence: float
    whom: float = 1.0
    """How sure it is whom to act on; the confidence is that much less than without."""
    again: Recurrence = ALONE

    @property
    def without_subject(self) -> float:
        """The confidence in everything but whom to act on."""
        return self.confidence / self.whom


def reason(scene: Scene, best: Candidate, tried: Sequence[Candidate], known: Sequence[Mechanism]) -> Reasoned | None:
    """Conclude what the best candidate means; None where there is nobody, or no name for what he did."""
    suspect = best.suspect
    if suspect is None:
        return None
    plain, _ = gather(scene, best.run, best.quiet)
    facts = with_suspect(plain, best.run, suspect, best.lineup)
    if (waited := waited_for(scene, best.run, suspect.name)) is not None:
        facts["victim_waited"] = waited
    found = mechanism_of(suspect, facts, known)
    if found is None:
        return None
    leaks = read_leaks(scene.store, scene.symptom.at_ns, scene.recorded, scene.notes)
    source = find_source(leaks, found.mechanism.grows) if found.mechanism.grows else None
    orderer = _orderer(scene, best, found, facts)
    subject, strength = _subject(scene, suspect, found, leaks, source, orderer)
    rival = max((one.score for one in tried[1:] if _another(one, best)), default=0.0)
    rival = max(rival, best.score * _beside(best, found))
    confidence = (
        core_strength(best.run, scene.symptom.at_ns, scene.named, rival, best.score)
        * who_strength(suspect, best.lineup, best.run)
        * found.strength
        * strength
    )
    if scene.symptom.source != ASKED and best.run.from_ns >= scene.symptom.at_ns:
        confidence *= _AFTER_ALL
    confidence = round(min(confidence, 0.99), 3)
    return Reasoned(best, suspect, facts, found, leaks, source, subject, orderer, confidence, strength)


def _another(one: Candidate, best: Candidate) -> bool:
    """Whether another starved core was somebody else's."""
    a, b = one.suspect, best.suspect
    return a is not None and b is not None and (a.name, a.cgroup) != (b.name, b.cgroup)


def _beside(best: Candidate, found: Found) -> float:
    """How much another one took of the same core in the same run, beyond what is usual, beside what the suspect took.

    Whom the suspect works for, or who works for him, is no other one: interrupts have their senders, storms many names.
    """
    suspect = best.suspect
    if suspect is None or suspect.context or suspect.excess <= 0 or found.mechanism.id in ORDERED_BY:
        return 0.0
    took = (
        one.excess
        for one in best.lineup.suspects
        if not one.context
        and one.before is not None
        and one.unusual
        and (one.name, one.cgroup) != (suspect.name, suspect.cgroup)
        and not set(one.pids) & set(suspect.pids)
    )
    return min(1.0, max(took, default=0.0) / suspect.excess)


def _orderer(scene: Scene, best: Candidate, found: Found, facts: Facts) -> Orderer | None:
    """Who ordered the work, for mechanisms that hit a core from elsewhere."""
    functions = ORDERED_BY.get(found.mechanism.id)
    if functions is None:
        return None
    everywhere = profile(scene.store, Select(best.run.window), best.quiet[:6])
    near = frozenset({best.suspect.cgroup}) - {"", "/"} if best.suspect is not None else frozenset()
    near = near if found.mechanism.id in OWN_CGROUP else frozenset()
    ranked = orderers(everywhere, functions, near)
    if not ranked:
        return None
    first = ranked[0]
    least = 0.005 if near else least_share(found.mechanism.id, facts)
    enough = first.part >= 0.6 and first.seconds >= least * best.run.seconds
    return first if enough and (first.lift is None or first.lift >= 2) else None


def _subject(
    scene: Scene, suspect: Suspect, found: Found, leaks: Leaks, source: Source | None, orderer: Orderer | None
) -> tuple[Subject | None, float]:
    """Whom to act on, and how sure that is. What was left behind is the leaker's, not the walker's."""
    if found.mechanism.grows:
        return (source.subject, source.strength) if source is not None else (None, NOBODY)
    if orderer is not None:
        return subject_of(leaks.owners, orderer.name, (orderer.cgroup,)), 0.95
    if suspect.context:
        return None, NOBODY
    if found.mechanism.id in OWN_CGROUP and len(suspect.pids) > 1:
        # Whose children they are was not seen; a unit or container that holds them all is to blame in any case.
        owner = next((one for path in _cgroups(scene, suspect) if (one := leaks.owners.of(path)) is not None), None)
        return owner, 0.95
    return subject_of(leaks.owners, suspect.name, _cgroups(scene, suspect)), 0.99


def _cgroups(scene: Scene, suspect: Suspect) -> list[str]:
    """Cgroups of a suspect: that of the samples, and that of memory, which may be another hierarchy."""
    window = scene.symptom.at_ns - 60 * NS, scene.symptom.at_ns + 15 * NS
    wanted = set(suspect.pids[:50])
    rows = rows_of(
        scene.store.snapshot(window), "processes", window, ["at_ns", "pid", "cgroup"],
        lambda row: row["pid"] in wanted, notes=scene.notes,
    )  # fmt: skip
    return [suspect.cgroup, *dict.fromkeys(row["cgroup"] for row in rows if row["cgroup"])]
