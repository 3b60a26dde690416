"""Whom not to blame: managers for what they make for others, bystanders by coincidence, servers for what they get."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from necroscope.diagnose.why.ask import explain
from necroscope.event import Event
from necroscope.model import ProcessUse, Sample, Subject, ZombieName
from necroscope.sense.containers import Containers
from necroscope.sense.throttle import Throttle
from necroscope.store.reader import Store
from necroscope.store.writer import Writer
from necroscope.verdict import Verdict
from stage.incident import NET_RX, SEND, SMAPS, SYSCALL, WALK, Played, at, nic_reset, unit
from stage.looked import Frames, One, batch

_MAKES: Frames = (*SYSCALL, ("cgroup_mkdir", "[kernel]"))
Maker = tuple[float, int, str, str]


def _id(what: object) -> str:
    return hashlib.sha256(str(what).encode()).hexdigest()


def _walked(place: str) -> Played:
    """An innocent process walks over 20,000 zombies that lie in some place."""
    node = Played(4, 90)
    node.usual()
    zombies = {"memcg_zombies": 20_000.0, "memcg_tracked": 20_100.0, "memcg_live": 100.0}
    node.gauges = {**zombies, "memcg_hierarchy": 4.0}
    node.does(2, 60, 67, 1.0, "walks", 900, frames=WALK, cgroup="/pods/job", mode="system")
    nic_reset(node, 70, 2)
    node.zombies = [(second, place, 20_000) for second in range(5, 90, 10)]
    node.uses.append((69, ProcessUse(501, 1, "victim", "/", 0.1, 0.0, 5.5, 1 << 20, 2)))
    return node


def _verdict(
    node: Played, folder: Path, makers: Sequence[Maker] = (), containers: Sequence[Sample] = ()
) -> tuple[Verdict, Subject | None]:
    node.write(folder)
    writer = Writer(folder, flush_s=1e9, segment_s=1e9, signals=Containers.signals)
    for second in range(0, 90, 10):
        writer.add_signals(at(second), containers, "containers")
    ones = [
        One(at(second), _MAKES, 0, pid, pid, comm, cgroup, "cgroup:cgroup_mkdir", 1)
        for second, pid, comm, cgroup in makers
    ]
    if ones:
        writer.add_samples(batch(ones))
    writer.close(merge=False)
    found = explain(Store(folder))
    assert found.cause is not None
    return found, found.cause.subject


@pytest.mark.parametrize(
    ("path", "maker"),
    [
        ("/kubepods/burstable/pod1/{id}", (7000, "runs-it", "/system.slice/engine.service")),
        ("/kubepods.slice/kubepods-podaa.slice/cri-{id}.scope", (1, "manager", "/init.scope")),
        ("/user.slice/user-0.slice/session-{n}.scope", (1, "manager", "/init.scope")),
        ("/pods/0a1b2c3d-0000-1111-2222-{n:012d}", (800, "runs-it", "/system.slice/engine.service")),
    ],
)
def test_who_makes_cgroups_for_others_does_not_leak_them(
    tmp_path: Path, path: str, maker: tuple[int, str, str]
) -> None:
    node, makers = _walked(path.partition("{")[0]), []
    for number in range(8):
        second = 5 + 7 * number
        node.leaks(second, path.format(id=_id(number), n=number), 100 + number, pid=maker[0])
        makers.append((second - 0.05, *maker))
    found, subject = _verdict(node, tmp_path, makers)
    assert (found.verdict, subject) == ("partly-explained", None)


def test_the_only_container_that_is_known_is_not_the_one_whose_id_is_another(tmp_path: Path) -> None:
    node = _walked("/docker")
    for number in range(8):
        node.leaks(5 + 7 * number, f"/docker/{_id(number)}", 100 + number, pid=7000 + number)
    node.events.append(Event(at(30), "container-restart", "containers", "exporter", count=1))
    known = [Sample("container_restarts", 1.0, ("exporter",)), Sample("container_known", 1, ("exporter", "ab" * 6))]
    assert _verdict(node, tmp_path, containers=known)[1] is None


def test_as_many_restarts_by_coincidence(tmp_path: Path) -> None:
    node, makers = _walked("/batch"), []
    for number in range(10):
        node.leaks(5 + 5 * number, f"/batch/job{number}", 100 + number, pid=4242)
        makers.append((5 + 5 * number - 0.05, 4242, "runs-jobs", "/runs-jobs"))
    node.events.append(Event(at(66), "container-restart", "containers", "harmless", count=8))
    known = [Sample("container_restarts", 90.0, ("harmless",))]
    assert _verdict(node, tmp_path, makers, known)[1] == Subject("process", "runs-jobs")


def test_a_few_new_ones_do_not_explain_the_pile_of_another(tmp_path: Path) -> None:
    node = _walked("/system.slice")
    for number in range(3):
        node.leaks(5 + 20 * number, "/system.slice/newcomer.service", 100 + number)
    node.units.append((50, unit("newcomer.service", "/system.slice/newcomer.service", 3)))
    old = "/system.slice/old-leaker.service"
    node.names = [(55, ZombieName(old, old, number, 9e4, 4096, "tmpfs")) for number in range(900)]
    assert _verdict(node, tmp_path)[1] == Subject("unit", "old-leaker.service")


def test_a_unit_inside_a_container_is_not_this_nodes(tmp_path: Path) -> None:
    node, inner = _walked("/docker"), _id("inner")
    for number in range(8):
        node.leaks(5 + 7 * number, f"/docker/{inner}/system.slice/agent.service", 100 + number)
    node.units.append((50, unit("agent.service", "/system.slice/agent.service", 0, failures=0, starts=1)))
    known = [Sample("container_known", 1, ("node-in-a-box", inner[:12])), Sample("container_known", 1, ("x", "y"))]
    assert _verdict(node, tmp_path, containers=known)[1] == Subject("container", "node-in-a-box")


@pytest.mark.parametrize(
    ("sender", "share", "subject"),
    [
        ("migration-tool", 0.7, Subject("process", "migration-tool")),
        ("answers", 0.1, None),
    ],
)
def test_who_sent_what_holds_a_core(tmp_path: Path, sender: str, share: float, subject: Subject | None) -> None:
    node = Played(4, 90)
    node.usual()
    node.does(2, 60, 67, 0.95, "steady", 502, frames=NET_RX, mode="softirq", cgroup="/steady")
    node.does(1, 60, 67, share, sender, 950, frames=SEND, mode="system", cgroup=f"/{sender}")
    nic_reset(node, 70, 2)
    node.uses.append((69, ProcessUse(501, 1, "victim", "/", 0.1, 0.0, 5.5, 1 << 20, 2)))
    assert _verdict(node, tmp_path)[1] == subject


def test_reclaim_beside_zombies_is_not_a_walk_over_them(tmp_path: Path) -> None:
    node = _walked("/system.slice/other.service")
    reclaims: Frames = (*WALK[:-1], ("shrink_lruvec", "[kernel]"))
    group = "/system.slice/too-big.service"
    node.work = [one for one in node.work if one.comm != "walks"]
    node.does(2, 60, 67, 1.0, "too-big", 900, frames=reclaims, cgroup=group, mode="system")
    for number in range(8):
        node.leaks(5 + 7 * number, "/system.slice/other.service", 100 + number)
    found, subject = _verdict(node, tmp_path)
    assert found.cause is not None
    assert found.cause.kind != "zombie-memcg"
    assert subject != Subject("unit", "other.service")


def test_a_rival_whose_own_numbers_speak_for_it_is_not_ruled_out_and_costs_confidence(tmp_path: Path) -> None:
    found = {}
    for share in (0.0, 0.45):
        node = Played(2, 90)
        node.usual()
        node.does(1, 60, 67, share, "hypervisor", 1, mode="steal", sampled=0.0)
        node.does(1, 60, 67, 1.0 - share, "reader", 77, frames=SMAPS, mode="system", cgroup="/r")
        nic_reset(node, 69)
        found[share] = explain(node.write(tmp_path / str(share)))
    clear, doubtful = found[0.0], found[0.45]
    assert clear.cause is not None
    assert "steal" in {one.hypothesis for one in clear.rejected}
    assert not [one for one in clear.chain if one.kind == "not-ruled-out"]
    assert "steal" not in {one.hypothesis for one in doubtful.rejected}
    assert any("the hypervisor took 45 %" in one.claim for one in doubtful.chain if one.kind == "not-ruled-out")
    assert doubtful.cause is None or doubtful.cause.confidence < 0.85 * clear.cause.confidence


@pytest.mark.parametrize(("source", "blamed"), [("mark", False), ("kmsg", True)])
def test_a_job_that_its_own_quota_stopped_is_not_blamed_on_a_bystander(
    tmp_path: Path, source: str, blamed: bool
) -> None:
    node = Played(2, 90)
    node.usual()
    node.does(1, 60, 67, 1.0, "reader", 77, frames=SMAPS, mode="system", cgroup="/r")
    node.uses.append((68, ProcessUse(501, 1, "job", "/jobs/one", 0.1, 0.0, 6.0, 1 << 20, 1)))
    if source == "mark":
        node.happens(69, "job-failed", "job 7 failed", source="mark")
    else:
        nic_reset(node, 69)
    node.write(tmp_path)
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9, signals=Throttle.signals)
    for number in range(20, 85):
        value = 0.9 * min(max(number - 60, 0), 7)
        writer.add_signals(at(number), [Sample("throttle_throttled_seconds", value, ("/jobs/one",))], "throttle")
    writer.close(merge=False)
    verdict = explain(Store(tmp_path))
    assert (verdict.cause is not None) is blamed
    if not blamed:
        assert any(
            "quotas stopped cgroups for 0.90 s" in one.claim for one in verdict.chain if one.kind == "not-ruled-out"
        )
