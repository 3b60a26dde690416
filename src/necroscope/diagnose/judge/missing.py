"""What was not recorded and would have borne on the verdict, and time before the symptom that nobody saw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from necroscope.clock import NS, iso
from necroscope.diagnose.judge.candidates import Candidate
from necroscope.diagnose.judge.conclusion import Conclusion
from necroscope.diagnose.judge.suspects import title
from necroscope.errors import DAMAGE_HINT
from necroscope.quantity import span
from necroscope.vocabulary.case import Case, Gap
from necroscope.vocabulary.verdict import Missing

_CRITICAL_NS = 15 * NS
_LEAST_NS = 3 * NS
_CHECKS_MOST = 3
_BLINDS = ("run-delay", "systemd", "containers", "kmsg", "memcg")


def unseen(case: Case) -> Gap | None:
    """Time just before the symptom that nobody recorded; None where everything was."""
    at_ns = case.symptom.at_ns
    critical = at_ns - _CRITICAL_NS, at_ns
    for gap in case.gaps:
        if gap.subject == "sensors":
            continue
        if min(gap.to_ns, critical[1]) - max(gap.from_ns, critical[0]) >= _LEAST_NS:
            return gap
    if at_ns > case.recorded[1] + 3 * NS or at_ns < case.recorded[0] + 2 * NS:
        first, last = (iso(one) for one in case.recorded)
        return Gap(*critical, "recorder", f"the recording holds {first} to {last}, which is not the time before it")
    if case.counted and case.covered_close < 0.6:
        text = "the cores' counters were not read for most of the 15 s before it"
        return Gap(*critical, "sensors", text)
    return None


def stands_anyway(best: Candidate, case: Case) -> bool:
    """Whether a candidate stands by itself although time is missing: it goes on nearly up to the symptom."""
    near = case.symptom.at_ns - best.run.to_ns <= 6 * NS
    return near and best.run.seconds >= 4 and best.line_up.sampled >= 0.7


def of_time(gap: Gap) -> Missing:
    """That time before the symptom was not recorded."""
    hint = "keep the recorder running; give it a higher priority or a larger store"
    return Missing(f"the time before the symptom: {gap.text}", hint)


def nobody_seen(case: Case, tried: Sequence[Candidate]) -> Iterator[Missing]:
    """Why nobody is known to have been on a core."""
    if not tried or any(one.suspect is not None for one in tried):
        return
    cpu = tried[0].run.cpu
    if {"samples", "stacks"} & set(case.damaged):
        yield Missing(f"who was on core {cpu}: the samples are damaged, as the notes say", DAMAGE_HINT)
    else:
        yield Missing(f"who was on core {cpu}: it has no samples", "record with perf, as root")


def missing(case: Case, one: Conclusion | None) -> Iterator[Missing]:
    """Links that could not be made with what was recorded."""
    yield from _counters(case)
    for gap in case.gaps:
        if gap.to_ns > case.lookback[0] and gap.from_ns < case.lookback[1]:
            yield Missing(gap.text, "what happened then is unknown; see necroscope events --kind recorder-gap")
    queue = case.symptom.queue
    if queue is not None and case.named is None:
        what = f"which core serves queue {queue} of {case.symptom.device or case.symptom.subject or 'the device'}"
        yield Missing(f"{what}: not recorded", "look into /proc/interrupts and its smp_affinity_list on the node")
    for blind in case.blinds:
        if blind.sensor in _BLINDS:
            yield Missing(f"{blind.sensor}: {blind.text}", "see necroscope events --kind sensor-blind")
    if one is None:
        return
    for check in one.best.judged.unknown[:_CHECKS_MOST] if one.rival is None else ():
        yield Missing(f"{check.fact}, which would bear on {one.best.hypothesis.id}", "record with necroscope record")
    if one.grows and one.leak is None:
        yield Missing(
            "who leaks: no cgroup was seen to be left behind, or its owner cannot be shown",
            "record while the leaker runs, as root and with perf",
        )
    if one.suspect.context and one.orderer is None and one.rival is None:
        yield Missing("who caused the interrupts: nobody on this node stands out as their source", "look at the sender")
    if one.doubt_of_subject and one.subject is not None:
        what = f"whether {one.subject.kind} {one.subject.name} is what it is called: {one.doubt_of_subject}"
        yield Missing(what, "look at it on the node: systemctl status")


def _counters(case: Case) -> Iterator[Missing]:
    if case.counted:
        return
    if "cores" in case.damaged:
        what = "the cores' own counters, which are damaged, as the notes say: idle and steal are guessed from samples"
        yield Missing(what, DAMAGE_HINT)
    elif case.averages_of_s:
        longest = span(case.averages_of_s)
        what = f"what the cores did second by second: of their counters only averages of up to {longest} are known"
        yield Missing(what, "make it with `mpstat -P ALL 1 -o JSON`, or record with necroscope record")
    else:
        yield Missing("the cores' own counters: idle and steal are guessed from samples", "import mpstat -o JSON too")


def not_sure(one: Conclusion | None) -> Iterator[Missing]:
    """Why somebody who was looked at is not named."""
    if one is not None:
        best = one.rival.title if one.rival is not None else title(one.suspect)
        text = f"certainty: {best} is the best match, with a confidence of {one.confidence:.2f}"
        yield Missing(f"{text}, which is below {one.priors.floor:.2f}", "another symptom would make it clearer")
