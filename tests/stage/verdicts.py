"""A verdict to tell: the seeds' incident, with every kind of link, and pictures."""

from __future__ import annotations

from necroscope.clock import NS
from necroscope.vocabulary.model import Evidence, Subject
from necroscope.vocabulary.verdict import (
    CandidateCause,
    Cause,
    Complaint,
    Growth,
    Link,
    Missing,
    ProcessRef,
    Remedy,
    Strip,
    Tested,
    Verdict,
)

AT_NS = 1_767_323_045_678_000_000  # 2026-01-02T03:04:05.678Z
WINDOW = (AT_NS - 9 * NS, AT_NS - 2 * NS)

SYMPTOM = Complaint("nic-reset", AT_NS, "kmsg", "ena eth0: Trigger reset is on, reason 15", "eth0", 0, 42)
_FIRST_NS = AT_NS - 3600 * NS
STRIP = Strip(
    39,
    AT_NS - 30 * NS,
    tuple(1.0 if 20 <= n < 27 else None if n == 3 else 0.1 for n in range(35)),
    tuple(0.98 if 20 <= n < 27 else None if n == 3 else 0.05 for n in range(35)),
    tuple(None if n == 3 else 0.08 for n in range(35)),
)
GROWTH = Growth(
    "zombies",
    tuple(_FIRST_NS + 10 * NS * n for n in range(361)),
    tuple(68_000 + n + n // 2 for n in range(361)),
    "acme-agent.service",
    tuple((_FIRST_NS + 300 * NS * n, 1) for n in range(12)),
)
LINKS = (
    Link(
        "symptom",
        "nic-reset of eth0 at 2026-01-02T03:04:05.678Z",
        (Evidence("ena eth0: Trigger reset is on, reason 15", "kmsg"),),
    ),
    Link(
        "starved-core",
        "core 39 was starved for 6.6 s, until 2.0 s before the symptom",
        (Evidence("core 39 had no idle time for 6.6 s", "cpu", 6.6, "s", WINDOW),),
        0.97,
    ),
    Link("blocked", "trainer waited 5.9 s for it", (Evidence("trainer (pid 4711) waited 5.9 s", "processes", 5.9),)),
    Link(
        "on-core",
        "statsd (pid 811) took 98 % of core 39",
        (Evidence("mem_cgroup_iter 44 %", "samples", 0.44),),
        0.91,
        "6 % of what was sampled on the core was somebody else's",
    ),
    Link(
        "mechanism",
        "the kernel iterates over zombie memory cgroups",
        (
            Evidence("82 % of its samples are of this kind", "samples", 0.82),
            Evidence("68,540 are in its tree", "zombies", 68_540),
            Evidence("Each costs a cache miss.", "mechanisms"),
        ),
        0.98,
    ),
    Link("ordered-by", "kubelet ordered it: 80 % of the calls that make such work were its"),
    Link(
        "accumulation",
        "zombie memory cgroups accumulate",
        (Evidence("68,540 zombies, 240 live", "memcg", 68_540, "cgroups"),),
    ),
    Link(
        "leak-source",
        "unit acme-agent.service leaks them",
        tuple(Evidence(f"fact {n}", "x") for n in range(9)),
        0.95,
    ),
    Link("why-it-runs", "acme-agent.service is enabled and never exited successfully"),
    Link("recurrence", "seen before both symptoms"),
    Link("projection", "at 360 an hour it comes back 8 d after a reboot"),
    Link("not-ruled-out", "steal is not ruled out: the hypervisor took 31 % of it", (), 0.93, "it explains 31 %"),
)
TESTED = (
    Tested(
        "page-faults",
        "ruled-out",
        "60,206 a second, 60,844 in quiet times",
        (Evidence("60,206", "vmstat", 60_206.4),),
        0.02,
    ),
    Tested("cpu-quota", "untested", "no cgroup with a quota was seen"),
)
CANDIDATES = (
    CandidateCause("zombie-memcg", 39, ProcessRef("statsd", 811), 0.931, 0.9712, "best match"),
    CandidateCause("memcg-reclaim", 39, ProcessRef("statsd", 811), 0.41, 0.3004, "42 % of the samples show it"),
)
EXPLAINED = Verdict(
    "explained",
    SYMPTOM,
    Cause("zombie-memcg", Subject("unit", "acme-agent.service"), ProcessRef("statsd", 811), 39, 0.9712),
    LINKS,
    TESTED,
    CANDIDATES,
    (Missing("run-delay: this kernel has no /proc/schedstat", "boot with schedstats=enable"),),
    (
        Remedy(
            "disable-unit",
            "acme-agent.service",
            "necroscope fix disable-unit -- acme-agent.service",
            "stop it.",
            "r",
            "none",
        ),
        Remedy("reboot", text="Reboot.", risk="hides the cause", cost="downtime", purges_existing=True),
    ),
    WINDOW,
    STRIP,
    GROWTH,
    ("the recording has a hole of 3 s",),
)
UNEXPLAINED = Verdict(
    "unexplained",
    SYMPTOM,
    None,
    (LINKS[0], Link("not-ruled-out", "it may have been spinner: not enough to be sure")),
    TESTED,
    missing=(Missing("no samples of core 39"),),
)
QUIET = Verdict("no-symptom")
