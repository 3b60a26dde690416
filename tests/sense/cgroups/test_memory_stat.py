"""Pins by arithmetic, and the probe that keeps it from hurting."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.cgroups import memory_stat
from necroscope.sense.cgroups.hierarchies import Mount, directories, layout
from necroscope.sense.cgroups.memory_stat import parse_memory_stat, pins_by_arithmetic
from necroscope.sense.host import READ_LIMIT_BYTES, Host
from necroscope.vocabulary.model import Pin

LEAF = b"cache 0\nrss 0\nshmem 0\ntotal_cache 0\ntotal_rss 0\ntotal_shmem 0\n"


def test_v1_shmem_is_part_of_cache() -> None:
    stat = parse_memory_stat(b"cache 10\nrss 3\nshmem 4\ntotal_cache 100\ntotal_rss 30\ntotal_shmem 40\n")
    assert stat.own == (4, 6, 3)
    assert stat.total == (40, 60, 30)


def test_v2_has_hierarchical_sums_only() -> None:
    stat = parse_memory_stat(b"anon 3\nfile 10\nkernel 5\nshmem 4\n")
    assert stat.own == (0, 0, 0)
    assert stat.total == (4, 6, 3)


@given(st.binary(max_size=200))
def test_takes_any_bytes(text: bytes) -> None:
    with suppress(Unavailable):
        parse_memory_stat(text)


def test_the_zombies_share_is_what_no_live_cgroup_has(captured: Callable[[str], Host]) -> None:
    host = captured("hybrid")
    mount = layout(host).mount_of("memory")
    assert mount is not None
    paths = [path for path, _ in directories(host, mount)]
    assert pins_by_arithmetic(host, mount, paths, zombies=100) == (Pin("tmpfs", 409600), Pin("page-cache", 4096))


class SlowHost(Host):
    """A kernel on which reading `memory.stat` costs time for every cgroup below, zombies included."""

    def __init__(self, per_cgroup_s: float, below: dict[str, int], now: list[float]) -> None:
        super().__init__()
        self.per_cgroup_s, self.below, self.now = per_cgroup_s, below, now
        self.read_paths: list[str] = []
        self.modern = True

    def read(self, path: str, limit: int = READ_LIMIT_BYTES) -> bytes:
        if path == "/proc/vmstat":
            return b"nr_free_pages 1\npgscan_anon 0\n" if self.modern else b"nr_free_pages 1\n"
        group = path.removeprefix("/m").removesuffix("/memory.stat") or "/"
        self.read_paths.append(group)
        self.now[0] += 20e-6 + self.per_cgroup_s * self.below[group]
        return LEAF


@pytest.fixture
def fake_clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(clock, "elapsed_s", lambda: now[0])
    return now


PATHS = ["/", "/pods", *(f"/pods/{n}" for n in range(20)), "/docker"]
MOUNT = Mount("/m", "/", False, frozenset({"memory"}))
ZOMBIES = 68_440
BELOW = {"/": 22 + ZOMBIES, "/pods": 20, "/docker": ZOMBIES, **{f"/pods/{n}": 0 for n in range(20)}}


def test_an_old_kernel_with_many_zombies_is_not_read_at_all(fake_clock: list[float]) -> None:
    host = SlowHost(90e-6, BELOW, fake_clock)
    host.modern = False
    with pytest.raises(Unavailable, match="may walk every zombie"):
        pins_by_arithmetic(host, MOUNT, PATHS, ZOMBIES)
    assert host.read_paths == []


def test_a_kernel_that_turns_out_slow_is_probed_and_then_left_alone(fake_clock: list[float]) -> None:
    host = SlowHost(90e-6, BELOW, fake_clock)
    started = fake_clock[0]
    with pytest.raises(Unavailable, match="would hold a core for about 6"):
        pins_by_arithmetic(host, MOUNT, [p for p in PATHS if p != "/docker"], ZOMBIES)
    assert "/" not in host.read_paths
    assert fake_clock[0] - started < 0.01


def test_a_leaf_that_hides_zombies_ends_it_after_one_slow_read(fake_clock: list[float]) -> None:
    host = SlowHost(1e-6, BELOW, fake_clock)
    with pytest.raises(Unavailable, match="no more of them were made"):
        pins_by_arithmetic(host, MOUNT, ["/docker", "/"], zombies=100)
    assert host.read_paths == ["/docker"]


def test_without_anything_to_probe_many_zombies_are_not_touched(fake_clock: list[float]) -> None:
    host = SlowHost(90e-6, {"/": ZOMBIES, "/a": 0}, fake_clock)
    with pytest.raises(Unavailable, match="no small subtree"):
        pins_by_arithmetic(host, MOUNT, ["/", "/a"], ZOMBIES)
    assert host.read_paths == ["/a"]


def test_a_flat_kernel_is_read_within_the_budget(fake_clock: list[float]) -> None:
    host = SlowHost(0.0, BELOW, fake_clock)
    assert pins_by_arithmetic(host, MOUNT, PATHS, ZOMBIES) == ()
    assert set(host.read_paths) == set(PATHS)


def test_the_budget_ends_it(fake_clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_stat, "_SLOWEST_READ_S", 1.0)
    host = SlowHost(0.0, dict.fromkeys(PATHS, 0), fake_clock)
    with pytest.raises(Unavailable, match="takes longer than"):
        pins_by_arithmetic(host, MOUNT, PATHS, ZOMBIES, budget_s=40e-6)
