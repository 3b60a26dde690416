"""Processes and cores that were looked at and not blamed, and who may have been it where nobody is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from necroscope.clock import NS
from necroscope.diagnose.judge.candidates import Candidate
from necroscope.diagnose.judge.suspects import title, top_functions, unusual
from necroscope.diagnose.judge.wording import when
from necroscope.diagnose.priors import Priors
from necroscope.quantity import share, span
from necroscope.vocabulary.case import Case, Suspect
from necroscope.vocabulary.model import Evidence
from necroscope.vocabulary.verdict import Link, Tested

_ABOUT_AS_WELL = 0.5
_STARVATIONS, _SUSPECTS, _LEAST = 3, 4, 0.1


def others(
    case: Case, tried: Sequence[Candidate], blamed: Suspect | None, best: Candidate | None, priors: Priors
) -> tuple[Tested, ...]:
    """Who was on the cores and is not blamed: always there, or a weaker match. Without a verdict (`best` None), who may
    have been it is left out."""
    found: dict[tuple[str, int], Tested] = {}
    still = {(suspect.name, one.run.cpu) for one, suspect in _may_be(tried, priors)} if best is None else set()
    for one in tried[:_STARVATIONS]:
        for suspect in one.line_up.suspects[:_SUSPECTS]:
            if suspect is blamed or suspect.context or suspect.share < _LEAST or (suspect.name, one.run.cpu) in still:
                continue
            if blamed is not None and (suspect.name, suspect.cgroup) == (blamed.name, blamed.cgroup):
                continue
            found.setdefault((suspect.name, one.run.cpu), _other(case, suspect, one, best, priors))
    return tuple(found.values())


def _other(case: Case, suspect: Suspect, one: Candidate, best: Candidate | None, priors: Priors) -> Tested:
    took = f"it took {share(suspect.share)} of core {one.run.cpu} for {span(one.run.seconds)}"
    if suspect.before is not None and not unusual(suspect, priors):
        because = f"{took}, and {share(suspect.before)} in quiet times: no more than usual, or by chance"
    elif best is not None and one is not best:
        ago_s = max(0.0, (case.symptom.at_ns - one.run.to_ns) / NS)
        because = f"{took}, {span(ago_s)} before the symptom, {share(one.run.kernel)} of it in the kernel: weaker match"
    else:
        because = f"{took}: too little"
    evidence = Evidence(took, "samples", round(suspect.seconds, 2), "s", one.run.window)
    return Tested(f"process {suspect.name}", "ruled-out", because, (evidence,), round(max(0.0, suspect.excess), 3))


def _may_be(tried: Sequence[Candidate], priors: Priors) -> Iterator[tuple[Candidate, Suspect]]:
    for one in tried[:_STARVATIONS]:
        suspect = one.suspect
        if suspect is None or not unusual(suspect, priors) or not one.score >= _ABOUT_AS_WELL * tried[0].score > 0:
            continue
        yield one, suspect
        for other in one.line_up.suspects:
            beside = not other.context and unusual(other, priors) and other.excess >= _ABOUT_AS_WELL * suspect.excess
            if beside and not set(other.pids) & set(suspect.pids):
                yield one, other


def may_have_been(case: Case, tried: Sequence[Candidate], priors: Priors) -> Link | None:
    """Who may have been it, where the evidence is not enough to name one; None where nobody stands out."""
    found: dict[tuple[str, int], Evidence] = {}
    for one, suspect in _may_be(tried, priors):
        text = f"{title(suspect)} took {share(suspect.share)} of core {one.run.cpu} for {span(one.run.seconds)}"
        text += f", {when(case.symptom, one.run)}"
        usual = "nothing to compare" if suspect.before is None else f"{share(suspect.before)} in quiet times"
        where = ", ".join(name for name, _ in top_functions(suspect.stacks, 3))
        text += f"; {usual}; {share(suspect.kernel)} of it in the kernel, mostly {where}"
        evidence = Evidence(text, "samples", round(suspect.seconds, 2), "s", one.run.window)
        found.setdefault((title(suspect) if suspect.context else suspect.name, one.run.cpu), evidence)
    if not found:
        return None
    names = " or ".join(dict.fromkeys(name for name, _ in found))
    return Link("not-ruled-out", f"it may have been {names}: not enough evidence to name one", tuple(found.values()))


def no_core(case: Case) -> tuple[Tested, ...]:
    """That no core was starved is itself a finding, where nearly all of the time before the symptom was recorded."""
    if not case.counted:
        return ()
    window = case.symptom.at_ns - 45 * NS, case.symptom.at_ns
    if case.covered < 0.8:
        seconds = span(case.covered * 45) if case.covered > 0 else "none"
        because = f"the cores' counters were read for {seconds} of the 45 s before it"
        return (Tested("starved-core", "untested", because),)
    text = "no core was at least 97 % busy for 2 s in the 45 s before it"
    if case.busy_before is not None:
        text += f"; all cores together were {share(case.busy_before)} busy"
    evidence = (Evidence(text, "cpu", case.busy_before, "share", window),)
    return (Tested("starved-core", "ruled-out", text, evidence, 0.0),)
