"""Synthetic cases of which the truth is clear: what must be named, or that nobody may be."""

from __future__ import annotations

from collections.abc import Mapping

from necroscope.vocabulary.case import Caller, Case, Quota, RecorderStart
from necroscope.vocabulary.leak_facts import LeakFacts, LeakUnit
from necroscope.vocabulary.model import Subject
from necroscope.vocabulary.verdict import Verdict
from stage.build_case import (
    EXEC,
    LEAKER,
    NET_RX,
    ODD,
    SEND,
    SMAPS,
    USER,
    again,
    at,
    case,
    leaks,
    mark,
    other,
    starvation,
    suspect,
    zombie_walk,
)

Truth = tuple[str, Subject | None] | None
"""The cause and whom to act on; None: nobody may be named."""
_ALWAYS = suspect("steady", USER, 0.25, before=0.25, chance=0.5, cgroup="/steady")
_HOG = starvation(suspect("hog", USER))
_ODD_ALONE = starvation(suspect("odd", ODD), waits={"bystander": 0.4})
_CONSTANT = starvation(suspect(before=None), blocks=0, whole=(-900, -2), waits={"victim": 6.0})
_QUOTA = starvation(suspect(share=0.5), _ALWAYS, quotas=[Quota("/jobs/one", 0.9, 0.0)])

CLEAR: Mapping[str, tuple[Case, Truth]] = {
    "a walk over zombies that a unit leaks": (
        case(zombie_walk(), leaks=leaks()),
        ("zombie-memcg", Subject("unit", LEAKER)),
    ),
    "a walk over zombies that nobody is known to leak": (case(zombie_walk()), ("zombie-memcg", None)),
    "a reader of smaps in a unit": (
        case(
            starvation(suspect(cgroup="/system.slice/monitor.service")),
            leaks=LeakFacts(units=(LeakUnit("monitor.service", "/system.slice/monitor.service"),), systemd=True),
        ),
        ("smaps-walk", Subject("unit", "monitor.service")),
    ),
    "a program that computes while another one waits": (
        case(starvation(suspect("hog", USER), waits={"victim": 6.5})),
        ("user-hog", Subject("process", "hog")),
    ),
    "odd kernel work while another one waits": (
        case(starvation(suspect("odd", ODD), waits={"victim": 6.5})),
        ("unknown-mechanism", Subject("process", "odd")),
    ),
    "a flood of packets that one here sends": (
        case(
            starvation(
                suspect(shapes=NET_RX, context="softirq"),
                callers=[Caller("shouter", "/loud", SEND[1:3], 4.5, 0.0, (78,))],
                core_softirq_before=0.01,
                nic_rx_packets=1.0,
                softnet_processed_packets_core=9e4,
            )
        ),
        ("softirq-flood", Subject("process", "shouter")),
    ),
    "a storm of programs": (
        case(
            starvation(
                suspect("true", {EXEC: 0.6, USER: 0.4}, processes=300, cgroup="/jobs"),
                callers=[Caller("forker", "/jobs", ("kernel_clone",), 0.5, 0.0, (9,))],
                execs=400.0,
                execs_before=2.0,
            )
        ),
        ("exec-storm", Subject("process", "forker")),
    ),
    "a hypervisor that takes the core": (
        case(starvation(suspect(share=0.25), steal=0.75, core_steal_before=0.01)),
        ("steal", None),
    ),
    "a quota that stops the job that complains": (
        case(_QUOTA, symptom=mark()),
        ("cpu-quota", Subject("cgroup", "/jobs/one")),
    ),
    "a program that computes, and nobody waits": (case(starvation(suspect("hog", USER), waits={"other": 0.3})), None),
    "a program that computes, and nobody knows whether somebody waits": (case(_HOG), None),
    "a program that computes near every symptom": (
        case(_HOG, others=tuple(other(again(_HOG, -90.0 * n), seconds=-90.0 * n) for n in range(1, 6))),
        None,
    ),
    "odd kernel work, and nobody waits": (case(_ODD_ALONE), None),
    "somebody who is always there": (
        case(starvation(suspect(before=0.9, chance=0.4), waits={"victim": 6.0})),
        None,
    ),
    "what was so from the first recorded second": (case(_CONSTANT), None),
    "what was so from the first recorded second, at every symptom": (
        case(_CONSTANT, others=tuple(other(again(_CONSTANT, -90.0 * n), seconds=-90.0 * n) for n in range(1, 6))),
        None,
    ),
    "the recorder's own start": (
        case(starvation(suspect("recorder", pid=314)), starts=(RecorderStart(at(-11), 314),)),
        None,
    ),
    "two on two cores": (
        case(starvation(suspect()), starvation(suspect("two", SMAPS, pid=78, cgroup="/two"), cpu=2)),
        None,
    ),
    "no starved core": (case(), None),
}


def outcome(verdict: Verdict, truth: Truth) -> str:
    """`right`, `abstained` (nobody, or the right cause with nobody to act on), or `wrong`."""
    if verdict.cause is None:
        return "right" if truth is None else "abstained"
    found = verdict.cause.kind, verdict.cause.subject
    if found == truth:
        return "right"
    return "abstained" if truth is not None and found == (truth[0], None) else "wrong"
