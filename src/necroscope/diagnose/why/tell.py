"""The links of a chain as claims with values, windows and sources; rivals among processes; what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from necroscope.case import Run
from necroscope.clock import NS, iso
from necroscope.diagnose.why import leak_words
from necroscope.diagnose.why.candidates import Candidate
from necroscope.diagnose.why.reason import Reasoned
from necroscope.diagnose.why.scene import BEFORE_NS, Scene
from necroscope.diagnose.why.suspects import Suspect, top_functions
from necroscope.diagnose.why.symptom import named_queue
from necroscope.diagnose.why.weigh import FEW_SAMPLES
from necroscope.errors import DAMAGE_HINT
from necroscope.model import Evidence
from necroscope.quantity import count, share, span
from necroscope.query.sealed import damaged
from necroscope.query.starved import mean_busy
from necroscope.verdict import Claim, Missing, Rejected

_SPLIT = ("system", "softirq", "irq", "user", "steal")
_WAITED_S = 0.2
_NO_IDLE = 0.96
_ABOUT_AS_WELL = 0.5
_MOSTLY = 0.8


def chain(scene: Scene, reasoned: Reasoned, waited: Sequence[tuple[str, int, float]]) -> tuple[Claim, ...]:
    """From the symptom to its cause."""
    best = reasoned.best
    claims = [_symptom(scene), _starved(scene, best.run), _walker(scene, reasoned.suspect, best), _mechanism(reasoned)]
    if victim := _victim(reasoned, best.run, waited):
        claims.insert(2, victim)
    claims += _leak(reasoned)
    if (orderer := reasoned.orderer) is not None:
        usual = f", {orderer.lift:.0f} times as much as in quiet times" if orderer.lift is not None else ""
        text = f"{orderer.name} ordered it: {share(orderer.part)} of the calls that make such work were its"
        evidence = Evidence(f"{text}{usual}", "samples", round(orderer.seconds, 2), "s", best.run.window)
        claims.append(Claim("leak-source" if reasoned.found.mechanism.grows else "orderer", text, (evidence,)))
    return tuple(claims)


def _symptom(scene: Scene) -> Claim:
    one = scene.symptom
    evidence = Evidence(one.text, one.source, one.kind, window=(one.at_ns, one.at_ns))
    about = f" of {one.subject}" if one.subject else ""
    return Claim("symptom", f"{one.kind}{about} at {iso(one.at_ns)}", (evidence,))


def _starved(scene: Scene, run: Run) -> Claim:
    split = ", ".join(f"{mode} {share(run.share(mode))}" for mode in _SPLIT if run.share(mode) >= 0.005)
    source = "cpu" if run.counted else "samples"
    had = "had no idle time" if run.busy >= _NO_IDLE else f"was {share(run.busy)} busy"
    evidence = [
        Evidence(f"core {run.cpu} {had} for {span(run.seconds)}", source, round(run.seconds, 1), "s", run.window),
        Evidence(f"it went to {split}", source, round(run.kernel, 3), "share in the kernel", run.window),
    ]
    average = mean_busy(scene.times, run.window)
    if average is not None and scene.cores > 1:
        text = f"all {scene.cores} cores together were {share(average)} busy"
        evidence.append(Evidence(text, source, round(average, 3), "share", run.window))
    if (named := scene.named) is not None:
        evidence.append(Evidence(named.text, named.source, named.cpu, "core"))
    return Claim(
        "starved-core", f"core {run.cpu} was taken for {span(run.seconds)}, {_when(scene, run)}", tuple(evidence)
    )


def _victim(reasoned: Reasoned, run: Run, waited: Sequence[tuple[str, int, float]]) -> Claim | None:
    others = [one for one in waited if one[0] != reasoned.suspect.name and one[2] >= _WAITED_S]
    evidence = [
        Evidence(
            f"{name} (pid {pid}) waited {span(seconds)} for a core", "processes", round(seconds, 2), "s", run.window
        )
        for name, pid, seconds in others[:3]
    ]
    facts = reasoned.facts
    if (delay := facts.get("cpu_run_delay_seconds_core")) is not None:
        text = f"tasks waited {delay:.2f} s a second for core {run.cpu}"
        evidence.append(Evidence(text, "run-delay", round(delay, 2), "s/s", run.window))
    squeezed = facts.get("softnet_squeezed_rounds_core", 0.0)
    if squeezed >= 1:
        text = f"{count(squeezed)} polling rounds a second on it ended with packets left"
        evidence.append(Evidence(text, "softnet", round(squeezed, 1), "1/s", run.window))
    if not evidence:
        return None
    return Claim("victim", "something waited for it", tuple(evidence))


def _walker(scene: Scene, suspect: Suspect, best: Candidate) -> Claim:
    run = best.run
    text = f"{suspect.title} took {share(suspect.share)} of core {run.cpu}"
    evidence = [Evidence(text, "samples", round(suspect.seconds, 2), "s", run.window)]
    if suspect.before is not None:
        chance = f"{suspect.chance:.1e}" if suspect.chance > 1e-99 else "below 1e-99"
        usual = f"in {best.lineup.blocks} quiet windows it took {share(suspect.before)}; by chance: {chance}"
        evidence.append(Evidence(usual, "samples", round(suspect.before, 4), "share of the core"))
    functions = ", ".join(f"{name} {share(part)}" for name, part in top_functions(suspect))
    where = f"{share(suspect.kernel)} of that in the kernel; most of it in {functions}"
    evidence.append(Evidence(where, "samples", round(suspect.kernel, 3), "share", run.window))
    if suspect.cgroup:
        evidence.append(Evidence(f"its cgroup is {suspect.cgroup}", "samples", suspect.cgroup))
    if best.lineup.sampled < FEW_SAMPLES and run.counted:
        why = f"only {share(best.lineup.sampled)} of the time could be sampled: {_kept_away(scene, run)}"
        evidence.append(Evidence(why, "samples", round(best.lineup.sampled, 3), "share", run.window))
    return Claim("walker", text, tuple(evidence))


def _kept_away(scene: Scene, run: Run) -> str:
    """Why a busy core has few samples: lost ones are told by the recorder, steal by the core's counters."""
    lost = ("samples-lost", "sampling-throttled", "recorder-gap")
    if any(one.kind in lost and run.from_ns - 2 * NS <= one.at_ns <= run.to_ns + 2 * NS for one in scene.told):
        return "the recorder lost some"
    if run.share("steal") >= 0.2:
        return f"the hypervisor had the core for {share(run.share('steal'))} of it"
    return "interrupts were off, so that no clock could ring"


def _mechanism(reasoned: Reasoned) -> Claim:
    found = reasoned.found
    functions = f" ({', '.join(found.functions[:4])})" if found.functions else ""
    stacks = f"{share(found.share)} of its samples are of this kind{functions}"
    evidence = (
        Evidence(stacks, "samples", round(found.share, 3), "share", reasoned.best.run.window),
        *found.evidence,
        *([Evidence(found.mechanism.expensive, "mechanisms")] if found.mechanism.expensive else ()),
    )
    return Claim("mechanism", found.mechanism.title, evidence)


def _leak(reasoned: Reasoned) -> Iterator[Claim]:
    if reasoned.found.mechanism.grows == "zombies":
        evidence = leak_words.grew(reasoned.leaks)
        if (total := reasoned.facts.get("zombies")) is not None:
            live = reasoned.facts.get("live")
            text = f"{count(total)} zombies in all" + (f", beside {count(live)} that live" if live is not None else "")
            evidence.insert(0, Evidence(text, "memcg", int(total), "cgroups", reasoned.best.run.window))
        pin = leak_words.pinned(reasoned.leaks)
        if evidence:
            yield Claim("grew", "removed memory cgroups pile up", (*evidence, *([pin] if pin else ())))
    elif reasoned.found.mechanism.grows == "directories" and "live" in reasoned.facts:
        live = reasoned.facts["live"]
        evidence = [Evidence(f"{count(live)} cgroup directories", "memcg", live, "cgroups")]
        yield Claim("grew", "cgroup directories pile up", tuple(evidence))
    source = reasoned.source
    if source is None:
        return
    yield Claim("leak-source", f"{source.subject.kind} {source.subject.name} leaks them", source.evidence)
    if source.unit is not None and (why := leak_words.why_it_runs(source.unit)):
        yield Claim("why-it-runs", leak_words.in_short(source.unit), tuple(why))


def others(
    scene: Scene, tried: Sequence[Candidate], blamed: Suspect | None, best: Candidate | None
) -> tuple[Rejected, ...]:
    """Processes and cores that were looked at and not blamed: always there, or less of it."""
    found: dict[tuple[str, int], Rejected] = {}
    still = {(suspect.name, one.run.cpu) for one, suspect in _may_be(tried)} if best is None else set()
    for one in tried[:3]:
        for suspect in one.lineup.suspects[:4]:
            if suspect is blamed or suspect.context or suspect.share < 0.1 or (suspect.name, one.run.cpu) in still:
                continue
            if blamed is not None and (suspect.name, suspect.cgroup) == (blamed.name, blamed.cgroup):
                continue
            found.setdefault((suspect.name, one.run.cpu), _other(scene, suspect, one, best))
    return tuple(found.values())


def _may_be(tried: Sequence[Candidate]) -> Iterator[tuple[Candidate, Suspect]]:
    """Where nobody is named: who may have been it for all that is known."""
    for one in tried[:3]:
        if one.suspect is None or not one.suspect.unusual or not one.score >= _ABOUT_AS_WELL * tried[0].score > 0:
            continue
        yield one, one.suspect
        for other in one.lineup.suspects:
            beside = not other.context and other.unusual and other.excess >= _ABOUT_AS_WELL * one.suspect.excess
            if beside and not set(other.pids) & set(one.suspect.pids):
                yield one, other


def not_ruled_out(scene: Scene, tried: Sequence[Candidate]) -> Claim | None:
    """Who may have been it, where the evidence is not enough to name one; None where nobody stands out."""
    found: dict[tuple[str, int], Evidence] = {}
    for one, suspect in _may_be(tried):
        text = f"{suspect.title} took {share(suspect.share)} of core {one.run.cpu} for {span(one.run.seconds)}"
        text += f", {_when(scene, one.run)}"
        usual = "nothing to compare" if suspect.before is None else f"{share(suspect.before)} in quiet times"
        where = ", ".join(name for name, _ in top_functions(suspect, 3))
        text += f"; {usual}; {share(suspect.kernel)} of it in the kernel, mostly {where}"
        evidence = Evidence(text, "samples", round(suspect.seconds, 2), "s", one.run.window)
        found.setdefault((suspect.title if suspect.context else suspect.name, one.run.cpu), evidence)
    if not found:
        return None
    names = " or ".join(dict.fromkeys(name for name, _ in found))
    return Claim("not-ruled-out", f"it may have been {names}: not enough to be sure", tuple(found.values()))


def _when(scene: Scene, run: Run) -> str:
    ago_s = (scene.symptom.at_ns - run.to_ns) / NS
    return "up to the symptom" if ago_s <= 1 else f"until {span(ago_s)} before the symptom"


def _other(scene: Scene, suspect: Suspect, one: Candidate, best: Candidate | None) -> Rejected:
    took = f"it took {share(suspect.share)} of core {one.run.cpu} for {span(one.run.seconds)}"
    if suspect.before is not None and not suspect.unusual:
        because = f"{took}, and {share(suspect.before)} in quiet times: always there, or by chance"
    elif best is not None and one is not best:
        ago_s = max(0.0, (scene.symptom.at_ns - one.run.to_ns) / NS)
        because = f"{took}, {span(ago_s)} before the symptom, {share(one.run.kernel)} of it in the kernel: suits less"
    else:
        because = f"{took}: too little"
    evidence = Evidence(took, "samples", round(suspect.seconds, 2), "s", one.run.window)
    return Rejected(f"process {suspect.name}", because, (evidence,))


def what_was_seen(scene: Scene, tried: Sequence[Candidate]) -> tuple[Claim, ...]:
    """For a verdict that names nobody: the symptom, and the starved core that suits best, if any."""
    claims = [_symptom(scene)]
    if tried:
        claims.append(_starved(scene, tried[0].run))
    return tuple(claims)


def no_core(scene: Scene) -> tuple[Rejected, ...]:
    """That no core was starved is itself a finding, where nearly all of the time before the symptom was recorded."""
    if not scene.counted:
        return ()
    at_ns = scene.symptom.at_ns
    window = at_ns - BEFORE_NS, at_ns
    covered = scene.covered(window)
    if covered < _MOSTLY:
        seconds = span(covered * BEFORE_NS / NS) if covered > 0 else "none"
        because = f"the cores' counters were read for {seconds} of the 45 s before it"
        return (Rejected("starved-core", because, tested=False),)
    average = mean_busy(scene.times, window)
    text = "no core was at least 97 % busy for 2 s in the 45 s before it"
    if average is not None:
        text += f"; all cores together were {share(average)} busy"
    return (Rejected("starved-core", text, (Evidence(text, "cpu", average, "share", window),)),)


def missing(scene: Scene, reasoned: Reasoned | None) -> Iterator[Missing]:
    """Links that could not be made with what was recorded."""
    if not scene.counted and damaged(scene.notes, "cores"):
        what = "the cores' own counters, which are damaged, as the notes say: idle and steal are guessed from samples"
        yield Missing(what, DAMAGE_HINT)
    elif not scene.counted and scene.times.at_ns.size:
        longest = span(int(scene.times.whole_ms.max()) / 1000)
        what = f"what the cores did second by second: of their counters only averages of up to {longest} are known"
        yield Missing(what, "make it with `mpstat -P ALL 1 -o JSON`, or record with necroscope record")
    elif not scene.counted:
        yield Missing("the cores' own counters: idle and steal are guessed from samples", "import mpstat -o JSON too")
    for hole in scene.holes:
        if hole.to_ns > scene.lookback[0] and hole.from_ns < scene.lookback[1]:
            yield Missing(hole.text, "what happened then is unknown; see necroscope events --kind recorder-gap")
    queue = named_queue(scene.symptom)
    if queue is not None and scene.named is None:
        what = f"which core serves queue {queue} of {scene.symptom.subject or 'the device'}: nobody recorded it"
        yield Missing(what, "look into /proc/interrupts and its smp_affinity_list on the node")
    for event in scene.told:
        if event.kind == "sensor-blind" and event.subject in ("run-delay", "systemd", "containers", "kmsg", "memcg"):
            yield Missing(f"{event.subject}: {event.text}", "see necroscope events --kind sensor-blind")
    if reasoned is None:
        return
    for check in reasoned.found.judged.unknown[:3]:
        yield Missing(
            f"{check.fact}, which would bear on {reasoned.found.mechanism.id}", "record with necroscope record"
        )
    if reasoned.found.mechanism.grows and reasoned.source is None:
        yield Missing(
            "who leaks: no cgroup was seen to be left behind, or nobody can be shown to own them",
            "record while the leaker runs, as root and with perf",
        )
    if reasoned.suspect.context and reasoned.orderer is None:
        yield Missing("who caused the interrupts: nobody on this node stands out as their source", "look at the sender")


def doubts(reasoned: Reasoned | None) -> Iterator[Missing]:
    """Why somebody who was looked at is not named."""
    if reasoned is not None:
        text = f"certainty: {reasoned.suspect.title} suits best, with a confidence of {reasoned.confidence:.2f}"
        yield Missing(f"{text}, which is below the floor", "wait for another symptom: recurrence makes it clearer")
