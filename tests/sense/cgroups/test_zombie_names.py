"""Names of zombies: asked when the count has changed, not too often, each told once; and for real."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from necroscope.lab.actors.zombies import ZombieFarm, own_name
from necroscope.sense.cgroups import zombie_names
from necroscope.sense.cgroups.census import count_zombies, take_census
from necroscope.sense.cgroups.census_sensor import Memcg
from necroscope.sense.cgroups.zombie_names import NAMED_MOST, ZombieNames
from necroscope.sense.host import Host
from necroscope.sense.kernel.memcg_walk import Walk, Zombie
from necroscope.vocabulary.model import Census, Family, ParentCount, Pin, Sample, Unseen, ZombieName

HERE = Host()


def zombie(serial: int) -> Zombie:
    return Zombie(f"/docker/{serial:064x}", serial, 7000 + serial, 3.0, 16, 1, (Pin("tmpfs", 65536),))


class Stage:
    """A count, a walk and a clock that a test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.zombies, self.walk_cpu_s, self.now_s, self.cpu_s, self.walks = 0, 0.05, 1000.0, 0.0, 0
        self.by_parent: tuple[ParentCount, ...] = ()
        self.living: list[int] = []
        self.unseen: tuple[Unseen, ...] = ()
        self.families: tuple[Family, ...] = ()
        self.slices, self.given_up = 1, 0
        monkeypatch.setattr(zombie_names, "take_census", self._census)
        monkeypatch.setattr(zombie_names.clock, "elapsed_s", lambda: self.now_s)
        monkeypatch.setattr(zombie_names.clock, "thread_cpu_s", lambda: self.cpu_s)
        self.memcg = Memcg()
        self.sensor = ZombieNames(self.memcg, self._begin)  # type: ignore[arg-type]

    def look(self, after_s: float, zombies: Iterable[int]) -> tuple[list[ZombieName], tuple[Sample, ...]]:
        self.now_s += after_s
        self.living = list(zombies)
        count = len(self.living)
        self.memcg.last = Census("v1", count, 0, count, "proc-cgroups", by_parent=self.by_parent)
        reading = self.sensor.read(HERE)
        assert reading.unseen == self.unseen
        return [one for one in reading.records if isinstance(one, ZombieName)], reading.samples

    def _census(self, host: Host, walk: object) -> tuple[Census, tuple[Unseen, ...]]:
        self.walks += 1
        walked = walk(host)  # type: ignore[operator]
        parents = (ParentCount("/docker", len(self.living)),)
        counted = Census("v1", 1, 0, walked.zombies, "kernel-walk", by_parent=parents, leaked_directories=4)
        return replace(counted, families=self.families), self.unseen

    def _begin(self, host: Host, on_zombie: Callable[[Zombie], None], most_s: float) -> SlowWalk:
        return SlowWalk(self, on_zombie)


class SlowWalk:
    """A walk over who lives when it begins, in as many slices as the stage says."""

    def __init__(self, stage: Stage, on_zombie: Callable[[Zombie], None]) -> None:
        self.stage, self.on_zombie, self.left = stage, on_zombie, list(stage.living)
        self.each, self.slices = -(-len(self.left) // stage.slices), stage.slices

    def advance(self, slice_s: float) -> Walk | None:
        self.stage.cpu_s += self.stage.walk_cpu_s / self.slices
        part, self.left = self.left[: self.each], self.left[self.each :]
        for serial in part:
            self.on_zombie(zombie(serial))
        return None if self.left else Walk(live=1, zombies=len(self.stage.living))

    def close(self) -> None:
        self.stage.given_up += 1


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(monkeypatch)


def test_each_zombie_is_reported_once(stage: Stage) -> None:
    first, samples = stage.look(10, [1, 2])
    assert first[1] == ZombieName(f"/docker/{1:064x}", "/docker/<id>", 7001, 3.0, 65536, "tmpfs")
    assert samples == (Sample("memcg_leaked_directories", 4), Sample("memcg_zombies_below", 2, ("/docker",)))
    assert stage.look(10, [1, 2]) == ([], ())
    again, _ = stage.look(10, [1, 2, 3])
    assert [one.cgroup_id for one in again] == [7003]


def test_of_many_the_youngest_are_reported(stage: Stage) -> None:
    names, _ = stage.look(10, range(1, 1001))
    assert [one.cgroup_id for one in names] == [8000 - number for number in range(NAMED_MOST)]
    assert stage.look(600, range(1, 1001))[0] == []


def test_a_long_walk_is_made_in_slices_and_the_youngest_are_reported_at_its_end(stage: Stage) -> None:
    stage.slices = 4
    for _ in range(3):
        assert stage.look(10, range(1, 1001)) == ([], ())
    names, samples = stage.look(10, range(1, 1001))
    assert [one.cgroup_id for one in names] == [8000 - number for number in range(NAMED_MOST)]
    assert samples[0] == Sample("memcg_leaked_directories", 4)
    assert (stage.walks, stage.given_up) == (1, 1)


def test_in_a_later_walk_the_new_are_reported_with_their_slice(stage: Stage) -> None:
    stage.look(10, range(1, 101))
    stage.slices, living = 4, [*range(1, 101), *range(501, 504)]
    looks = [stage.look(20, living)[0] for _ in range(4)]
    assert [[one.cgroup_id for one in names] for names in looks] == [[], [], [], [7503, 7502, 7501]]
    stage.look(20, living)
    early = [600, *living]
    looks = [stage.look(20, early)[0] for _ in range(4)]
    assert [[one.cgroup_id for one in names] for names in looks] == [[7600], [], [], []]


def test_the_rest_counts_all_slices(stage: Stage) -> None:
    stage.walk_cpu_s, stage.slices = 0.4, 4
    for _ in range(4):
        stage.look(10, range(1, 101))
    stage.look(70, range(1, 102))
    assert stage.walks == 1
    stage.look(20, range(1, 102))
    assert stage.look(10, range(1, 102))[0] == []
    for _ in range(3):
        stage.look(10, range(1, 102))
    assert stage.walks == 2


def test_to_save_cpu_a_walk_under_way_is_given_up(stage: Stage) -> None:
    stage.slices = 4
    stage.look(10, range(1, 101))
    stage.sensor.spare(True)
    stage.unseen = (Unseen("zombie-names", "to save CPU, new zombies are counted and not named"),)
    stage.look(10, range(1, 101))
    assert (stage.walks, stage.given_up) == (0, 1)


def test_names_that_come_again_and_again_are_counted(stage: Stage) -> None:
    old, new, few = (f"/system.slice/{name}.service" for name in ("old", "new", "few"))
    stage.families = (
        Family(old, "/system.slice", 900, repeated=((old, 900),)),
        Family("/system.slice/<x>.service", "/system.slice", 12, repeated=((new, 7), (few, 4))),
        Family("/docker/<id>", "/docker", 5000),
    )
    _, samples = stage.look(10, [1, 2])
    called = [(one.labels, one.value) for one in samples if one.signal == "memcg_zombies_called"]
    assert called == [((old,), 900), ((new,), 7)]


def test_a_dear_walk_is_rare_and_an_unchanged_count_needs_none(stage: Stage) -> None:
    stage.walk_cpu_s = 0.5
    stage.look(10, [1])
    for _ in range(14):
        assert stage.look(10, [1, 2]) == ([], ())
    assert stage.walks == 1
    assert len(stage.look(10, [1, 2])[0]) == 1
    stage.walk_cpu_s = 0.0
    stage.look(150, [1, 2, 3])
    for _ in range(59):
        stage.look(10, [1, 2, 3])
    assert stage.walks == 3
    stage.look(10, [1, 2, 3])
    assert stage.walks == 4


def test_parents_that_files_tell_are_not_reported_twice(stage: Stage) -> None:
    stage.by_parent = (ParentCount("/docker", 1),)
    _, samples = stage.look(10, [1])
    assert samples == (Sample("memcg_leaked_directories", 4),)


def test_where_files_tell_no_count_the_walk_does(stage: Stage) -> None:
    for walks in (1, 2):
        stage.now_s += 20.0
        stage.living = [1, 2, 3]
        stage.memcg.last = Census("v1", 900, None, None, "proc-cgroups", host_wide=True)
        samples = stage.sensor.read(HERE).samples
        assert samples[1:3] == (Sample("memcg_zombies", 3), Sample("memcg_live", 0))
        assert stage.walks == walks


def test_what_could_not_be_seen_stays_so_between_walks(stage: Stage) -> None:
    stage.unseen = (Unseen("memcg-names", "no BPF"),)
    stage.look(10, [1])
    stage.look(10, [1])


def test_to_save_cpu_nothing_is_named_and_that_is_said(stage: Stage) -> None:
    stage.unseen = (Unseen("zombie-names", "to save CPU, new zombies are counted and not named"),)
    stage.sensor.spare(True)
    assert stage.look(10, [1]) == ([], ())
    assert stage.walks == 0
    stage.unseen = ()
    stage.sensor.spare(False)
    assert len(stage.look(10, [1])[0]) == 1


def test_without_a_count_nothing_is_asked(stage: Stage) -> None:
    stage.memcg.last = None
    assert stage.sensor.read(HERE).records == ()
    assert stage.walks == 0


@pytest.mark.root
@pytest.mark.bpf
def test_real_zombies_are_counted_by_files_and_named_once() -> None:
    memcg = Memcg(count_zombies)
    sensor = ZombieNames(memcg)
    with ZombieFarm(own_name("names")) as farm:
        farm.make("tmpfs", 9, "leaky", "job-<n>")
        memcg.read(HERE)
        names = [one for one in sensor.read(HERE).records if isinstance(one, ZombieName)]
        own = [one for one in names if one.path.startswith(farm.path)]
        assert len(own) == 9
        assert {one.family for one in own} == {own[0].family}
        assert {one.pinned_by for one in own} == {"tmpfs"}
        assert all(one.bytes >= 4096 and one.cgroup_id for one in own)
        memcg.read(HERE)
        assert sensor.read(HERE).records == ()
        assert memcg.last is not None
        walked, _ = take_census(HERE)
        assert memcg.last.zombies is not None
        assert walked.zombies is not None
        assert abs(memcg.last.zombies - walked.zombies) <= 50
