"""Each rule: a case that fires and a near miss that must not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.clock import NS
from necroscope.config import CpuLimits, CrashLoopLimits, ZombieLimits
from necroscope.diagnose.engine import diagnose, rules
from necroscope.diagnose.fact import (
    Containers,
    Cores,
    KernelMemory,
    Nics,
    Quota,
    Quotas,
    Symptoms,
    Turnovers,
    Units,
)
from necroscope.diagnose.rule import rule
from necroscope.sense.log.symptoms import catalogue
from necroscope.vocabulary.model import (
    Census,
    ContainerState,
    CoreShares,
    DirectoryFamily,
    Evidence,
    Family,
    Finding,
    NicState,
    ParentCount,
    Pin,
    ProcessTurnover,
    Subject,
    Symptom,
    UnitState,
)

RULES = rules(catalogue().kinds)
LIMITS: dict[type, object] = {
    ZombieLimits: ZombieLimits(),
    CrashLoopLimits: CrashLoopLimits(),
    CpuLimits: CpuLimits(),
}
CENSUS = Census(
    "v1",
    tracked=68_680,
    live=240,
    zombies=68_440,
    counted_by="kernel-walk",
    growth_per_hour=360.0,
    growth_basis="ages",
    by_parent=(ParentCount("/docker", 68_001), ParentCount("/box", 439)),
    families=(
        Family(
            "/docker/<id>", "/docker", 68_001, pins=(Pin("tmpfs", 4096 * 68_001, ("/dev/shm/a",)),), newest_age_s=4.0
        ),
        Family("/box/leaky.service", "/box", 439, pins=(Pin("page-cache", 439 * 4096),)),
    ),
    source="kernel memory",
)
UNIT = UnitState(
    "leaky.service",
    "activating",
    "auto-restart",
    "exit-code",
    439,
    exit_status=1,
    since_start_s=0.4,
    wanted_by=("multi-user.target",),
    unit_file_state="enabled",
    control_group="/box/leaky.service",
    ever_succeeded=False,
    last_lines=("no credentials",),
)


def _findings(*facts: object) -> list[Finding]:
    return list(diagnose({**LIMITS, **{type(fact): fact for fact in facts}}, RULES).findings)


def _texts(finding: Finding) -> str:
    return "\n".join(line.text for line in finding.evidence)


# -- zombie-memcg ------------------------------------------------------------------------------------


def test_many_zombies_are_critical_and_belong_to_their_parent() -> None:
    (finding,) = _findings(CENSUS)
    assert (finding.id, finding.severity, finding.subject) == ("zombie-memcg", "critical", Subject("cgroup", "/docker"))
    assert "68,680 memory cgroups, 240 are alive, 68,440 are zombies" in _texts(finding)
    assert "360 an hour were created lately and are still there (by their ages)" in _texts(finding)
    assert any("/dev/shm/a" in remedy for remedy in finding.remedies)


def test_the_leaker_is_the_subject_where_it_is_known() -> None:
    findings = [finding for finding in _findings(CENSUS, Units((UNIT,))) if finding.id == "zombie-memcg"]
    assert [finding.subject for finding in findings] == [Subject("cgroup", "/docker"), Subject("unit", "leaky.service")]
    assert "439 restarts against 439 zombies: one per restart" in _texts(findings[1])
    assert "68,001 of them below /docker" in findings[0].title
    assert "leaky" not in _texts(findings[0])
    assert "necroscope fix disable-unit -- leaky.service" in findings[1].remedies[0]


def test_a_few_hundred_zombies_that_do_not_grow_are_normal() -> None:
    calm = replace(CENSUS, zombies=999, families=(), growth_per_hour=6000.0)
    assert _findings(calm) == []
    assert _findings(replace(calm, zombies=1000))[0].severity == "warning"


def test_growth_counts_when_two_looks_have_seen_it() -> None:
    grown = replace(CENSUS, zombies=150, families=(), growth_basis="measured", measured_born=5, measured_s=5.0)
    assert _findings(replace(grown, growth_per_hour=3600.0))[0].severity == "warning"
    assert _findings(replace(grown, growth_per_hour=59.0)) == []
    assert _findings(replace(grown, growth_per_hour=3600.0, measured_born=4)) == []
    assert _findings(replace(grown, growth_per_hour=3600.0, zombies=99)) == []


def test_files_that_are_deleted_already_are_not_to_be_deleted() -> None:
    family = Family("/a/<n>", "/a", 5_000, pins=(Pin("tmpfs", 4096, ("/dev/shm/x (deleted)",)),))
    (finding,) = _findings(replace(CENSUS, zombies=5_000, families=(family,)))
    assert not any("/dev/shm/x" in remedy for remedy in finding.remedies)
    assert any("end the processes that still hold them" in remedy for remedy in finding.remedies)


@pytest.mark.parametrize("zombies", [None, 0])
def test_unknown_and_none_are_no_finding(zombies: int | None) -> None:
    assert _findings(replace(CENSUS, zombies=zombies)) == []


def test_an_ordinary_restart_is_no_leak() -> None:
    small = replace(CENSUS, zombies=9, families=(Family("/box/leaky.service", "/box", 9),))
    assert [f.id for f in _findings(small, Units((replace(UNIT, restarts=1),)))] == []


def test_what_zombies_cost_is_told() -> None:
    assert "700 MiB unreclaimable slab, 204 MiB per-CPU" in _texts(
        _findings(CENSUS, KernelMemory(700 << 20, 204 << 20))[0]
    )


# -- crash-loop ----------------------------------------------------------------------------------------


def test_a_crash_looping_unit() -> None:
    (finding,) = _findings(Units((UNIT,)))
    assert (finding.id, finding.severity, finding.subject.name) == ("crash-loop", "warning", "leaky.service")
    text = _texts(finding)
    assert "exit-code, status 1; now activating (auto-restart)" in text
    assert "the journal has no success of it" in text
    assert "wanted by multi-user.target" in text
    assert "log: no credentials" in text


def test_a_hostile_name_is_one_word_of_the_commands() -> None:
    (finding,) = _findings(Units((replace(UNIT, name="$(reboot).service"),)))
    assert finding.remedies[0].endswith("-u '$(reboot).service'")
    assert "necroscope fix disable-unit -- '$(reboot).service' (can be undone)" in finding.remedies[1]


def test_a_unit_that_recovered_is_only_mentioned() -> None:
    steady = replace(UNIT, active_state="active", sub_state="running", since_start_s=90_000.0)
    assert _findings(Units((steady,)))[0].severity == "info"
    assert _findings(Units((replace(UNIT, restarts=4),))) == []


def test_a_recreated_container_is_a_crash_loop_although_its_restart_count_is_zero() -> None:
    agent = ContainerState(
        "docker",
        "ab" * 32,
        "agent",
        "img",
        "running",
        0,
        5,
        age_s=11.0,
        since_start_s=10.0,
        deaths=12,
        past_ids=("cd" * 32,),
    )
    (finding,) = _findings(Containers((agent,)))
    assert finding.severity == "warning"
    assert finding.title == "container agent died and was recreated 12 times, now 10 s old"
    assert _findings(Containers((replace(agent, deaths=None),))) == []


def test_a_container_that_is_young_once_is_not_a_crash_loop() -> None:
    young = ContainerState("docker", "ab" * 32, "agent", "img", "running", 0, None, age_s=11.0, since_start_s=10.0)
    assert _findings(Containers((young,))) == []


def test_processes_that_come_and_go_are_mentioned() -> None:
    loop = Turnovers((ProcessTurnover("worker", "supervisor", "/box", (5, 9, 12), 3, 5.0),))
    assert _findings(loop)[0].severity == "info"
    assert _findings(Turnovers((replace(loop.items[0], starts=2),))) == []


# -- the others ------------------------------------------------------------------------------------------


def test_leaked_directories_are_another_disease() -> None:
    leaked = replace(
        CENSUS,
        zombies=0,
        leaked_directories=500,
        leaked_families=(DirectoryFamily("/pods/<id>", 500, ("/pods/ab",)),),
    )
    (finding,) = _findings(leaked)
    assert (finding.id, finding.subject.name) == ("leaked-directories", "/pods/<id>")
    assert _findings(replace(leaked, leaked_directories=499)) == []


def test_leaked_directories_below_a_unit_are_named_after_it() -> None:
    below = DirectoryFamily("/box/leaky.service/job-<n>", 600, ("/box/leaky.service/job-1",))
    leaked = replace(CENSUS, zombies=0, families=(), leaked_directories=700, leaked_families=(below,))
    (finding,) = [one for one in _findings(leaked, Units((UNIT,))) if one.id == "leaked-directories"]
    assert finding.subject == Subject("unit", "leaky.service")
    assert "600 of 700 directories were cgroups of leaky.service; 600 of these stood below" in _texts(finding)
    assert "600 like /box/leaky.service/job-<n>, such as /box/leaky.service/job-1" in _texts(finding)
    assert [one.split(":")[0] for one in finding.remedies] == [
        "necroscope fix disable-unit -- leaky.service",
        "necroscope fix remove-directories -- /box/leaky.service",
    ]


def _core(busy: float, system: float, cpu: int = 1) -> CoreShares:
    return CoreShares(cpu, busy - system, system, 0.0, 0.0, 0.0, 1 - busy, busy, 1.0)


def test_one_saturated_core_among_many() -> None:
    cores = (*(_core(0.02, 0.0, cpu) for cpu in range(95)), _core(1.0, 1.0, 95))
    assert _findings(Cores((_core(1.0, 1.0, 0), _core(1.0, 1.0, 1)), 5.0)) == []
    (finding,) = _findings(Cores(cores, 5.0))
    assert (finding.severity, finding.subject) == ("warning", Subject("cpu", "95"))
    assert "average 3 %" in finding.title
    assert _findings(Cores(cores, 0.25))[0].severity == "info"
    assert _findings(Cores((_core(1.0, 0.1),), 5.0))[0].severity == "info"
    assert _findings(Cores((_core(0.96, 0.96),), 5.0)) == []


def test_a_quota_that_bites() -> None:
    assert _findings(Quotas((Quota("/a", 1000, 250, 20.0),)))[0].severity == "info"
    assert _findings(Quotas((Quota("/a", 1000, 249, 20.0),))) == []
    assert _findings(Quotas((Quota("/a", 99, 99, 20.0),))) == []


def test_a_drivers_own_count_of_resets() -> None:
    nic = NicState("eth0", "ena", statistics=(("total_resets", 3), ("suspected_poll_starvation", 3), ("tx_timeout", 0)))
    (finding,) = _findings(Nics((nic,)))
    assert [line.value for line in finding.evidence] == [3, 3]
    quiet = NicState("eth0", "ena", statistics=(("total_resets", 0), ("queue_0_tx_napi_comp", 9), ("reset_fail_ok", 9)))
    assert _findings(Nics((quiet,))) == []


def test_symptoms_of_the_log_and_their_age() -> None:
    now_ns = 1_800_000_000 * NS
    kind = next(name for name, kind in catalogue().kinds.items() if name == "nic-reset" and kind.severity == "critical")
    fresh = Symptom(kind, now_ns - NS, NS // 1000, "ena eth0: reset", now_ns - NS, 2, "ena", "eth0", queue=5, cpu=39)
    (finding,) = _findings(Symptoms((fresh,), now_ns, catalogue().kinds))
    assert (finding.id, finding.severity, finding.subject) == (kind, "critical", Subject("device", "eth0"))
    assert "×2 (queue 5, CPU 39): ena eth0: reset" in _texts(finding)
    undated = replace(fresh, at_ns=4_000 * NS, uncertainty_ns=4_000 * NS)
    (finding,) = _findings(Symptoms((undated,), now_ns, catalogue().kinds))
    assert (finding.severity, "when is not known" in finding.title, "1970" in _texts(finding)) == (
        "critical",
        True,
        False,
    )
    old = replace(fresh, at_ns=now_ns - 90_000 * NS)
    assert _findings(Symptoms((old,), now_ns, catalogue().kinds))[0].severity == "info"


def test_an_oom_kill_is_about_the_cgroup_whose_limit_was_hit() -> None:
    now_ns = 1_800_000_000 * NS
    details = (("oom_memcg", "/box"), ("scope", "memcg"))
    kill = Symptom("oom-kill", now_ns, 1, "oom", now_ns, cpu=1, task="python", details=details)
    assert _findings(Symptoms((kill,), now_ns, catalogue().kinds))[0].subject == Subject("cgroup", "/box")


# -- the engine ----------------------------------------------------------------------------------------------


def test_a_rule_whose_fact_is_missing_is_skipped_and_says_so() -> None:
    skipped = {line.rule: line.missing for line in diagnose(LIMITS, RULES).skipped}
    assert skipped["zombie-memcg"] == ("Census",)
    assert skipped["crash-looping-units"] == ("Units",)
    assert "crash-looping-units" not in {line.rule for line in diagnose({**LIMITS, Units: Units(())}, RULES).skipped}


def test_the_worst_comes_first() -> None:
    severities = [finding.severity for finding in _findings(CENSUS, Units((UNIT,)), Cores((_core(1.0, 1.0),), 0.2))]
    assert severities == ["critical", "warning", "warning", "info"]


def test_an_undeclared_finding_is_a_defect() -> None:
    def odd(census: Census) -> list[Finding]:
        """Makes what it did not declare."""
        return [Finding("odd", "info", "odd", Subject("cgroup", "/"), (Evidence("x", "y"),))]

    odd.__annotations__ = {"census": Census}
    with pytest.raises(ValueError, match="does not declare"):
        rule(odd, "even").ask({Census: CENSUS})


def test_every_rule_says_what_it_finds() -> None:
    for each in RULES:
        assert each.function.__doc__, each.name
        assert each.finds, each.name
