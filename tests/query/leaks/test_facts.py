"""Facts about leaks, read from a recording: whole, typed and bounded."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from necroscope.query.cgroup_lifetimes import Life
from necroscope.query.leaks.facts import read_leak_facts
from necroscope.query.leaks.lifetimes import left_of
from necroscope.query.leaks.restarts import restarts_of
from necroscope.query.leaks.zombies import looks_of
from necroscope.store.read.reader import Snapshot, Store
from necroscope.vocabulary.leak_facts import LEFT_MOST, LIVES_MOST, LOOKS_MOST, LeakFacts, Named
from necroscope.vocabulary.model import ContainerState, UnitState
from stage.incident import at, zombie_incident
from stage.leaking_node import LeakingNode, Maker, Zombie

ID = "0123456789abcdef" * 4


def _read(store: Store, second: float = 70) -> LeakFacts:
    return read_leak_facts(store, at(second), (at(0), at(90)), [])


def test_what_an_incident_tells(tmp_path: Path) -> None:
    facts = _read(zombie_incident().write(tmp_path))
    assert facts.span == (at(0), at(90))
    (left,) = facts.zombies.left
    assert (left.path, left.count, facts.zombies.left_total) == ("/system.slice/sunny-orchid.service", 7, 7)
    assert left.moments_ns[0] == at(4.3)
    assert [(one.parent, one.count) for one in facts.zombies.below] == [("/system.slice", 19_999)]
    assert facts.zombies.total == 19_999
    (growth,) = facts.zombies.growth
    assert (growth.first, growth.last) == (19_990, 19_999)
    assert [unit.name for unit in facts.units] == ["other-oak.service", "sunny-orchid.service"]
    assert (facts.units[1].restarts, facts.units[1].first_restarts, facts.units[1].result) == (9, 0, "exit-code")
    restarts = {one.name: one for one in facts.restarts}
    assert restarts["sunny-orchid.service"].exact_ns[0] == at(4.1)
    assert restarts["sunny-orchid.service"].times == 7
    assert (facts.systemd, facts.engines, facts.live) == (True, False, 100)


def test_names_makers_and_containers(tmp_path: Path) -> None:
    maker = Maker(42, "pool", "/tools")
    zombies = (
        *(Zombie("/system.slice/leaky.service") for _ in range(20)),
        *(Zombie(f"/docker/{ID}") for _ in range(4)),
        *(Zombie(f"/batch/job-{n}", maker) for n in range(9)),
    )
    web = ContainerState("docker", ID, "web", "img", "running", 4, deaths=3, past_ids=("ab" * 32,))
    node = LeakingNode(zombies, ("/", "/docker"), (), (web,), 5, (("container-restart", "web", 3),))
    facts = node.recorded(tmp_path)
    assert (facts.zombies.whole, facts.zombies.total, facts.zombies.named) == (True, 33, 33)
    families = {one.pattern: one for one in facts.zombies.families}
    assert families["/system.slice/leaky.service"].repeated == (Named("/system.slice/leaky.service", 20),)
    assert (families["/batch/job-<n>"].count, families["/batch/job-<n>"].newest[0]) == (9, "/batch/job-8")
    assert families["/docker/<id>"].parent == "/docker"
    assert [(one.pid, one.name, one.cgroup) for one in facts.makers] == [(42, "pool", "/tools")]
    (container,) = facts.containers
    assert (container.name, sorted(container.ids)) == ("web", sorted((ID[:12], "ab" * 6)))
    assert (container.restarts, container.deaths) == (4, 3)
    assert [(one.kind, one.name, one.times) for one in facts.restarts] == [("container", "web", 3)]


def test_facts_are_plain_values(tmp_path: Path) -> None:
    facts = _read(zombie_incident().write(tmp_path))
    written = json.loads(json.dumps(asdict(facts)))
    assert written["zombies"]["left"][0]["count"] == 7
    assert hash(facts) == hash(replace(facts))


def _life(number: int, path: str, maker: int | None = 42) -> Life:
    return Life(4, number, path, made_ns=10 * number, removed_ns=10 * number + 1, maker=maker)


def test_of_very_many_lives_the_latest_are_kept_and_the_rest_is_counted() -> None:
    made = [_life(number, f"/kubepods/burstable/pod/job-{number}", 42 + number) for number in range(20_000)]
    left, total = left_of(made, "zombies", ())
    assert total == sum(one.count for one in left) == 20_000
    kept = [one for one in left if one.moments_ns]
    assert len(kept) == LEFT_MOST
    assert kept[0].path == "/kubepods/burstable/pod/job-19999"
    (rest,) = [one for one in left if not one.moments_ns]
    assert (rest.path, rest.maker, rest.count) == ("/kubepods/burstable/pod/job-<n>", None, 20_000 - LEFT_MOST)
    alike, _ = left_of([_life(number, "/a") for number in range(5_000)], "zombies", ())
    assert [(one.count, len(one.moments_ns)) for one in alike] == [(5_000, LIVES_MOST)]
    hostile, total = left_of(
        [_life(n, f"/{'abcdefghij'[n % 10] * (n % 900 + 1)}") for n in range(20_000)], "zombies", ()
    )
    assert (total, sum(one.count for one in hostile)) == (20_000, 20_000)
    assert len(hostile) <= 2 * LEFT_MOST + 1


def test_a_whole_incident_stays_small(tmp_path: Path) -> None:
    """Tens of thousands of zombies of many names, containers and units: below 300 KB as JSON."""
    pods = [f"/kubepods.slice/kubepods-burstable.slice/pod-{n % 50}/{n:064x}" for n in range(3_000)]
    containers = tuple(
        ContainerState("docker", f"{n:064x}", f"container-{n}", "img", "running", n, past_ids=(f"{n + 999:064x}",))
        for n in range(60)
    )
    units = tuple(
        UnitState(f"unit-{n}.service", "activating", "auto-restart", "exit-code", n, control_group=f"/s.slice/unit-{n}")
        for n in range(300)
    )
    node = LeakingNode(tuple(Zombie(path) for path in pods), ("/",), units, containers, 3_000)
    facts = node.recorded(tmp_path)
    assert facts.zombies.left_total >= 2_900
    assert len(json.dumps(asdict(facts), separators=(",", ":"))) < 300_000


@pytest.mark.parametrize(
    ("kinds", "exact", "times"),
    [
        (["unit-start", "unit-failure"], 2, 4),  # nobody restarts it: starts are noticed
        (["unit-start", "unit-restart"], 1, 4),
        (["unit-restart"], 0, 4),
    ],
)
def test_restarts_are_exact_or_noticed(kinds: list[str], exact: int, times: int) -> None:
    rows = [{"at_ns": n, "kind": kind, "subject": "a", "count": 4} for n, kind in enumerate(kinds)]
    (found,) = restarts_of(rows)
    assert (len(found.exact_ns), found.times) == (exact, times)


def test_counts_over_weeks_are_thinned_and_keep_both_ends() -> None:
    rows = [{"at_ns": n, "parent": "/", "zombies": n} for n in range(5_000)]
    looks = looks_of(rows, Snapshot((), {}), (0, 1))
    assert (len(looks), looks[0], looks[-1]) == (LOOKS_MOST, (0, 0), (4_999, 4_999))


def test_a_recording_without_any_of_it(tmp_path: Path) -> None:
    node = zombie_incident()
    node.events, node.units, node.zombies, node.gauges = [], [], [], {}
    facts = _read(node.write(tmp_path))
    assert facts == LeakFacts(
        span=(at(0), at(90)),
        zombies=replace(facts.zombies, source="kernel memory"),
        directories=replace(facts.directories, source="memcg"),
    )
    assert (facts.zombies.total, facts.zombies.left_total, facts.systemd) == (None, 0, False)
