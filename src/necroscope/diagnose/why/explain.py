"""From a symptom to a verdict: the chain, link by link, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from necroscope.clock import NS, iso
from necroscope.config import Config
from necroscope.diagnose.mechanism import Mechanism
from necroscope.diagnose.why import leak_words, tell
from necroscope.diagnose.why.candidates import Candidate, candidates
from necroscope.diagnose.why.facts import Facts, gather
from necroscope.diagnose.why.holes import Hole
from necroscope.diagnose.why.mechanism_of import UNKNOWN
from necroscope.diagnose.why.reason import NOBODY, Reasoned, reason
from necroscope.diagnose.why.recurrence import ALONE, Recurrence, boots, over_boots, recurrence
from necroscope.diagnose.why.rivals import Case, not_ruled_out, rejected
from necroscope.diagnose.why.scene import CRITICAL_NS, Held, Scene, look_around, strip_of
from necroscope.diagnose.why.suspects import SOFTIRQ_THREAD, Suspect
from necroscope.diagnose.why.symptom import NOTICED
from necroscope.diagnose.why.waits import waiting
from necroscope.diagnose.why.weigh import FLOOR, HALF_TOLD, beside_rival
from necroscope.errors import DAMAGE_HINT
from necroscope.query.sealed import damaged
from necroscope.query.starved import mean_busy
from necroscope.store.catalog import Window
from necroscope.verdict import Cause, Claim, Complaint, Missing, ProcessRef, Rejected, Remedy, Verdict

_HARDWARE = frozenset({"hardware-error", "hardware-corrected", "thermal-throttled", "gpu-xid", "io-error"})
_HARDWARE_NS = 120 * NS
_LEAST_SCORE = 0.08


def explain_symptom(
    store: Held,
    symptom: Complaint,
    recorded: Window,
    config: Config,
    known: Sequence[Mechanism],
    others: bool = True,
) -> Verdict:
    """The verdict about one symptom; with `others`, what came before other symptoms counts as well."""
    scene = look_around(store, symptom, recorded, config)
    unseen = _unseen(scene)
    tried = candidates(scene)
    scene.notes.extend(_new(scene.notes, (note for one in tried for note in damaged(one.profile.notes))))
    best = tried[0] if tried and tried[0].score >= _LEAST_SCORE and tried[0].suspect is not None else None
    if best is None or (unseen is not None and not _covers(best, scene)):
        return _unexplained(scene, tried, unseen)
    reasoned = reason(scene, best, tried, known)
    if reasoned is None:
        return _unexplained(scene, tried, unseen)
    again = recurrence(store, symptom, best.run, reasoned.suspect, recorded, config) if others else ALONE
    reasoned = _with_recurrence(reasoned, again)
    rivals = _rivals(scene, reasoned)
    strongest = max((one.standing for one in rivals if not_ruled_out(one)), default=0.0)
    reasoned = replace(reasoned, confidence=round(reasoned.confidence * beside_rival(strongest), 3))
    if reasoned.confidence < FLOOR:
        return _unexplained(scene, tried, unseen, reasoned)
    return _verdict(scene, tried, reasoned, rivals)


def _with_recurrence(reasoned: Reasoned, again: Recurrence) -> Reasoned:
    """Again and again the same one on the core says nothing about who left what he walks over. Where only that is
    doubtful, nobody is named for it, and the rest stands."""
    sure = again.raised(reasoned.without_subject)
    if reasoned.found.mechanism.grows and sure * reasoned.whom < FLOOR <= sure * NOBODY:
        reasoned = replace(reasoned, subject=None, source=None, whom=NOBODY)
    confidence = round(sure * reasoned.whom, 3)
    if not _whole(reasoned):
        confidence = min(confidence, HALF_TOLD)
    return replace(reasoned, confidence=confidence, again=again)


def _new(known: Sequence[str], notes: Iterable[str]) -> list[str]:
    """Notes that are not known yet, each once."""
    return [note for note in dict.fromkeys(notes) if note not in known]


# -- what was not recorded -------------------------------------------------------------------------------


def _unseen(scene: Scene) -> Hole | None:
    """Time just before the symptom that nobody recorded; None where everything was."""
    at_ns = scene.symptom.at_ns
    critical = at_ns - CRITICAL_NS, at_ns
    for hole in scene.holes:
        if hole.subject == "sensors":
            continue
        overlap = min(hole.to_ns, critical[1]) - max(hole.from_ns, critical[0])
        if overlap >= 3 * NS:
            return hole
    if at_ns > scene.recorded[1] + 3 * NS or at_ns < scene.recorded[0] + 2 * NS:
        first, last = (iso(one) for one in scene.recorded)
        return Hole(*critical, "recorder", f"the recording holds {first} to {last}, which is not the time before it")
    if scene.counted and scene.covered(critical) < 0.6:
        text = "the cores' counters were not read for most of the 15 s before it"
        return Hole(*critical, "sensors", text)
    return None


def _covers(best: Candidate, scene: Scene) -> bool:
    """Whether a candidate stands by itself although time is missing: it goes on nearly up to the symptom."""
    return scene.symptom.at_ns - best.run.to_ns <= 6 * NS and best.run.seconds >= 4 and best.lineup.sampled >= 0.7


# -- verdicts --------------------------------------------------------------------------------------------


def _verdict(scene: Scene, tried: Sequence[Candidate], reasoned: Reasoned, rivals: Sequence[Rejected]) -> Verdict:
    best, suspect, found = reasoned.best, reasoned.suspect, reasoned.found
    process = ProcessRef(suspect.name, suspect.pid) if suspect.name else None
    if suspect.context and suspect.pid is not None:
        process = ProcessRef(f"{SOFTIRQ_THREAD}{best.run.cpu}", suspect.pid)
    cause = Cause(found.mechanism.id, reasoned.subject, process, best.run.cpu, reasoned.confidence)
    return Verdict(
        "explained" if _whole(reasoned) else "partly-explained",
        scene.symptom,
        cause,
        (*tell.chain(scene, reasoned, waiting(scene, best.run)), *_history(scene, reasoned), *_standing(rivals)),
        (
            *(one for one in rivals if not not_ruled_out(one)),
            *tell.others(scene, tried, suspect, best),
            *found.rejected,
        ),
        tuple(dict.fromkeys(tell.missing(scene, reasoned))),
        _remedies(reasoned),
        best.run.window,
        strip_of(scene, best.run.cpu),
        leak_words.growth_of(reasoned.leaks, reasoned.source) if found.mechanism.grows == "zombies" else None,
        tuple(scene.notes),
    )


def _whole(reasoned: Reasoned) -> bool:
    """Whether both are known: by which mechanism, and whom to act on."""
    return reasoned.subject is not None and reasoned.found.mechanism.id != UNKNOWN


def _history(scene: Scene, reasoned: Reasoned) -> list[Claim]:
    claims = [reasoned.again.claim]
    if reasoned.found.mechanism.grows == "zombies":
        claims.append(over_boots(boots(scene.store, reasoned.leaks, scene.recorded)))
    return [one for one in claims if one is not None]


def _remedies(reasoned: Reasoned) -> tuple[Remedy, ...]:
    return reasoned.found.mechanism.remedies_for(reasoned.subject)


def _rivals(scene: Scene, reasoned: Reasoned) -> tuple[Rejected, ...]:
    case = _case(scene, reasoned.best, reasoned.suspect, reasoned.facts)
    found = reasoned.found
    return rejected(replace(case, cause=found.mechanism.id, explained=frozenset(found.functions)))


def _case(scene: Scene, best: Candidate, suspect: Suspect, facts: Facts) -> Case:
    """What rivals of a starved core are tested on, whatever its cause."""
    near = (one for one in scene.told if abs(one.at_ns - scene.symptom.at_ns) < _HARDWARE_NS)
    return Case(
        best.run,
        suspect,
        best.lineup,
        facts,
        _elsewhere_idle(scene, best),
        sum(one.kind in _HARDWARE for one in near),
        noticed=scene.symptom.source in NOTICED,
    )


def _standing(rivals: Sequence[Rejected]) -> tuple[Claim, ...]:
    """Rivals whose own numbers speak for them: these are not ruled out."""
    return tuple(Claim("not-ruled-out", one.because, one.evidence) for one in rivals if not_ruled_out(one))


def _elsewhere_idle(scene: Scene, best: Candidate) -> float | None:
    """Idle share of the other cores meanwhile; None where there are none, or nobody counted."""
    spare = frozenset(set(scene.times.cpu.tolist()) - {best.run.cpu})
    if not spare:
        return None
    busy = mean_busy(scene.times.of(spare), best.run.window)
    return None if busy is None else max(0.0, 1.0 - busy)


def _nobody_seen(scene: Scene, cpu: int) -> Missing:
    """Why nobody is known to have been on a core."""
    if damaged(scene.notes, "samples", "stacks"):
        return Missing(f"who was on core {cpu}: the samples are damaged, as the notes say", DAMAGE_HINT)
    return Missing(f"who was on core {cpu}: it has no samples", "record with perf, as root")


def _unexplained(
    scene: Scene, tried: Sequence[Candidate], unseen: Hole | None, reasoned: Reasoned | None = None
) -> Verdict:
    lacking = []
    if unseen is not None:
        hint = "keep the recorder running; give it a higher priority or a larger store"
        lacking.append(Missing(f"the time before the symptom: {unseen.text}", hint))
    if tried and all(one.suspect is None for one in tried):
        lacking.append(_nobody_seen(scene, tried[0].run.cpu))
    strip = strip_of(scene, tried[0].run.cpu) if tried else None
    best = reasoned.best if reasoned is not None else next((one for one in tried if one.suspect is not None), None)
    against: tuple[Rejected, ...] = ()
    still: tuple[Claim, ...] = ()
    if best is not None and best.suspect is not None:
        plain = reasoned.facts if reasoned is not None else gather(scene, best.run, best.quiet)[0]
        standing = rejected(_case(scene, best, best.suspect, plain))
        somebody = tell.not_ruled_out(scene, tried)
        still = (
            *([somebody] if somebody is not None else ()),
            *_standing(standing),
        )
        against = (*(one for one in standing if not not_ruled_out(one)), *tell.others(scene, tried, None, None))
    else:
        against = tell.no_core(scene) if not tried else ()
    links = tell.missing(scene, reasoned)
    return Verdict(
        "unexplained",
        scene.symptom,
        None,
        (*tell.what_was_seen(scene, tried), *still),
        against,
        (*lacking, *(one for one in links if not (unseen and one.what == unseen.text)), *tell.doubts(reasoned)),
        window=scene.lookback,
        strip=strip,
        notes=tuple(scene.notes),
    )
