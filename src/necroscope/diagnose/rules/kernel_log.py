"""What the kernel itself complained about."""

from __future__ import annotations

from collections.abc import Iterator

from necroscope.clock import NS, iso
from necroscope.diagnose.fact import Symptoms
from necroscope.quantity import count, span
from necroscope.vocabulary.model import Evidence, Finding, Subject, Symptom
from necroscope.vocabulary.symptom_kind import Kind

_FRESH_NS = 24 * 3600 * NS
_SOMETIME_NS = 10**18  # September 2001: no kernel that this reads was running before
# What a symptom's details say that an operator asks first.
_TELLING = ("reason", "stall_us", "scope", "oom_memcg", "task_memcg", "invoker")
_ADVICE = {
    "nic": ("see what held the core that polls this queue in the seconds before, before suspecting hardware",),
    "oom-kill": ("see what grew below the limit that was hit; the task that was killed need not be the one that grew",),
}


def kernel_log(symptoms: Symptoms) -> Iterator[Finding]:
    """Finds symptoms in the kernel log, one finding per kind and device; older than a day, they are only mentioned."""
    groups: dict[tuple[str, str], list[Symptom]] = {}
    for symptom in symptoms.items:
        groups.setdefault((symptom.kind, symptom.device), []).append(symptom)
    for (kind, _), members in groups.items():
        members.sort(key=lambda symptom: -symptom.at_ns)
        yield _finding(members, symptoms.kinds[kind], symptoms.now_ns)


def _finding(members: list[Symptom], kind: Kind, now_ns: int) -> Finding:
    last = members[0]
    times = sum(symptom.repeats for symptom in members)
    fresh = not _dated(last) or now_ns - last.at_ns < _FRESH_NS
    often = "once" if times == 1 else f"{count(times)} times"
    when = f"last {span(max(0, now_ns - last.at_ns) / NS)} ago" if _dated(last) else "when is not known"
    on = f" on {last.device}" if last.device else ""
    return Finding(
        last.kind,
        kind.severity if fresh else "info",
        f"{last.kind.replace('-', ' ')}{on}, {often}, {when}: {kind.help}",
        _subject(last),
        tuple(_evidence(symptom) for symptom in members[:5]),
        _ADVICE.get(kind.family, ()),
    )


def _dated(symptom: Symptom) -> bool:
    """False for times that count from boot because the capture holds no clock; unknown is not old."""
    return symptom.at_ns >= _SOMETIME_NS and symptom.uncertainty_ns < symptom.at_ns


def _subject(symptom: Symptom) -> Subject:
    if symptom.device:
        return Subject("device", symptom.device)
    if (limit := dict(symptom.details).get("oom_memcg")) is not None:
        return Subject("cgroup", limit)
    if symptom.cpu is not None:
        return Subject("cpu", str(symptom.cpu))
    return Subject("process", symptom.task) if symptom.task else Subject("kernel", symptom.kind)


def _evidence(symptom: Symptom) -> Evidence:
    named = {"queue": symptom.queue, "CPU": symptom.cpu, "task": symptom.task or None, "in": symptom.function or None}
    parts = [f"{name} {value}" for name, value in named.items() if value is not None]
    parts += [f"{name} {value}" for name, value in symptom.details if name in _TELLING]
    times = f" ×{count(symptom.repeats)}" if symptom.repeats > 1 else ""
    about = f" ({', '.join(parts)})" if parts else ""
    when = f"{iso(symptom.at_ns)} ±{span(symptom.uncertainty_ns / NS)}" if _dated(symptom) else "undated"
    text = f"{when}{times}{about}: {symptom.text}"
    return Evidence(text, symptom.source, symptom.repeats, "times")
