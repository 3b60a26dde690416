"""From a case to a verdict. Pure: the same case and catalogue give the same verdict, on any machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from necroscope.diagnose.hypotheses.catalogue import Catalogue
from necroscope.diagnose.hypotheses.hypothesis import Hypothesis
from necroscope.diagnose.judge.candidates import Candidate, candidates
from necroscope.diagnose.judge.conclusion import Conclusion, conclude, conclude_rival, explained_by, rival_strength
from necroscope.diagnose.judge.links import core_link, links, process_of, symptom_link
from necroscope.diagnose.judge.mechanism import Weighed, within
from necroscope.diagnose.judge.missing import missing, nobody_seen, not_sure, of_time, stands_anyway, unseen
from necroscope.diagnose.judge.others import may_have_been, no_core, others
from necroscope.diagnose.judge.rivals import Trial, claim, tested
from necroscope.diagnose.judge.suspect_facts import facts_of
from necroscope.diagnose.judge.suspects import title
from necroscope.diagnose.leak import words
from necroscope.diagnose.leak.remedies import remedies as leak_remedies
from necroscope.diagnose.priors import PRIORS, Priors
from necroscope.quantity import share
from necroscope.vocabulary.case import Case, Gap
from necroscope.vocabulary.verdict import CandidateCause, Cause, Link, Remedy, Tested, Verdict

_CANDIDATES, _OTHERS = 6, 2
_MOST_OF_IT = 0.5


def judge(case: Case, catalogue: Catalogue, priors: Priors = PRIORS) -> Verdict:
    """Why the symptom of a case happened: the cause with the links that lead to it, or what is missing to name one."""
    gap = unseen(case)
    tried = candidates(case.symptom, case.named, case.starvations, case.starts, priors)
    one = _concluded(case, tried, gap, catalogue, priors)
    if one is None or one.confidence < priors.floor:
        return _unexplained(case, tried, gap, one, catalogue, priors)
    best, blamed = one.candidate, one.suspect if one.rival is None else None
    cause = Cause(one.kind, one.subject, process_of(one), one.cpu, one.confidence)
    return Verdict(
        "explained" if one.whole else "partly-explained",
        case.symptom,
        cause,
        missing=tuple(dict.fromkeys(missing(case, one))),
        remedies=_remedies(case, one),
        window=best.run.window,
        strip=one.starvation.strip,
        growth=words.growth_of(case.leaks, one.leak) if one.grows == "zombies" else None,
        notes=case.notes,
        links=links(case, one, one.rivals),
        tested=(
            *one.rivals,
            *others(case, tried, blamed, best, priors),
            *one.found.ruled_out,
        ),
        candidates=_weighed(case, one, tried, catalogue),
    )


def _concluded(
    case: Case, tried: Sequence[Candidate], gap: Gap | None, catalogue: Catalogue, priors: Priors
) -> Conclusion | None:
    """What is concluded of the best starvation; where nobody stands out on it, of a rival."""
    best = tried[0] if tried and tried[0].score >= priors.score_least and tried[0].suspect is not None else None
    if gap is not None and (best is None or not stands_anyway(best, case)):
        return None
    if best is None:
        return conclude_rival(case, tried, catalogue, priors)
    return conclude(case, best, tried, catalogue, priors)


def _unexplained(
    case: Case,
    tried: Sequence[Candidate],
    gap: Gap | None,
    one: Conclusion | None,
    catalogue: Catalogue,
    priors: Priors,
) -> Verdict:
    best = one.candidate if one is not None else next((each for each in tried if each.suspect is not None), None)
    made: list[Link] = [symptom_link(case)]
    against: tuple[Tested, ...] = ()
    if tried:
        made.append(core_link(case, tried[0].run, tried[0].starvation.average_busy))
    if best is not None and best.suspect is not None:
        rivals = _all_rivals(one) if one is not None else _rivals(case, best, catalogue, priors)
        made += [each for each in (may_have_been(case, tried, priors),) if each is not None]
        made += [replace(each, strength=None) for each in _standing(rivals)]
        against = (*rivals, *others(case, tried, None, None, priors))
    elif not tried:
        against = no_core(case)
    lacking = [*([of_time(gap)] if gap is not None else ()), *nobody_seen(case, tried)]
    lacking += [each for each in missing(case, one) if gap is None or each.what != gap.text]
    strip = tried[0].starvation.strip if tried else case.strip
    return Verdict(
        "unexplained",
        case.symptom,
        None,
        missing=tuple(dict.fromkeys((*lacking, *not_sure(one)))),
        window=case.lookback,
        strip=strip,
        notes=case.notes,
        links=tuple(made),
        tested=against,
        candidates=_weighed(case, one, tried, catalogue) if one is not None else (),
    )


def _rivals(case: Case, best: Candidate, catalogue: Catalogue, priors: Priors) -> tuple[Tested, ...]:
    if best.suspect is None:
        return ()
    facts = facts_of(best.starvation, best.suspect, catalogue)
    return tested(Trial(case, best.starvation, best.suspect, facts, priors), catalogue)


def _all_rivals(one: Conclusion) -> tuple[Tested, ...]:
    """With the one that would have been the cause."""
    return (one.rival_test, *one.rivals) if one.rival_test is not None else one.rivals


def _standing(rivals: Iterable[Tested]) -> list[Link]:
    return [
        Link("not-ruled-out", f"{one.hypothesis} is not ruled out: {one.because}", one.evidence)
        for one in rivals
        if one.outcome == "not-ruled-out"
    ]


# -- what was weighed, what to do --------------------------------------------------------------------------------


def _weighed(
    case: Case, one: Conclusion, tried: Sequence[Candidate], catalogue: Catalogue
) -> tuple[CandidateCause, ...]:
    """Causes that were weighed, the one of the verdict first."""
    process, cpu, priors = process_of(one), one.cpu, one.priors
    explains = (
        claim(one.rival_test, priors)
        if one.rival_test is not None
        else explained_by(one.best, one.candidate, one.suspect, priors)
    )
    found = [CandidateCause(one.kind, cpu, process, round(explains, 3), one.confidence, "best match")]
    mine = one.instead_of or one
    found += [_mechanism(mine, each) for each in ((one.best,) if one.rival is not None and title(one.suspect) else ())]
    found += [_mechanism(mine, each) for each in one.found.others]
    found += [_rival(one, each) for each in one.rivals if each.outcome == "not-ruled-out" and _may_be(each, catalogue)]
    apart = [each for each in tried if each.run is not one.candidate.run]
    for other in apart[:_OTHERS]:
        again = conclude(case, other, tried, catalogue, priors) if other.score >= priors.score_least else None
        if again is not None and other.run.cpu != cpu:
            because = f"score {other.score:.2f} against {one.candidate.score:.2f}"
            part = round(explained_by(again.best, other, again.suspect, priors), 3)
            found.append(CandidateCause(again.kind, other.run.cpu, process_of(again), part, again.confidence, because))
    return tuple(found[:_CANDIDATES])


def _may_be(rival: Tested, catalogue: Catalogue) -> bool:
    """Whether a rival can be the cause itself."""
    known = catalogue.of(rival.hypothesis)
    return known is not None and known.cause


def _rival(one: Conclusion, each: Tested) -> CandidateCause:
    part, priors = claim(each, one.priors), one.priors
    sure = one.core * rival_strength(part, priors) * priors.subject_nobody
    return CandidateCause(each.hypothesis, one.candidate.run.cpu, None, part, round(sure, 3), each.because)


def _mechanism(one: Conclusion, each: Weighed) -> CandidateCause:
    explains = explained_by(each, one.candidate, one.suspect, one.priors)
    sure = min(one.confidence, one.core * one.who * each.strength * one.whom * one.beside)
    because, best = f"{share(each.share)} of the samples show it", one.best
    if best.hypothesis.priority > each.hypothesis.priority and within(best, each, one.suspect) >= _MOST_OF_IT:
        because += f"; {best.hypothesis.id} is a part of it, and more specific"
    return CandidateCause(
        each.hypothesis.id, one.candidate.run.cpu, process_of(one), round(explains, 3), round(sure, 3), because
    )


def _entries(one: Conclusion) -> tuple[Hypothesis, ...]:
    """The hypothesis of the cause, or both that it may be."""
    if one.rival is not None:
        return (one.rival,)
    either = one.found.either
    return (one.best.hypothesis, *((either.hypothesis,) if either is not None else ()))


def _remedies(case: Case, one: Conclusion) -> tuple[Remedy, ...]:
    """What can be done: about a leak first who leaks, then what exists; no advice that this kernel has outgrown."""
    given = tuple(remedy for entry in _entries(one) for remedy in entry.remedies_for(one.subject, case.kernel))
    if one.doubt_of_subject:
        given = tuple(
            replace(each, command="") if each.command.startswith("necroscope fix ") else each for each in given
        )
    if not one.grows:
        return tuple(dict.fromkeys(given))
    left = case.leaks.of(one.grows)
    below = max(left.below, key=lambda each: each.count).parent if left.below else ""
    return (*leak_remedies(one.grows, one.leak, left.pins, below), *dict.fromkeys(given))
