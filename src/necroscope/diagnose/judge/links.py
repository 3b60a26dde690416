"""The links from the symptom to its cause, each with its evidence, its strength and its doubt in words."""

from __future__ import annotations

from collections.abc import Iterator

from necroscope.clock import NS, iso
from necroscope.diagnose.judge.candidates import constant, is_own, soon_s
from necroscope.diagnose.judge.conclusion import Conclusion
from necroscope.diagnose.judge.mechanism import Weighed
from necroscope.diagnose.judge.recurrence import projection
from necroscope.diagnose.judge.rivals import claim, strongest
from necroscope.diagnose.judge.suspects import SOFTIRQ_THREAD, title, top_functions, unusual
from necroscope.diagnose.judge.wording import by_chance, named_core, when
from necroscope.diagnose.leak import words
from necroscope.quantity import count, share, span
from necroscope.vocabulary.case import Case, Run
from necroscope.vocabulary.model import Evidence
from necroscope.vocabulary.verdict import Link, ProcessRef, Tested

_SPLIT = ("system", "softirq", "irq", "user", "steal")
_NO_IDLE = 0.96
_WAITED_S = 0.2
_DELAYED = 0.01
_WAITS_MOST = 3
_SURE_ENOUGH = 0.95


def symptom_link(case: Case) -> Link:
    """What it is all about."""
    one = case.symptom
    evidence = Evidence(one.text or one.kind, one.source, one.kind, window=(one.at_ns, one.at_ns))
    about = f" of {one.subject}" if one.subject else ""
    return Link("symptom", f"{one.kind}{about} at {iso(one.at_ns)}", (evidence,))


def core_link(case: Case, run: Run, average: float | None, strength: float | None = None, doubt: str = "") -> Link:
    """The starved core."""
    split = ", ".join(f"{mode} {share(run.share(mode))}" for mode in _SPLIT if run.share(mode) >= 0.005)
    source = "cpu" if run.counted else "samples"
    had = "had no idle time" if run.busy >= _NO_IDLE else f"was {share(run.busy)} busy"
    evidence = [
        Evidence(f"core {run.cpu} {had} for {span(run.seconds)}", source, round(run.seconds, 1), "s", run.window),
        Evidence(f"it went to {split}", source, round(run.kernel, 3), "share in the kernel", run.window),
    ]
    if average is not None and case.cores > 1:
        text = f"all {case.cores} cores together were {share(average)} busy"
        evidence.append(Evidence(text, source, round(average, 3), "share", run.window))
    if (named := case.named) is not None:
        evidence.append(Evidence(named_core(named), named.source, named.cpu, "core"))
    claim = f"core {run.cpu} was starved for {span(run.seconds)}, {when(case.symptom, run)}"
    return Link("starved-core", claim, tuple(evidence), strength, doubt)


def links(case: Case, one: Conclusion, rivals: tuple[Tested, ...]) -> tuple[Link, ...]:
    """From the symptom to its cause, and what stands beside it."""
    made = [
        symptom_link(case),
        core_link(case, one.candidate.run, one.starvation.average_busy, _round(one.core), _core_doubt(case, one)),
    ]
    if (blocked := _blocked(one)) is not None:
        made.append(blocked)
    if one.rival is None:
        made += [_on_core(case, one), _mechanism(one)]
        if one.orderer is not None:
            made.append(_ordered(one))
        made += _accumulation(case, one)
    else:
        made.append(_rival(one))
    made += _whom(one)
    if (again := one.again.link(one.priors)) is not None:
        made.append(again)
    if one.grows == "zombies" and (back := projection(case.boots)) is not None:
        made.append(back)
    return (*made, *standing(one, rivals))


def _round(strength: float) -> float:
    return round(strength, 3)


def _core_doubt(case: Case, one: Conclusion) -> str:
    run, named = one.candidate.run, case.named
    if named is not None and named.cpu != run.cpu:
        return f"{named_core(named)}, not core {run.cpu}"
    if not case.symptom.asked and run.from_ns >= case.symptom.at_ns:
        return "it began when the symptom had been reported"
    ago_s = (case.symptom.at_ns - run.to_ns) / NS
    if ago_s > soon_s(run, one.priors):
        return f"it ended {span(ago_s)} before the symptom"
    return "another starved core, or another process on it, suits nearly as well" if one.core < _SURE_ENOUGH else ""


# -- who waited, who was on it ----------------------------------------------------------------------------------


def _blocked(one: Conclusion) -> Link | None:
    run, numbers = one.candidate.run, one.facts
    waits = sorted(one.starvation.waits, key=lambda wait: -wait.seconds)
    others = [wait for wait in waits if wait.seconds >= _WAITED_S and (one.rival or not is_own(wait, one.suspect))]
    evidence = [
        Evidence(
            f"{wait.name} (pid {wait.pid}) waited {span(wait.seconds)} for a core",
            "processes",
            round(wait.seconds, 2),
            "s",
            run.window,
        )
        for wait in others[:_WAITS_MOST]
    ]
    if (delay := numbers.get("cpu_run_delay_seconds_core", 0.0)) >= _DELAYED:
        text = f"tasks waited {delay:.2f} s a second for core {run.cpu}"
        evidence.append(Evidence(text, "run-delay", round(delay, 2), "s/s", run.window))
    if (squeezed := numbers.get("softnet_squeezed_rounds_core", 0.0)) >= 1:
        text = f"{count(squeezed)} polling rounds a second on it ended with packets left"
        evidence.append(Evidence(text, "softnet", round(squeezed, 1), "1/s", run.window))
    if not evidence:
        return None
    claim = f"{others[0].name} waited {span(others[0].seconds)} for it" if others else "tasks waited for it"
    return Link("blocked", claim, tuple(evidence))


def _on_core(case: Case, one: Conclusion) -> Link:
    suspect, run, line_up = one.suspect, one.candidate.run, one.candidate.line_up
    text = f"{title(suspect)} took {share(suspect.share)} of core {run.cpu}"
    evidence = [Evidence(text, "samples", round(suspect.seconds, 2), "s", run.window)]
    if suspect.before is not None:
        usual = f"in {line_up.blocks} quiet windows it took {share(suspect.before)}; {by_chance(suspect.chance)}"
        evidence.append(Evidence(usual, "samples", round(suspect.before, 4), "share of the core"))
    functions = ", ".join(f"{name} {share(part)}" for name, part in top_functions(suspect.stacks))
    where = f"{share(suspect.kernel)} of that in the kernel" + (f"; most of it in {functions}" if functions else "")
    evidence.append(Evidence(where, "samples", round(suspect.kernel, 3), "share", run.window))
    if suspect.cgroup:
        evidence.append(Evidence(f"its cgroup is {suspect.cgroup}", "samples", suspect.cgroup))
    if line_up.sampled < one.priors.score_sampled and run.counted:
        why = f"only {share(line_up.sampled)} of the time could be sampled: {_kept_away(case, run)}"
        evidence.append(Evidence(why, "samples", round(line_up.sampled, 3), "share", run.window))
    return Link("on-core", text, tuple(evidence), _round(one.who), _who_doubt(case, one))


def _who_doubt(case: Case, one: Conclusion) -> str:
    suspect, line_up = one.suspect, one.candidate.line_up
    if constant(one.starvation, case.recorded, one.priors):
        return "it was so from the first recorded second on, and nothing was recorded to compare with"
    if suspect.before is None or line_up.blocks == 0:
        return "there are no quiet times to compare with"
    if not unusual(suspect, one.priors):
        return "it takes about as much in quiet times"
    if line_up.sampled < 0.5:
        return f"only {share(line_up.sampled)} of the time could be sampled"
    part = min(1.0, suspect.share / max(0.05, min(1.0, line_up.sampled)))
    if one.who < _SURE_ENOUGH and part < _SURE_ENOUGH:
        return f"{share(1 - part)} of what was sampled on the core was somebody else's"
    return ""


def _kept_away(case: Case, run: Run) -> str:
    """Why a busy core has few samples: lost ones are reported by the recorder, steal by the core's counters."""
    if any(run.from_ns - 2 * NS <= at <= run.to_ns + 2 * NS for at in case.lost_ns):
        return "the recorder lost some"
    if run.share("steal") >= 0.2:
        return f"the hypervisor had the core for {share(run.share('steal'))} of it"
    return "interrupts were off, so that no clock could ring"


def process_of(one: Conclusion) -> ProcessRef | None:
    """Who was on the core; of soft interrupts the kernel's thread, where it worked them off. A rival is nobody."""
    if one.rival is not None:
        return None
    if one.suspect.context and one.suspect.pid is not None:
        return ProcessRef(f"{SOFTIRQ_THREAD}{one.candidate.run.cpu}", one.suspect.pid)
    return ProcessRef(one.suspect.name, one.suspect.pid) if one.suspect.name else None


# -- by what -----------------------------------------------------------------------------------------------------


def _mechanism(one: Conclusion) -> Link:
    best = one.best
    functions = f" ({', '.join(best.functions[:4])})" if best.functions else ""
    stacks = f"{share(best.share)} of its samples are of this kind{functions}"
    evidence = (
        Evidence(stacks, "samples", round(best.share, 3), "share", one.candidate.run.window),
        *best.evidence,
        *([Evidence(best.hypothesis.expensive, "mechanisms")] if best.hypothesis.expensive else ()),
    )
    claim = best.hypothesis.title
    if (either := one.found.either) is not None:
        claim = f"{claim}, or {either.hypothesis.title}"
    return Link("mechanism", claim, evidence, _round(one.mechanism), _mechanism_doubt(best, one))


def _mechanism_doubt(best: Weighed, one: Conclusion) -> str:
    if one.found.either is not None:
        return f"{one.found.either.hypothesis.id} explains about as much"
    if best.hypothesis.nameless == "kernel":
        return "no entry of the catalogue names this kernel path"
    if best.hypothesis.nameless == "user":
        return "computing is what a core is for" if one.mechanism < _SURE_ENOUGH else ""
    if one.mechanism >= _SURE_ENOUGH:
        return ""
    if best.judged.failed and not best.judged.confirmed:
        check, value = best.judged.failed[0]
        return f"{check.fact} does not confirm it ({value:.3g})"
    if not best.judged.confirmed:
        return "no number confirms it: only the functions on the core show it"
    return f"{share(1 - best.share)} of the samples do not show it" if best.share < _SURE_ENOUGH else ""


def _rival(one: Conclusion) -> Link:
    """The rival that explains more than any mechanism."""
    rival, mine = one.rival, one.rival_test
    assert rival is not None and mine is not None  # noqa: PT018  the caller asks for it only then
    doubt = f"it explains {share(claim(mine, one.priors))} of the lost time"
    if one.uncompared:
        doubt = f"nothing is known of quiet times to compare it with; {doubt}"
    return Link("mechanism", f"{rival.title}: {mine.because}", mine.evidence, _round(one.mechanism), doubt)


def _ordered(one: Conclusion) -> Link:
    orderer = one.orderer
    assert orderer is not None
    usual = f", {orderer.lift:.0f} times as much as in quiet times" if orderer.lift is not None else ""
    text = f"{orderer.name} ordered it: {share(orderer.part)} of the calls that make such work were its"
    evidence = Evidence(f"{text}{usual}", "samples", round(orderer.seconds, 2), "s", one.candidate.run.window)
    return Link("ordered-by", text, (evidence,))


# -- what was left behind, by whom, whom to act on -------------------------------------------------------------------


def _accumulation(case: Case, one: Conclusion) -> Iterator[Link]:
    if one.grows == "zombies":
        evidence = words.grew(case.leaks)
        if (total := one.facts.get("zombies")) is not None:
            live = one.facts.get("live")
            text = f"{count(total)} zombies" + (f", {count(live)} live" if live is not None else "")
            evidence.insert(0, Evidence(text, "memcg", int(total), "cgroups", one.candidate.run.window))
        pin = words.pinned(case.leaks)
        if evidence:
            yield Link("accumulation", "zombie memory cgroups accumulate", (*evidence, *([pin] if pin else ())))
    elif one.grows == "directories" and "directories" in one.facts:
        number = int(one.facts["directories"])
        evidence = [Evidence(f"{count(number)} cgroup directories hold no process", "memcg", number, "cgroups")]
        yield Link("accumulation", "cgroup directories accumulate", tuple(evidence))


def _whom(one: Conclusion) -> Iterator[Link]:
    if (leak := one.leak) is not None:
        claim = f"{leak.subject.kind} {leak.subject.name} leaks them"
        doubt = leak.doubt or ("" if one.whom >= _SURE_ENOUGH else _leak_doubt(one))
        yield Link("leak-source", claim, leak.evidence, _round(one.whom), doubt)
        if leak.unit is not None and (why := words.why_it_runs(leak.unit)):
            yield Link("why-it-runs", words.in_short(leak.unit), tuple(why))
        return
    if one.subject is None:
        who = "who leaks them" if one.grows else "whom to act on"
        yield Link("subject", f"{who} could not be shown", (), _round(one.whom), "nobody is named to act on")
        return
    claim = f"{one.subject.kind} {one.subject.name} is what to act on"
    yield Link("subject", claim, (), _round(one.whom), one.doubt_of_subject)


def _leak_doubt(one: Conclusion) -> str:
    leak = one.leak
    witnesses = {each.kind for each in leak.witnesses} if leak is not None else set()
    if leak is not None and leak.subject.kind == "process":
        return "it is known by what it made only: no manager of units or containers reports it"
    if "time" not in witnesses and "counts" not in witnesses:
        return "neither the times nor the number of restarts were seen to agree with the leaks"
    return "part of what was left behind cannot be shown to be its"


def standing(one: Conclusion, rivals: tuple[Tested, ...]) -> Iterator[Link]:
    """Rivals whose own numbers speak for them; the strongest of them lowers the confidence."""
    first = strongest(rivals, one.priors)
    for each in rivals:
        if each.outcome != "not-ruled-out":
            continue
        strength = _round(one.beside) if each is first else None
        claim = f"{each.hypothesis} is not ruled out: {each.because}"
        doubt = _rival_doubt(each) if each is first else ""
        yield Link("not-ruled-out", claim, each.evidence, strength, doubt)


def _rival_doubt(one: Tested) -> str:
    if one.explains is None:
        return "how much of the lost time it cost is not known"
    return f"its own numbers explain {share(one.explains)} of the lost time"
