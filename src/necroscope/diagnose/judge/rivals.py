"""The rivals of the catalogue, tested: how much of the lost time their own numbers explain.

Much of it, and a rival is not ruled out; little, and it is, with the number that says so; without its numbers it is
untested, never ruled out on faith.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from necroscope.case import Case, Starvation, Suspect
from necroscope.diagnose.hypotheses.catalogue import Catalogue
from necroscope.diagnose.hypotheses.hypothesis import Hypothesis, filled
from necroscope.diagnose.hypotheses.stack_match import share_in, share_innermost
from necroscope.diagnose.judge.suspects import title
from necroscope.diagnose.priors import Priors
from necroscope.model import Evidence
from necroscope.quantity import count, plural, share
from necroscope.verdict import Tested

_SHARES_IT = 0.05


@dataclass(frozen=True, slots=True)
class Bench:
    """What rivals are tested on: the case, the starvation, who had the core, the numbers; the id of the cause that was
    found and the functions that it accounts for (empty: none was found)."""

    case: Case
    starvation: Starvation
    suspect: Suspect
    facts: Mapping[str, float]
    priors: Priors
    cause: str = ""
    explained: frozenset[str] = frozenset()


def tested(bench: Bench, catalogue: Catalogue) -> tuple[Tested, ...]:
    """Every rival that is not the cause itself, or a part of it."""
    measures: dict[str, Callable[[Bench, Hypothesis], Tested]] = {
        "samples": _samples,
        "modes": _modes,
        "rise": _rise,
        "drop": _drop,
        "others": _others,
        "events": _events,
    }
    known = catalogue.of(bench.cause)
    apart = (one for one in catalogue.rivals if not _same(one, bench.cause, known))
    return tuple(_judged(measures[one.measure](bench, one), bench.priors) for one in apart)


def _same(rival: Hypothesis, cause: str, known: Hypothesis | None) -> bool:
    return cause in (rival.id, *rival.same) or (known is not None and rival.id in known.same)


def _judged(one: Tested, priors: Priors) -> Tested:
    """With the outcome that its share gives."""
    if one.outcome == "untested" or (one.explains or 0.0) < priors.rival_stands:
        return one
    return replace(one, outcome="not-ruled-out")


def _told(bench: Bench, one: Hypothesis, text: str, value: float, source: str, explains: float) -> Tested:
    """A test with one number, and the rate that goes with it."""
    window = bench.starvation.run.window
    evidence = [Evidence(text, source, round(value, 3), "share", window)]
    because = text
    if one.rate and one.rate in bench.facts:
        now, before = bench.facts[one.rate], bench.facts.get(f"{one.rate}_before")
        quiet = f", {count(before)} in quiet times" if before is not None else ""
        evidence.insert(
            0, Evidence(f"{count(now)} {one.rate_of} a second{quiet}", one.rate, round(now, 1), "1/s", window)
        )
        because = f"{text}; {evidence[0].text}"
    return Tested(one.id, "ruled-out", because, tuple(evidence), round(min(1.0, max(0.0, explains)), 3))


def _untested(one: Hypothesis) -> Tested:
    return Tested(one.id, "untested", one.untested or "its numbers were not recorded")


def _samples(bench: Bench, one: Hypothesis) -> Tested:
    """The share of the core's samples in its functions, and not because the cause was in them."""
    everybody = bench.starvation.line_up.everybody
    if everybody is None:
        return _untested(one)
    part = share_innermost(everybody.stacks, one.functions, bench.explained)
    below, own = share_in(everybody.stacks, one.functions), share_in(everybody.stacks, one.own_work)
    carries = one.own_work and bench.explained and below >= bench.priors.rival_stands
    if carries and own <= bench.priors.rival_own_work * below:
        text = f"{share(below)} of the core's samples were below it, but {share(own)} in its own work"
        return _told(bench, one, text, own, "samples", own)
    return _told(bench, one, filled(one.says, part), part, "samples", part)


def _modes(bench: Bench, one: Hypothesis) -> Tested:
    """A share of the core's time by its own counters; of interrupts also by samples."""
    run = bench.starvation.run
    part = sum(run.share(mode) for mode in one.modes)
    if "irq" in one.modes or "softirq" in one.modes:
        part = max(part, sum(each.share for each in bench.starvation.line_up.suspects if each.context))
    elif not run.counted:
        return _untested(one)
    return _told(bench, one, filled(one.says, part), part, "cpu" if run.counted else "samples", part)


def _rise(bench: Bench, one: Hypothesis) -> Tested:
    """How far a number is above quiet times."""
    if one.fact not in bench.facts:
        return _untested(one)
    now, before = bench.facts[one.fact], bench.facts.get(f"{one.fact}_before", 0.0)
    text = filled(one.says, now, before=before)
    if one.noticed_only and not bench.case.symptom.noticed:
        return _told(bench, one, f"{text}; what is stopped takes no core", now, one.fact, 0.0)
    return _told(bench, one, text, now, one.fact, one.scale * (now - before))


def _drop(bench: Bench, one: Hypothesis) -> Tested:
    """How far a number is below quiet times."""
    now, before = bench.facts.get(one.fact), bench.facts.get(f"{one.fact}_before")
    if now is None or before is None or before <= one.least_before:
        return _untested(one)
    part = now / before
    return _told(bench, one, filled(one.says, part), part, one.fact, one.scale * (1 - part))


def _others(bench: Bench, one: Hypothesis) -> Tested:
    """Who else was on the core, and how idle the other ones were: nothing that explains lost time by itself."""
    suspect, window = bench.suspect, bench.starvation.run.window
    number = sum(
        1
        for each in bench.starvation.line_up.suspects
        if not each.context and each.share >= _SHARES_IT and (each.name, each.cgroup) != (suspect.name, suspect.cgroup)
    )
    text = f"{share(suspect.share)} of the core went to {title(suspect)}; {filled(one.says, number)}"
    evidence = [Evidence(text, "samples", number, "processes", window)]
    if (idle := bench.starvation.elsewhere_idle) is not None:
        spare = f"the other cores were idle {share(idle)} of the time"
        evidence.append(Evidence(spare, "cpu", round(idle, 3), "share", window))
    return Tested(one.id, "ruled-out", "; ".join(each.text for each in evidence), tuple(evidence), 0.0)


def _events(bench: Bench, one: Hypothesis) -> Tested:
    """Complaints of the hardware near the symptom, and rates of errors."""
    window = bench.starvation.run.window
    rates = [bench.facts[name] for name in one.facts if name in bench.facts]
    number = len(bench.case.hardware)
    kinds = ", ".join(dict.fromkeys(each.kind for each in bench.case.hardware))
    events = f"{plural(number, 'hardware error')} in the kernel's log" + (f" ({kinds})" if kinds else "")
    if not rates and not number:
        evidence = (Evidence(events, "events", number, "events"),)
        return Tested(one.id, "untested", f"{events}; {one.untested}", evidence)
    text = f"{filled(one.says, round(sum(rates), 1))}; {events}" if rates else f"{events}; {one.untested}"
    evidence = (Evidence(text, "nic", round(sum(rates), 2), "1/s", window),)
    found = Tested(one.id, "ruled-out", text, evidence, 0.0)
    return replace(found, outcome="not-ruled-out") if number else found


def strongest(outcomes: Sequence[Tested]) -> Tested | None:
    """The rival that explains most of what is not ruled out."""
    standing = [one for one in outcomes if one.outcome == "not-ruled-out"]
    return max(standing, key=lambda one: one.explains or 0.0, default=None)
