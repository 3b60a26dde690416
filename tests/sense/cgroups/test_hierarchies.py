"""Where the hierarchies are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import Unavailable
from necroscope.sense.cgroups.hierarchies import (
    directories,
    layout,
    parse_cgroup_mounts,
    parse_cgroup_stat,
    parse_memberships,
    parse_proc_cgroups,
)
from necroscope.sense.host import Host

Lay = Callable[[str], Host]


def test_rows_of_proc_cgroups() -> None:
    rows = parse_proc_cgroups(
        b"#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t4\t68680\t1\nrdma\t0\t1\t0\nbad\tx\ty\tz\n"
    )
    assert (rows["memory"].hierarchy, rows["memory"].cgroups, rows["memory"].enabled) == (4, 68680, True)
    assert not rows["rdma"].enabled
    assert set(rows) == {"memory", "rdma"}


def test_a_row_cut_in_its_number_is_not_believed() -> None:
    assert parse_proc_cgroups(b"memory\t4\t686") == {}
    assert parse_proc_cgroups(b"memory\t4\t68680\t1") == {}


@pytest.mark.parametrize(
    ("name", "mode", "path", "v2", "namespaced"),
    [
        ("incident", "hybrid", "/sys/fs/cgroup/memory", False, False),
        ("hybrid", "hybrid", "/sys/fs/cgroup/memory", False, False),
        ("v2-nested", "v2", "/sys/fs/cgroup", True, False),
        ("v2-6.12", "v2", "/sys/fs/cgroup", True, False),
        ("v2-memory-row-missing", "v2", "/sys/fs/cgroup", True, False),
        ("v1-co-mounted", "v1", "/cgroup/cpu and memory", False, False),
        ("container-v1", "v1", "/sys/fs/cgroup/memory", False, True),
        ("container-v1-namespace", "v1", "/sys/fs/cgroup/memory", False, True),
        ("container-v2", "v2", "/sys/fs/cgroup", True, True),
    ],
)
def test_layouts(captured: Lay, name: str, mode: str, path: str, v2: bool, namespaced: bool) -> None:
    where = layout(captured(name))
    mount = where.mount_of("memory")
    assert mount is not None
    assert (where.mode, mount.path, mount.v2, where.namespaced) == (mode, path, v2, namespaced)


def test_co_mounted_controllers_share_one_mount(captured: Lay) -> None:
    where = layout(captured("v1-co-mounted"))
    assert where.mount_of("cpu") is where.mount_of("memory")
    assert where.mount_of("pids") is None


def test_a_controller_on_v1_is_not_looked_for_on_v2(captured: Lay) -> None:
    where = layout(captured("hybrid"))
    assert where.mount_of("cpu") is not None
    assert where.mount_of("io") is None


def test_directories_come_parents_first(captured: Lay) -> None:
    host = captured("incident")
    mount = layout(host).mount_of("memory")
    assert mount is not None
    found = list(directories(host, mount))
    paths = [path for path, _ in found]
    assert len(paths) == 240
    assert paths[0] == "/"
    assert all((path.rpartition("/")[0] or "/") in paths[: paths.index(path)] for path in paths[1:])


def test_cgroup_stat_tells_what_it_knows() -> None:
    old = parse_cgroup_stat(b"nr_descendants 7\nnr_dying_descendants 87\n")
    assert (old.descendants, old.zombies, old.subsys_memory) == (7, 87, None)
    new = parse_cgroup_stat(
        b"nr_descendants 7\nnr_subsys_memory 5\nnr_dying_descendants 87\nnr_dying_subsys_memory 3\n"
    )
    assert (new.zombies, new.subsys_memory) == (3, 5)
    with pytest.raises(Unavailable):
        parse_cgroup_stat(b"")


def test_memberships() -> None:
    paths = parse_memberships(b"6:cpu,cpuacct:/a\n4:memory:/docker/x:y\n0::/v2\nnonsense\n")
    assert paths == {"cpu": "/a", "cpuacct": "/a", "memory": "/docker/x:y", "": "/v2"}


@given(st.binary(max_size=300))
def test_parsers_take_any_bytes(text: bytes) -> None:
    parse_proc_cgroups(text)
    parse_cgroup_mounts(text)
    parse_memberships(text)
    with suppress(Unavailable):
        parse_cgroup_stat(text)
