"""The rivals of the catalogue, tested: how much of the lost time their own numbers explain.

Much of it, and a rival is not ruled out; little, and it is, with the number that says so; without its numbers it is
untested, never ruled out on faith.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from necroscope.diagnose.hypotheses.catalogue import Catalogue
from necroscope.diagnose.hypotheses.hypothesis import Hypothesis, filled
from necroscope.diagnose.hypotheses.stack_match import share_in, share_innermost
from necroscope.diagnose.judge.candidates import represented_share
from necroscope.diagnose.judge.suspects import title, unusual
from necroscope.diagnose.priors import Priors
from necroscope.quantity import count, plural, share
from necroscope.vocabulary.case import Case, Starvation, Suspect
from necroscope.vocabulary.model import Evidence
from necroscope.vocabulary.verdict import Tested

_SHARES_IT = 0.05


@dataclass(frozen=True, slots=True)
class Trial:
    """What rivals are tested on: the case, the starvation, who had the core, the numbers; the id of the cause that was
    found and the functions that it accounts for (empty: none was found)."""

    case: Case
    starvation: Starvation
    suspect: Suspect
    facts: Mapping[str, float]
    priors: Priors
    cause: str = ""
    explained: frozenset[str] = frozenset()


def tested(trial: Trial, catalogue: Catalogue) -> tuple[Tested, ...]:
    """Every rival that is not the cause itself, or a part of it."""
    measures: dict[str, Callable[[Trial, Hypothesis], Tested]] = {
        "samples": _samples,
        "modes": _modes,
        "rise": _rise,
        "drop": _drop,
        "others": _others,
        "events": _events,
    }
    known = catalogue.of(trial.cause)
    apart = (one for one in catalogue.rivals if not _same(one, trial, known))
    return tuple(_judged(measures[one.measure](trial, one), trial.priors) for one in apart)


def _same(rival: Hypothesis, trial: Trial, known: Hypothesis | None) -> bool:
    """Whether a rival is the cause, or measures what the cause itself is: interrupts that have the core are both."""
    if trial.cause and trial.suspect.context in rival.modes:
        return True
    return trial.cause in (rival.id, *rival.same) or (known is not None and rival.id in known.same)


def compared(trial: Trial, rival: Hypothesis) -> bool:
    """Whether it is known of quiet times what a rival measures."""
    if rival.measure == "modes":
        return _before(trial, rival) is not None
    if rival.measure in ("rise", "drop"):
        return f"{rival.fact}_before" in trial.facts
    return trial.suspect.before is not None


def _judged(one: Tested, priors: Priors) -> Tested:
    """With the outcome that its share gives."""
    if one.outcome == "untested" or (one.explains or 0.0) < priors.rival_stands:
        return one
    return replace(one, outcome="not-ruled-out")


def _tested(trial: Trial, one: Hypothesis, text: str, value: float, source: str, explains: float) -> Tested:
    """A test with one number, and the rate that goes with it."""
    window = trial.starvation.run.window
    evidence = [Evidence(text, source, round(value, 3), "share", window)]
    because = text
    if one.rate and one.rate in trial.facts:
        now, before = trial.facts[one.rate], trial.facts.get(f"{one.rate}_before")
        quiet = f", {count(before)} in quiet times" if before is not None else ""
        evidence.insert(
            0, Evidence(f"{count(now)} {one.rate_of} a second{quiet}", one.rate, round(now, 1), "1/s", window)
        )
        because = f"{text}; {evidence[0].text}"
    return Tested(one.id, "ruled-out", because, tuple(evidence), round(min(1.0, max(0.0, explains)), 3))


def _untested(one: Hypothesis) -> Tested:
    return Tested(one.id, "untested", one.untested or "its numbers were not recorded")


def _samples(trial: Trial, one: Hypothesis) -> Tested:
    """The share of the core's samples in its functions, and not because the cause was in them."""
    everybody = trial.starvation.line_up.everybody
    if everybody is None or not everybody.stacks:
        return _untested(one)
    lost = represented_share(trial.starvation, trial.priors)
    part = share_innermost(everybody.stacks, one.functions, trial.explained)
    below, own = share_in(everybody.stacks, one.functions), share_in(everybody.stacks, one.own_work)
    carries = one.own_work and trial.explained and below >= trial.priors.rival_stands
    if carries and own <= trial.priors.rival_own_work * below:
        text = f"{share(below)} of the core's samples were below it, but {share(own)} in its own work"
        return _tested(trial, one, text, own, "samples", own * lost)
    return _tested(trial, one, filled(one.says, part), part, "samples", part * lost)


def _modes(trial: Trial, one: Hypothesis) -> Tested:
    """How far a share of the core's time is above quiet times, by its own counters; of interrupts also by samples."""
    run = trial.starvation.run
    part = sum(run.share(mode) for mode in one.modes)
    if "irq" in one.modes or "softirq" in one.modes:
        part = max(part, sum(each.share for each in trial.starvation.line_up.suspects if each.context))
    elif not run.counted:
        return _untested(one)
    before = _before(trial, one)
    text = one.says_with(part, before)
    return _tested(trial, one, text, part, "cpu" if run.counted else "samples", part - (before or 0.0))


def _before(trial: Trial, one: Hypothesis) -> float | None:
    """The share of the core's time in quiet times; None: not known."""
    known = [trial.facts.get(f"core_{mode}_before") for mode in one.modes]
    return None if None in known else sum(each for each in known if each is not None)


def _rise(trial: Trial, one: Hypothesis) -> Tested:
    """How far a number is above quiet times; all of it, where nothing is known of these."""
    if one.fact not in trial.facts:
        return _untested(one)
    now, before = trial.facts[one.fact], trial.facts.get(f"{one.fact}_before")
    text = one.says_with(now, before)
    if one.noticed_only and not trial.case.symptom.noticed:
        return _tested(trial, one, f"{text}; what is stopped takes no core", now, one.fact, 0.0)
    return _tested(trial, one, text, now, one.fact, one.scale * (now - (before or 0.0)))


def _drop(trial: Trial, one: Hypothesis) -> Tested:
    """How far a number is below quiet times."""
    now, before = trial.facts.get(one.fact), trial.facts.get(f"{one.fact}_before")
    if now is None or before is None or before <= one.least_before:
        return _untested(one)
    part = now / before
    return _tested(trial, one, filled(one.says, part), part, one.fact, one.scale * (1 - part))


def _others(trial: Trial, one: Hypothesis) -> Tested:
    """How much others took of the core beyond quiet times, and how idle the other cores were."""
    suspect, line_up, window = trial.suspect, trial.starvation.line_up, trial.starvation.run.window
    apart = [each for each in line_up.suspects if not each.context and not _together(each, suspect)]
    many = [each for each in apart if each.share >= _SHARES_IT]
    who = title(suspect)
    first = f"{share(suspect.share)} of the core went to {who}" if who else "nobody was sampled on the core"
    text = f"{first}; {filled(one.says, len(many))}"
    evidence = [Evidence(text, "samples", len(many), "processes", window)]
    if (idle := trial.starvation.elsewhere_idle) is not None:
        spare = f"the other cores were idle {share(idle)} of the time"
        evidence.append(Evidence(spare, "cpu", round(idle, 3), "share", window))
    took = sum(each.excess for each in many if each.before is not None and unusual(each, trial.priors))
    found = _tested(trial, one, "; ".join(each.text for each in evidence), len(many), "samples", took)
    return replace(found, evidence=tuple(evidence))


def _together(one: Suspect, suspect: Suspect) -> bool:
    """Whether it is the suspect, or works beside it in the same cgroup."""
    known = suspect.cgroup not in ("", "/")
    return (
        (one.name, one.cgroup) == (suspect.name, suspect.cgroup)
        or bool(set(one.pids) & set(suspect.pids))
        or (known and one.cgroup == suspect.cgroup)
    )


def _events(trial: Trial, one: Hypothesis) -> Tested:
    """Complaints of the hardware near the symptom, and rates of errors. How much time they cost they do not say."""
    facts, window = trial.facts, trial.starvation.run.window
    rates = {name: facts[name] for name in one.facts if name in facts}
    number = len(trial.case.hardware)
    kinds = ", ".join(dict.fromkeys(each.kind for each in trial.case.hardware))
    events = f"{plural(number, 'hardware error')} in the kernel's log" + (f" ({kinds})" if kinds else "")
    if not rates and not number:
        evidence = (Evidence(events, "events", number, "events"),)
        return Tested(one.id, "untested", f"{events}; {one.untested}", evidence)
    total = sum(rates.values())
    text = f"{filled(one.says, round(total, 1))}; {events}" if rates else f"{events}; {one.untested}"
    evidence = (Evidence(text, "nic", round(total, 2), "1/s", window),)
    more = sum(rate - facts.get(f"{name}_before", 0.0) for name, rate in rates.items())
    stands = number or more >= trial.priors.rival_errors
    return Tested(one.id, "not-ruled-out" if stands else "ruled-out", text, evidence, None if stands else 0.0)


def strongest(outcomes: Sequence[Tested], priors: Priors) -> Tested | None:
    """The rival that explains most of what is not ruled out."""
    standing = [one for one in outcomes if one.outcome == "not-ruled-out"]
    return max(standing, key=lambda one: claim(one, priors), default=None)


def claim(one: Tested, priors: Priors) -> float:
    """How much of the lost time a rival claims."""
    return one.explains if one.explains is not None else priors.rival_unmeasured
