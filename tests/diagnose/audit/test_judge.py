"""Who is orphaned, failing, needed, idle; each with a near miss that must not be called so."""

from __future__ import annotations

import pytest

from necroscope.config import CrashLoopLimits
from necroscope.diagnose.audit import judge_all, roles_of
from necroscope.vocabulary.conclusions.audit import Audited, AuditFacts, Workload
from stage.workloads import container, facts, looping, resting, running

ROLES = roles_of()
KUBELET = "/var/lib/kubelet/config.yaml"
ECS = "/etc/ecs/ecs.config"


def judged(given: AuditFacts, name: str) -> Audited:
    audited, _ = judge_all(given, ROLES, CrashLoopLimits())
    return next(one for one in audited if one.workload.name == name)


def words(one: Audited) -> str:
    return "; ".join(reason.text for reason in one.reasons)


def test_an_agent_of_an_orchestrator_that_does_not_own_the_node_is_orphaned() -> None:
    found = judged(
        facts(running("kubelet.service"), looping("ecs.service", left=68_440), found=(KUBELET,)), "ecs.service"
    )
    assert (found.judgement, found.role, found.orchestrator) == ("orphaned", "orchestrator", "ecs")
    said = words(found)
    assert "it belongs to ecs (Amazon ECS agent), which was not set up here" in said
    assert "kubernetes owns this node: kubelet.service has been running for 1 h" in said
    assert "no other unit needs it" in said
    assert "it was never seen to succeed" in said
    assert "systemd restarted it 400 times, last 0.4 s ago" in said
    assert "68,440 cgroups of it were removed and are still kept by the kernel" in said


def test_the_container_of_such_an_agent_is_orphaned_too() -> None:
    agent = container("ecs-agent", "amazon/amazon-ecs-agent:latest", "restarting", restarts=4120, exit_status=5)
    found = judged(facts(running("kubelet.service"), agent), "ecs-agent")
    assert found.judgement == "orphaned"
    assert "restarting with exit status 5" in words(found)


@pytest.mark.parametrize(
    ("workloads", "found", "expected"),
    [
        # its own node, on which nothing runs: idle is not orphaned
        ([running("ecs.service")], (), "needed"),
        ([looping("ecs.service")], (), "failing"),
        # somebody set it up here, beside Kubernetes: it fails, and whoever set it up knows why
        ([running("kubelet.service"), looping("ecs.service")], (ECS,), "failing"),
        # it succeeds, beside Kubernetes
        ([running("kubelet.service"), running("ecs.service")], (KUBELET,), "needed"),
        # it succeeded once
        ([running("kubelet.service"), looping("ecs.service", ever_succeeded=True)], (KUBELET,), "failing"),
        # somebody else cannot do without it
        (
            [
                running("kubelet.service"),
                running("billing.service"),
                looping("ecs.service", needed_by=("billing.service",)),
            ],
            (KUBELET,),
            "failing",
        ),
        # nobody starts it
        ([running("kubelet.service"), resting("ecs.service", unit_file_state="disabled")], (KUBELET,), "idle"),
        # Kubernetes is not what owns this node: its agent fails, and nobody configured it
        ([looping("kubelet.service"), looping("ecs.service")], (), "failing"),
    ],
)
def test_near_misses_of_orphans(workloads: list[Workload], found: tuple[str, ...], expected: str) -> None:
    assert judged(facts(*workloads, found=found), "ecs.service").judgement == expected


def test_one_that_a_boot_starts_and_that_happens_not_to_run_is_orphaned_all_the_same() -> None:
    """The healthy zone: a bootstrap failure kept the agent from starting."""
    found = judged(facts(running("kubelet.service"), resting("ecs.service"), found=(KUBELET,)), "ecs.service")
    assert found.judgement == "orphaned"
    assert "no success of it is known, and no failure either" in words(found)


def test_units_of_one_orchestrator_do_not_hold_each_other() -> None:
    plugin = running("amazon-ecs-volume-plugin.service")
    agent = looping("ecs.service", needed_by=("amazon-ecs-volume-plugin.service", "multi-user.target"))
    assert (
        judged(facts(running("kubelet.service"), plugin, agent, found=(KUBELET,)), "ecs.service").judgement
        == "orphaned"
    )


def test_exporters_of_an_idle_node_are_needed() -> None:
    node = facts(running("kubelet.service"), running("node_exporter.service"), found=(KUBELET,))
    found = judged(node, "node_exporter.service")
    assert (found.judgement, found.role) == ("needed", "exporter")


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        (looping("batch.service"), "failing"),
        (looping("batch.service", restarts=4, runs=running("x").runs, result="success"), "idle"),
        (running("batch.service"), "unknown"),
        (running("batch.service", needed_by=("web.service",)), "needed"),
        (resting("batch.service", unit_file_state="masked"), "idle"),
        (resting("batch.service", triggered_by=("batch.timer",)), "idle"),
    ],
)
def test_units_without_a_role(workload: Workload, expected: str) -> None:
    assert judged(facts(workload, running("web.service")), "batch.service").judgement == expected


def test_a_unit_that_crashed_long_ago_and_runs_since_is_not_failing() -> None:
    steady = running("node_exporter.service", restarts=40, up_s=400.0)
    young = running("node_exporter.service", restarts=40, up_s=10.0)
    assert judged(facts(steady), steady.name).judgement == "needed"
    assert judged(facts(young), young.name).judgement == "failing"


def test_what_needs_somebody_comes_first() -> None:
    node = facts(
        running("kubelet.service"),
        running("odd.service"),
        looping("ecs.service"),
        looping("a.service"),
        resting("b.service"),
    )
    audited, owners = judge_all(node, ROLES, CrashLoopLimits())
    assert [one.judgement for one in audited] == ["orphaned", "failing", "unknown", "idle", "needed"]
    assert [(one.orchestrator, one.standing) for one in owners] == [("kubernetes", "owns"), ("ecs", "present")]
