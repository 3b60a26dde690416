"""The walk on a kernel of our own: what it sees when all is well, and that nothing makes it hang or lie."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernel.fake_kernel import DYING, FOLIOS, HEAP, HZ, IMAGE, NOW, RAM, FakeKernel, Shape
from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.kernel import walker as walker_module
from necroscope.sense.kernel.bpf.memory import Chain
from necroscope.sense.kernel.bpf.programs import SLOTS
from necroscope.sense.kernel.siblings import RESTARTS_MAX
from necroscope.sense.kernel.walker import Walk
from necroscope.sense.kernel.zombies import Zombie
from necroscope.vocabulary.model import DirectoryFamily, ParentCount, Pin

ANON = HEAP + 1


def walk(kernel: FakeKernel, budget_s: float = 5.0, on_zombie: Callable[[Zombie], None] | None = None) -> Walk:
    return kernel.walker(on_zombie).walk(clock.elapsed_s() + budget_s)


def a_node(kernel: FakeKernel, zombies: int = 3) -> tuple[int, list[int]]:
    """/docker with zombies in it, each pinned by a file of its own on tmpfs."""
    docker = kernel.cgroup(kernel.root, "docker")
    made = []
    for number in range(zombies):
        css = kernel.cgroup(docker, f"{number:064x}", online=False, pages=1)
        kernel.page(css, 0, kernel.file("tmpfs", f"/leak/{number}"))
        made.append(css)
    return docker, made


def test_an_empty_tree_has_one_live_cgroup_the_root() -> None:
    assert walk(FakeKernel()) == Walk(live=1, zombies=0)


def test_zombies_are_named_counted_and_pinned() -> None:
    kernel = FakeKernel()
    a_node(kernel)
    seen: list[Zombie] = []
    result = walk(kernel, on_zombie=seen.append)
    assert (result.live, result.zombies, result.partial, result.failed_reads) == (2, 3, False, 0)
    assert result.by_parent == (ParentCount("/docker", 3),)
    (family,) = result.families
    assert (family.pattern, family.parent, family.zombies) == ("/docker/<id>", "/docker", 3)
    assert family.pins == (Pin("tmpfs", 3 * 4096, ("/dev/shm/leak/0", "/dev/shm/leak/1", "/dev/shm/leak/2")),)
    assert (family.oldest_age_s, family.newest_age_s, family.born_last_hour) == (10.0, 10.0, 3)
    assert family.newest[0] == f"/docker/{2:064x}"
    assert result.pinned_by == (Pin("tmpfs", 3 * 4096),)
    assert seen[0] == Zombie(
        path=f"/docker/{0:064x}",
        serial=6,
        cgroup_id=1006,
        age_s=10.0,
        pages=1,
        references=1,
        pins=(Pin("tmpfs", 4096, ("/dev/shm/leak/0",)),),
        files=(("/dev/shm/leak/0", "0:7:7"),),
    )


def test_more_zombies_than_one_batch_holds() -> None:
    kernel = FakeKernel()
    docker = kernel.cgroup(kernel.root, "docker")
    for number in range(1300):
        kernel.cgroup(docker, f"z{number}", online=False)
    result = walk(kernel)
    assert (result.zombies, result.partial) == (1300, False)
    assert result.families[0].zombies == 1300


def test_what_changes_between_two_steps_is_found() -> None:
    kernel = FakeKernel()
    docker = kernel.cgroup(kernel.root, "docker")
    made = [kernel.cgroup(docker, f"z{number}", online=False) for number in range(3 * SLOTS)]
    other = kernel.cgroup(kernel.root, "other")
    kernel.cgroup(other, "late", online=False)
    walker = kernel.walker()
    steps = walker.steps(5.0, lambda: 1.0)
    names = set[str]()
    for number, _ in enumerate(steps):
        if number == 2:
            for css in made[:10]:
                kernel.unlink(css)
            kernel.cgroup(docker, "new", online=False)
    result = walker.result()
    for family in result.families:
        names |= set(family.newest)
    assert "/docker/new" in names
    assert result.partial is False
    assert 3 * SLOTS - 8 <= result.zombies <= 3 * SLOTS + 2


def test_the_watch_of_the_steps_ends_them() -> None:
    kernel = FakeKernel()
    docker = kernel.cgroup(kernel.root, "docker")
    for number in range(4 * SLOTS):
        kernel.cgroup(docker, f"z{number}", online=False)
    watch = iter(range(100))
    walker = kernel.walker()
    assert sum(1 for _ in walker.steps(4.0, lambda: float(next(watch)))) >= 1
    result = walker.result()
    assert result.partial
    assert "ran out of time" in result.reasons[0]


def test_a_zombie_below_a_zombie_counts_at_the_nearest_live_ancestor() -> None:
    kernel = FakeKernel()
    live = kernel.cgroup(kernel.root, "kubepods")
    pod = kernel.cgroup(live, "pod", online=False, pages=5)
    kernel.page(kernel.cgroup(pod, "inner", online=False), 2, kernel.file("ext4", "/var/log/x"))
    result = walk(kernel)
    assert result.by_parent == (ParentCount("/kubepods", 2),)
    by_pattern = {family.pattern: family for family in result.families}
    assert by_pattern["/kubepods/pod/inner"].pins == (Pin("page-cache", 4096, ("/var/log/x",)),)
    # the outer one holds no page of its own: what lies below it is its pin
    assert by_pattern["/kubepods/pod"].pins == ()


def test_no_pages_on_lists_but_memory_charged_is_unknown_and_never_the_kernels() -> None:
    kernel = FakeKernel()
    kernel.cgroup(kernel.root, "sockets", online=False, pages=9)
    assert walk(kernel).pinned_by == (Pin("unknown", 9 * 4096),)


@pytest.mark.parametrize("sockets", ["counter", "array", "inside", "pointer"])
def test_pages_of_sockets_are_the_kernels(sockets: Any) -> None:
    kernel = FakeKernel(Shape(sockets=sockets))
    kernel.sockets(kernel.cgroup(kernel.root, "sockets", online=False, pages=9), 5)
    kernel.cgroup(kernel.root, "other", online=False, pages=2)
    assert walk(kernel).pinned_by == (Pin("kernel", 5 * 4096), Pin("unknown", 2 * 4096))


def test_where_statistics_are_renumbered_sockets_are_unknown() -> None:
    kernel = FakeKernel(Shape(sockets="renumbered"))
    kernel.sockets(kernel.cgroup(kernel.root, "sockets", online=False, pages=9), 5)
    assert walk(kernel).pinned_by == (Pin("unknown", 9 * 4096),)


def test_without_pins_nothing_is_said_about_them() -> None:
    kernel = FakeKernel()
    kernel.cgroup(kernel.root, "sockets", online=False, pages=9)
    result = kernel.walker(pins=False).walk(clock.elapsed_s() + 5)
    assert (result.zombies, result.pinned_by) == (1, ())


def test_a_cgroup_that_is_being_created_is_no_zombie() -> None:
    kernel = FakeKernel()
    kernel.put("cgroup_subsys_state", kernel.cgroup(kernel.root, "newborn"), "flags", 0)
    result = walk(kernel)
    assert (result.live, result.zombies) == (2, 0)


@pytest.mark.parametrize("shape", [Shape(), Shape(counted_in_css=True)])
def test_empty_directories_hold_no_process_and_no_live_child(shape: Shape) -> None:
    kernel = FakeKernel(shape)
    parent = kernel.cgroup(kernel.root, "jobs")
    for number in range(3):
        css = kernel.cgroup(parent, f"job{number}")
        kernel.populate(css, 0)
    kernel.cgroup(parent, "busy")
    directories = walk(kernel).empty_directories
    assert directories == (DirectoryFamily("/jobs/job<n>", 3, ("/jobs/job0", "/jobs/job1", "/jobs/job2")),)


@pytest.mark.parametrize("born", [0, NOW + 1, (1 << 32) - 301 * HZ])
def test_an_age_from_the_future_or_before_boot_is_unknown(born: int) -> None:
    kernel = FakeKernel()
    kernel.cgroup(kernel.root, "z", online=False, born=born)
    (family,) = walk(kernel).families
    assert (family.oldest_age_s, family.born_last_hour) == (None, None)


def test_born_last_hour_needs_nearly_all_ages() -> None:
    kernel = FakeKernel()
    for number in range(10):
        kernel.cgroup(kernel.root, f"z{number}", online=False, born=NOW - HZ if number else 0)
    assert walk(kernel).families[0].born_last_hour == 9
    kernel.cgroup(kernel.root, "z10", online=False, born=0)
    assert walk(kernel).families[0].born_last_hour is None


def test_the_same_path_again_and_again_is_reported() -> None:
    kernel = FakeKernel()
    for _ in range(4):
        kernel.cgroup(kernel.root, "leaky1.service", online=False)
    (family,) = walk(kernel).families
    assert (family.pattern, family.repeated) == ("/leaky<n>.service", (("/leaky1.service", 4),))


# -- what changes under our eyes, and what is broken ---------------------------------------------------------


def test_a_list_that_loops_ends_partial_with_all_that_was_good() -> None:
    kernel = FakeKernel()
    _, zombies = a_node(kernel, 5)
    kernel.words[kernel.link(zombies[-1])] = kernel.link(zombies[1])
    result = walk(kernel)
    assert (result.zombies, result.partial) == (5, True)
    assert result.reasons == ("the children of /docker changed faster than they could be read",)


def test_a_node_that_is_freed_and_reused_elsewhere_is_not_followed() -> None:
    kernel = FakeKernel()
    _, zombies = a_node(kernel, 5)
    kernel.put("cgroup_subsys_state", zombies[2], "parent", zombies[0])
    result = walk(kernel)
    assert (result.zombies, result.partial) == (2, True)


def test_a_wild_next_pointer_is_never_read() -> None:
    kernel = FakeKernel()
    _, zombies = a_node(kernel, 5)
    wild = HEAP + 8 * RAM
    kernel.words[kernel.link(zombies[2])] = wild
    result = walk(kernel)
    assert (result.zombies, result.partial) == (3, True)
    assert all(not wild - 4096 <= address < wild + 4096 for address in kernel.reads)


def test_the_node_to_go_on_from_leaves_the_list_and_nobody_is_missed() -> None:
    kernel = FakeKernel()
    docker = kernel.cgroup(kernel.root, "docker")
    zombies = [kernel.cgroup(docker, f"z{number}", online=False) for number in range(1200)]
    chases = 0
    chase = kernel.chase

    def chase_and_unlink(*arguments: Any) -> Chain:
        nonlocal chases
        chases += 1
        if chases == 3:
            # the root's list, the first batch of /docker; now the second begins with the last node of the first
            kernel.unlink(zombies[511])
        return chase(*arguments)

    kernel.chase = chase_and_unlink  # type: ignore[method-assign]
    walker = kernel.walker()
    result = walker.walk(clock.elapsed_s() + 5)
    assert (result.zombies, result.partial, walker._siblings.restarts) == (1200, False, 1)


def test_a_zombie_that_vanishes_while_it_is_read_is_not_counted() -> None:
    kernel = FakeKernel()
    _, zombies = a_node(kernel, 5)
    examined = kernel.strings

    def strings(addresses: list[int]) -> list[bytes]:
        kernel.put("cgroup_subsys_state", zombies[3], "serial_nr", 999)
        return examined(addresses)

    kernel.strings = strings  # type: ignore[method-assign,assignment]
    result = walk(kernel)
    assert (result.zombies, result.vanished) == (4, 1)


def test_a_list_that_never_holds_still_is_given_up() -> None:
    kernel = FakeKernel()
    docker, _ = a_node(kernel, 3)
    head = docker + kernel.btf.offset("cgroup_subsys_state", "children")

    def shake() -> None:
        kernel.words[head] = HEAP + random.randrange(RAM) * 8

    kernel.before_read = shake
    walker = kernel.walker()
    result = walker.walk(clock.elapsed_s() + 5)
    assert result.partial
    assert walker._siblings.restarts == RESTARTS_MAX + 1


def test_time_nodes_and_depth_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = FakeKernel()
    a_node(kernel, 20)
    assert walk(kernel, budget_s=-1).reasons == ("the walk ran out of time",)
    monkeypatch.setattr(walker_module, "NODES_MAX", 5)
    assert walk(kernel).reasons == ("the walk stopped after 5 cgroups",)
    monkeypatch.setattr(walker_module, "DEPTH_MAX", 2)
    monkeypatch.setattr(walker_module, "NODES_MAX", 500)
    deep = kernel.root
    for level in range(6):
        deep = kernel.cgroup(deep, f"level{level}")
    assert walk(kernel).reasons == ("cgroups deeper than 2 levels were not visited",)


def test_a_list_without_end_is_left_when_time_is_up() -> None:
    kernel = FakeKernel()
    docker = kernel.cgroup(kernel.root, "docker")
    chase = kernel.chase

    def grow_and_chase(*arguments: Any) -> Chain:
        for _ in range(520):
            kernel.cgroup(docker, "more", online=False)
        return chase(*arguments)

    kernel.chase = grow_and_chase  # type: ignore[method-assign]
    result = walk(kernel, budget_s=0.3)
    assert "the walk ran out of time" in result.reasons
    assert result.zombies > 0


def test_when_time_is_short_all_are_named_and_some_are_not_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = FakeKernel()
    a_node(kernel, 600)
    # the clock jumps while the first batch of 512 is read
    monkeypatch.setattr(clock, "elapsed_s", lambda: 0.8 if len(kernel.reads) > 1200 else 0.0)
    result = kernel.walker().walk(1.0)
    assert (result.zombies, result.families[0].zombies, result.partial) == (600, 600, True)
    assert result.reasons == ("time was short: what pins 88 of the zombies was not read",)
    assert result.pinned_by == (Pin("tmpfs", 512 * 4096),)


def test_no_root_is_unavailable() -> None:
    kernel = FakeKernel()
    kernel.put("task_struct", kernel.task, "cgroups", 0)
    with pytest.raises(Unavailable, match="root of the memory cgroups"):
        walk(kernel)


def test_parents_in_a_circle_are_no_root() -> None:
    kernel = FakeKernel()
    kernel.put("cgroup_subsys_state", kernel.root, "parent", kernel.root)
    with pytest.raises(Unavailable):
        walk(kernel)


def test_unreadable_names_are_said_to_be_unreadable() -> None:
    kernel = FakeKernel()
    css = kernel.cgroup(kernel.root, "x", online=False)
    node = kernel.get("cgroup", kernel.get("cgroup_subsys_state", css, "cgroup"), "kn")
    kernel.put("kernfs_node", node, "name", 0x1234)
    result = walk(kernel)
    assert result.families[0].examples == ("/<unreadable>",)
    assert result.failed_reads == 1


def a_rich_kernel(generations: bool) -> FakeKernel:
    kernel = FakeKernel(Shape(generations, between=2000, counted_in_css=generations, sockets="pointer"))
    _, zombies = a_node(kernel, 6)
    kernel.page(zombies[0], 1, ANON)
    kernel.page(zombies[1], 3, kernel.file("ext4", "/a/b/c"), pages=7)
    if generations:
        kernel.generation(zombies[2], 3, kernel.file("ext4", "/old"), 2)
    pod = kernel.cgroup(kernel.cgroup(kernel.root, "kubepods"), "pod1", online=False)
    kernel.sockets(kernel.cgroup(pod, "inner", online=False, pages=3), 3)
    return kernel


@st.composite
def damage(draw: st.DrawFn) -> tuple[bool, list[tuple[int, int, int]]]:
    """Which words to overwrite, and with what: garbage, other objects, odd pointers, poison."""
    generations = draw(st.booleans())
    values = st.one_of(
        st.integers(0, (1 << 64) - 1),
        st.integers(0, 1 << 16).map(lambda offset: HEAP + 8 * offset),
        st.integers(0, 1 << 10).map(lambda offset: FOLIOS + 8 * offset),
        st.integers(0, 1 << 10).map(lambda offset: IMAGE + offset),
        st.sampled_from((0, 1, DYING, 0xDEAD_0000_0000_0100, (1 << 64) - 1)),
    )
    # where: any word; when: before that many reads
    return generations, draw(
        st.lists(st.tuples(st.integers(0, 1 << 20), values, st.integers(0, 60)), min_size=1, max_size=12)
    )


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damage())
def test_no_damage_makes_it_hang_crash_or_follow_a_wild_pointer(
    case: tuple[bool, list[tuple[int, int, int]]],
) -> None:
    generations, changes = case
    kernel = a_rich_kernel(generations)
    places = sorted(kernel.words)
    reads = 0

    def strike() -> None:
        nonlocal reads
        reads += 1
        for where, value, when in changes:
            if when == reads - 1:
                kernel.words[places[where % len(places)]] = value

    kernel.before_read = strike
    started = clock.elapsed_s()
    try:
        result = walk(kernel, budget_s=1.0)
    except Unavailable:
        return
    finally:
        assert clock.elapsed_s() - started < 3
        assert_reads_in_bounds(kernel.reads)
    assert result.zombies <= 12
    assert result.live >= 1


def assert_reads_in_bounds(reads: list[int]) -> None:
    """Heap and image where they are; page structs, wherever the first ones were, no further apart than RAM needs."""
    heap = range(HEAP - RAM - 4096, HEAP + RAM + 4096)
    image = range(IMAGE, IMAGE + (1 << 24) + 64)
    folios = [address for address in reads if address not in heap and address not in image]
    assert all(address >= 0xFF00_0000_0000_0000 for address in folios)
    assert not folios or max(folios) - min(folios) < 2 * (RAM // 4096 * 64)
