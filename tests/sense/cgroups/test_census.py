"""The census on captured hosts: every mode, and what must stay unknown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.sense.cgroups import census
from necroscope.sense.cgroups.census import count_zombies, take_census
from necroscope.sense.cgroups.census_sensor import Memcg
from necroscope.sense.host import Host
from necroscope.sense.kernel.memcg_walk import Walk
from necroscope.sense.replay import encode
from necroscope.vocabulary.model import Census, Family, ParentCount, Pin, Unseen

Lay = Callable[[str], Host]


def _numbers(counted: Census) -> tuple[int | None, int | None, int | None, str]:
    return counted.tracked, counted.live, counted.zombies, counted.counted_by


def _reasons(unseen: tuple[Unseen, ...]) -> str:
    return "\n".join(line.reason for line in unseen)


def test_the_incident(captured: Lay) -> None:
    counted, unseen = take_census(captured("incident"))
    assert _numbers(counted) == (68_680, 240, 68_440, "proc-cgroups")
    assert "may walk every zombie" in _reasons(unseen)


def test_v2_attributes_to_the_nearest_live_ancestor(captured: Lay) -> None:
    counted, _ = take_census(captured("v2-nested"))
    assert _numbers(counted) == (95, 8, 87, "cgroup-stat")
    assert counted.by_parent == (
        ParentCount("/kubepods.slice/kubepods-burstable.slice/pod1.slice", 60),
        ParentCount("/kubepods.slice/kubepods-burstable.slice", 20),
        ParentCount("/system.slice/a.service", 7),
    )


def test_newer_kernels_tell_memory_apart(captured: Lay) -> None:
    counted, _ = take_census(captured("v2-6.12"))
    assert _numbers(counted) == (28, 3, 25, "cgroup-stat")
    assert counted.by_parent == (ParentCount("/apps", 20), ParentCount("/apps/web", 5))


def test_a_missing_row_means_nothing_where_v2_counts(captured: Lay) -> None:
    counted, _ = take_census(captured("v2-memory-row-missing"))
    assert _numbers(counted) == (15, 12, 3, "cgroup-stat")


def test_a_missing_row_on_v1_is_unknown_not_zero(captured: Lay) -> None:
    counted, unseen = take_census(captured("v1-memory-row-missing"))
    assert (counted.tracked, counted.live, counted.zombies) == (None, 2, None)
    assert "unknown, not zero" in _reasons(unseen)


def test_hybrid_counts_where_the_memory_controller_is(captured: Lay) -> None:
    counted, _ = take_census(captured("hybrid"))
    assert _numbers(counted) == (105, 5, 100, "proc-cgroups")
    assert counted.pinned_by == (Pin("tmpfs", 409600), Pin("page-cache", 4096))


@pytest.mark.parametrize("name", ["container-v1", "container-v1-namespace"])
def test_inside_a_container_the_hosts_count_is_no_alarm(captured: Lay, name: str) -> None:
    counted, unseen = take_census(captured(name))
    assert (counted.tracked, counted.live, counted.zombies, counted.host_wide) == (68_680, None, None, True)
    assert "cgroup namespace" in _reasons(unseen)


def test_inside_a_v2_namespace_its_own_subtree_counts(captured: Lay) -> None:
    counted, unseen = take_census(captured("container-v2"))
    assert _numbers(counted) == (6, 2, 4, "cgroup-stat")
    assert not counted.host_wide
    assert "its own cgroups" in _reasons(unseen)


def test_co_mounted_controllers(captured: Lay) -> None:
    host = captured("v1-co-mounted")
    for path in ("a/b", "c d"):
        (host.root / "cgroup/cpu and memory" / path).mkdir(parents=True)
    counted, _ = take_census(host)
    assert _numbers(counted) == (9, 4, 5, "proc-cgroups")


def test_a_recorded_walk_names_them(captured: Lay) -> None:
    host = captured("incident")
    family = Family("/docker/<id>", "/docker", 68_440)
    walked = Walk(live=240, zombies=68_440, by_parent=(ParentCount("/docker", 68_440),), families=(family,))
    (host.root / "necroscope/memcg_walk.json").write_text(json.dumps(encode(walked)))
    counted, unseen = take_census(host)
    assert _numbers(counted) == (68_680, 240, 68_440, "kernel-walk")
    assert counted.families == (family,)
    assert unseen == ()


def _cut_short(zombies: int, by_parent: tuple[ParentCount, ...] = ()) -> Walk:
    reasons = ("the walk ran out of time",)
    return Walk(1, zombies, by_parent=by_parent, partial=True, reasons=reasons)


def _with(host: Host, walk: Walk) -> tuple[Census, tuple[Unseen, ...]]:
    (host.root / "necroscope").mkdir(exist_ok=True)
    (host.root / "necroscope/memcg_walk.json").write_text(json.dumps(encode(walk)))
    return take_census(host)


@pytest.mark.parametrize(
    ("name", "numbers"), [("v2-nested", (95, 8, 87, "cgroup-stat")), ("hybrid", (105, 5, 100, "proc-cgroups"))]
)
def test_a_walk_that_stopped_early_does_not_hide_what_files_count(
    captured: Lay, name: str, numbers: tuple[int, int, int, str]
) -> None:
    counted, unseen = _with(captured(name), _cut_short(0))
    assert (_numbers(counted), counted.partial) == (numbers, True)
    assert sum(row.zombies for row in counted.by_parent) == (87 if name == "v2-nested" else 0)
    assert "ran out of time" in _reasons(unseen)


def test_a_walk_that_stopped_early_keeps_what_it_saw_more(captured: Lay) -> None:
    counted, _ = _with(captured("v2-nested"), _cut_short(90, (ParentCount("/seen", 90),)))
    assert (counted.zombies, counted.counted_by, counted.by_parent) == (90, "kernel-walk", (ParentCount("/seen", 90),))


def test_leaked_directories_are_distinguished_from_what_is_empty_by_nature(captured: Lay) -> None:
    host = captured("hybrid")
    memory = host.root / "sys/fs/cgroup/memory"
    for number in range(12):
        for name in (f"pods/{number:032x}", f"mounts/var-{number}.mount", f"used/{number:032x}"):
            (memory / name).mkdir(parents=True)
            (memory / name / "cgroup.procs").write_text("7\n" if name.startswith("used") else "")
    counted, _ = take_census(host)
    assert counted.leaked_directories == 12
    assert [family.pattern for family in counted.leaked_families] == ["/pods/<id>"]


def test_mglru_names_them_where_the_walk_cannot(captured: Lay) -> None:
    host = captured("hybrid")
    listed = host.root / "sys/kernel/debug/lru_gen"
    listed.parent.mkdir(parents=True)
    lines = [f"memcg     0 /box/a/job-{number:032x}\n node     0\n" for number in range(98)]
    listed.write_text("memcg     1 \n node     0\nmemcg     2 /box/a\n" + "".join(lines))
    counted, _ = take_census(host)
    assert counted.by_parent == (ParentCount("/box/a", 98),)
    assert [(family.pattern, family.zombies) for family in counted.families] == [("/box/a/job-<id>", 98)]
    assert counted.partial


def test_a_capture_that_was_cut_short_counts_nothing(captured: Lay) -> None:
    host = captured("incident")
    manifest = host.root / "necroscope/manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "truncated": ["/sys/fs/cgroup/memory"]}))
    counted, unseen = take_census(host)
    assert (counted.tracked, counted.live, counted.zombies, counted.host_wide) == (68_680, None, None, False)
    assert "cut short" in _reasons(unseen)


def test_100_000_live_cgroups_are_counted_within_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wide(Host):
        """A hundred thousand leaves, none of which may be listed."""

        def __init__(self) -> None:
            super().__init__()
            self.reads = 0

        def subdirectories(self, path: str):  # type: ignore[no-untyped-def]
            assert path in ("/m", "/m/wide")
            yield from ([("wide", True)] if path == "/m" else ((f"{n:032x}", False) for n in range(100_000)))

        def read_or_none(self, path: str, limit: int = 0) -> bytes | None:
            self.reads += 1
            now[0] += 20e-6
            return b""

    now = [0.0]
    monkeypatch.setattr(census.clock, "elapsed_s", lambda: now[0])
    host = Wide()
    tree = census._read_tree(host, census.Mount("/m", "/", False, frozenset({"memory"})))
    assert len(tree.paths) == 100_002
    assert not tree.complete
    assert host.reads <= census._TREE_BUDGET_S / 20e-6 + 1


def test_more_directories_than_the_kernel_tracks_make_no_sense(captured: Lay) -> None:
    host = captured("hybrid")
    for number in range(200):
        (host.root / f"sys/fs/cgroup/memory/extra-{number}").mkdir()
    counted, unseen = take_census(host)
    assert counted.zombies is None
    assert "no sense" in _reasons(unseen)


def test_no_hierarchy_with_memory_is_unavailable(captured: Lay) -> None:
    host = captured("v2-nested")
    (host.root / "sys/fs/cgroup/cgroup.controllers").write_text("cpu pids\n")
    with pytest.raises(Unavailable, match="memory controller"):
        take_census(host)


@pytest.mark.parametrize("name", ["proc/self/mountinfo", "proc/cgroups", "sys/fs/cgroup/cgroup.stat"])
@pytest.mark.parametrize("data", [b"", b"\x00\xff" * 100, b"nr_dying_descendants 18446744073709551616\n"])
def test_broken_files_are_unavailable_or_unknown(captured: Lay, name: str, data: bytes) -> None:
    host = captured("v2-nested")
    (host.root / name).write_bytes(data)
    try:
        counted, _ = take_census(host)
    except Unavailable:
        return
    assert counted.zombies in (87, None)


# -- the count alone -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["v2-nested", "v2-6.12", "v2-memory-row-missing", "v1-memory-row-missing", "hybrid"])
def test_the_count_alone_is_the_same_as_in_the_census(captured: Lay, name: str) -> None:
    host = captured(name)
    whole, _ = take_census(host)
    counted, _ = count_zombies(host)
    assert _numbers(counted) == _numbers(whole)
    assert counted.by_parent == (whole.by_parent if whole.mode == "v2" else ())
    assert (counted.families, counted.pinned_by, counted.leaked_directories) == ((), (), None)


@pytest.mark.parametrize(("name", "hierarchy"), [("v2-nested", 0), ("hybrid", 4), ("incident", 11)])
def test_the_hierarchy_of_memory_is_reported(captured: Lay, name: str, hierarchy: int) -> None:
    assert count_zombies(captured(name))[0].hierarchy == hierarchy


# -- growth ------------------------------------------------------------------------------------------------


def _reading(captured: Lay, family: Family) -> Census:
    host = captured("incident")
    walked = Walk(live=240, zombies=family.zombies, families=(family,))
    (host.root / "necroscope/memcg_walk.json").write_text(json.dumps(encode(walked)))
    (counted,) = Memcg().read(host).records
    assert isinstance(counted, Census)
    return counted


def test_growth_by_ages(captured: Lay) -> None:
    counted = _reading(captured, Family("/a", "/", 900, born_last_hour=360))
    assert (counted.growth_per_hour, counted.growth_basis) == (360.0, "ages")


def test_growth_since_boot_when_ages_are_unknown(captured: Lay) -> None:
    counted = _reading(captured, Family("/a", "/", 1680))
    assert (counted.growth_per_hour, counted.growth_basis) == (10.0, "since-boot")


def test_growth_measured_between_two_looks(captured: Lay, monkeypatch: pytest.MonkeyPatch) -> None:
    host = captured("v2-nested")
    sensor = Memcg()
    monkeypatch.setattr(census.clock, "elapsed_s", lambda: 100.0)
    sensor.read(host)
    (host.root / "sys/fs/cgroup/cgroup.stat").write_text("nr_descendants 7\nnr_dying_descendants 97\n")
    monkeypatch.setattr(census.clock, "elapsed_s", lambda: 110.0)
    (counted,) = sensor.read(host).records
    assert isinstance(counted, Census)
    assert (counted.growth_per_hour, counted.growth_basis) == (3600.0, "measured")
    assert (counted.measured_born, counted.measured_s) == (10, 10.0)


def test_a_dear_count_is_taken_seldom(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A tree of tens of thousands of directories takes a third of a second to count."""
    now_s, spent_s, taken = [1000.0], [0.0], list[float]()

    def take(host: Host) -> tuple[Census, tuple[Unseen, ...]]:
        spent_s[0] += 0.3 if len(taken) < 2 else 0.01
        taken.append(now_s[0])
        return Census("v1", 9, 2, 7, "proc-cgroups"), (Unseen("memcg", "a part is hidden"),)

    monkeypatch.setattr("necroscope.sense.cgroups.census_sensor.clock.elapsed_s", lambda: now_s[0])
    monkeypatch.setattr("necroscope.sense.cgroups.census_sensor.clock.thread_cpu_s", lambda: spent_s[0])
    sensor = Memcg(take, rest=200.0)
    for _ in range(15):
        reading = sensor.read(Host(tmp_path))
        assert reading.unseen == (Unseen("memcg", "a part is hidden"),)
        assert bool(reading.samples) == (taken[-1] == now_s[0])
        assert sensor.last is not None
        now_s[0] += 10.0
    assert taken == [1000.0, 1060.0, 1120.0, 1130.0, 1140.0]
