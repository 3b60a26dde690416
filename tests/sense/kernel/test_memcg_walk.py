"""The walk on this kernel, with zombies made for it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.lab.actors.zombies import ZombieFarm, own_name
from necroscope.sense.host import Host
from necroscope.sense.kernel.memcg_walk import SlicedWalk, Walk, walk_memcgs
from necroscope.sense.kernel.zombies import Zombie
from necroscope.vocabulary.model import DirectoryFamily, Family

# another process makes and frees zombies under a parent of its own until its standard input ends
CHURN = """
import sys, threading
from necroscope.lab.actors.zombies import ZombieFarm
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
with ZombieFarm(sys.argv[1]) as farm:
    print("ready", flush=True)
    while not stop.is_set():
        farm.free(farm.make("tmpfs", 150, parent="churn"))
"""


@pytest.fixture
def farm() -> Iterator[ZombieFarm]:
    with ZombieFarm(own_name("walk")) as made:
        yield made


def families(walk: Walk, farm: ZombieFarm) -> dict[str, Family]:
    return {family.parent: family for family in walk.families if family.parent.startswith(farm.path + "/")}


def below(walk: Walk, path: str) -> int:
    return sum(row.zombies for row in walk.by_parent if row.path == path)


def test_a_captured_host_is_unavailable_even_with_its_btf(tmp_path: Path) -> None:
    (tmp_path / "sys/kernel/btf").mkdir(parents=True)
    (tmp_path / "sys/kernel/btf/vmlinux").write_bytes(b"\x9f\xeb\x01\x00")
    with pytest.raises(Unavailable, match="captured host"):
        walk_memcgs(Host(tmp_path))


@pytest.mark.root
@pytest.mark.bpf
def test_a_walk_in_slices_sees_the_same_as_one_at_once(farm: ZombieFarm) -> None:
    made = farm.make("tmpfs", 1500, parent="alpha")
    late: list[str] = []
    seen: list[Zombie] = []
    sliced = SlicedWalk(Host(), seen.append, most_s=20)
    try:
        slices = 1
        while (walk := sliced.advance(0.0)) is None:
            slices += 1
            if slices == 2:
                late += farm.make("tmpfs", 3, parent="alpha").paths
    finally:
        sliced.close()
    assert slices >= 3
    assert (walk.partial, walk.reasons) == (False, ())
    assert below(walk, f"{farm.path}/alpha") == 1503
    assert {one.path for one in seen} >= {*made.paths, *late}


@pytest.mark.root
@pytest.mark.bpf
@pytest.mark.parametrize("kind", ["tmpfs", "page-cache", "anon"])
def test_every_zombie_is_found_with_its_parent_kind_name_and_file(farm: ZombieFarm, kind: str) -> None:
    alpha = farm.make(kind, 13, parent="alpha")  # type: ignore[arg-type]
    beta = farm.make(kind, 29, parent="beta/inner", template="<id>")  # type: ignore[arg-type]
    seen: list[Zombie] = []
    walk = walk_memcgs(Host(), budget_s=20, on_zombie=seen.append)
    assert (walk.partial, walk.reasons) == (False, ())
    assert below(walk, f"{farm.path}/alpha") == 13
    assert below(walk, f"{farm.path}/beta/inner") == 29
    mine = {zombie.path: zombie for zombie in seen if zombie.path.startswith(farm.path + "/")}
    assert set(mine) == {*alpha.paths, *beta.paths}
    for batch in (alpha, beta):
        for path, file in zip(batch.paths, batch.files or (None,) * len(batch.paths), strict=True):
            pins = {pin.kind: pin for pin in mine[path].pins}
            assert set(pins) == {kind}
            assert pins[kind].files == (() if file is None else (str(file),))  # type: ignore[index]
            age_s = mine[path].age_s
            assert age_s is not None
            assert age_s < 60
            assert mine[path].references
    named = families(walk, farm)
    assert named[f"{farm.path}/alpha"].born_last_hour == 13
    assert named[f"{farm.path}/beta/inner"].pattern.endswith("/beta/inner/<id>")


@pytest.mark.root
@pytest.mark.bpf
def test_the_pinned_bytes_are_the_pages_that_were_left(farm: ZombieFarm) -> None:
    farm.make("tmpfs", 20, parent="alpha")
    (pin,) = families(walk_memcgs(Host(), 20), farm)[f"{farm.path}/alpha"].pins
    assert (pin.kind, pin.bytes, len(pin.files)) == ("tmpfs", 20 * os.sysconf("SC_PAGE_SIZE"), 4)


@pytest.mark.root
@pytest.mark.bpf
def test_freed_zombies_are_gone(farm: ZombieFarm) -> None:
    batch = farm.make("tmpfs", 25, parent="alpha")
    assert below(walk_memcgs(Host(), 20), f"{farm.path}/alpha") == 25
    farm.free(batch)
    ends = time.monotonic() + 15
    while (left := below(walk_memcgs(Host(), 20), f"{farm.path}/alpha")) and time.monotonic() < ends:
        time.sleep(0.05)
    assert left == 0


@pytest.mark.root
@pytest.mark.bpf
def test_a_deleted_file_that_is_still_open_is_said_to_be_deleted(farm: ZombieFarm) -> None:
    batch = farm.make("tmpfs", 1, parent="alpha")
    with batch.files[0].open("rb"):
        batch.files[0].unlink()
        (pin,) = families(walk_memcgs(Host(), 20), farm)[f"{farm.path}/alpha"].pins
    assert pin.files == (f"{batch.files[0]} (deleted)",)


@pytest.mark.root
@pytest.mark.bpf
def test_leaked_directories_are_no_zombies(farm: ZombieFarm) -> None:
    paths = farm.make_directories(12, parent="leaked")
    walk = walk_memcgs(Host(), 20)
    mine = [one for one in walk.empty_directories if one.pattern.startswith(f"{farm.path}/leaked/")]
    assert mine == [DirectoryFamily(f"{farm.path}/leaked/d<n>", 12, paths[:3])]
    assert walk.live > 12
    assert below(walk, f"{farm.path}/leaked") == 0


@pytest.mark.root
@pytest.mark.bpf
def test_live_and_zombies_are_what_the_kernel_counts() -> None:
    """On v1 /proc/cgroups tells the sum; others may come and go while we look, so a few looks are allowed."""
    hierarchies = dict(line.split()[0:2] for line in Path("/proc/cgroups").read_text().splitlines())
    if hierarchies.get("memory", "0") == "0":
        pytest.skip("the memory controller is not on a v1 hierarchy")
    for _ in range(20):
        walk = walk_memcgs(Host(), 20)
        rows = dict(line.split()[0:3:2] for line in Path("/proc/cgroups").read_text().splitlines())
        if walk.live + walk.zombies == int(rows["memory"]):
            break
        time.sleep(0.1)
    assert walk.live + walk.zombies == int(rows["memory"])


@pytest.mark.root
@pytest.mark.bpf
def test_under_churn_it_never_fails_and_a_family_that_stands_still_stays_exact(farm: ZombieFarm) -> None:
    farm.make("tmpfs", 700, parent="still")
    churn = subprocess.Popen(
        [sys.executable, "-c", CHURN, own_name("churn")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert churn.stdin is not None
    assert churn.stdout is not None
    try:
        assert churn.stdout.readline() == "ready\n"
        churned, still = set(), f"{farm.path}/still"
        for _ in range(50):
            walk = walk_memcgs(Host(), 20)
            assert below(walk, still) == 700
            pages = {pin.kind: pin.bytes // os.sysconf("SC_PAGE_SIZE") for pin in families(walk, farm)[still].pins}
            # the kernel may be moving pages at this moment, a batch of up to 31 on each of a few cores: they are on no
            # list then, and for us kernel memory
            assert sum(pages.values()) == 700
            assert pages["tmpfs"] >= 700 - 2 * 31
            churned.add(below(walk, f"/necroscope-lab-{own_name('churn')}/churn"))
    finally:
        churn.stdin.close()
        churn.stdout.close()
        churn.wait(30)
    assert churn.returncode == 0
    # the other process did make and free zombies meanwhile
    assert len(churned) > 2


@pytest.mark.root
@pytest.mark.bpf
def test_no_descriptor_is_left_open() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    walk_memcgs(Host(), 20)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.root
@pytest.mark.bpf
def test_without_rights_it_says_which_are_missing() -> None:
    script = (
        "import os\n"
        "from necroscope.errors import Unavailable\n"
        "from necroscope.sense.host import Host\n"
        "from necroscope.sense.kernel.memcg_walk import walk_memcgs\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "try:\n    walk_memcgs(Host())\n"
        "except Unavailable as error:\n    print(error.message, '|', error.hint)\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30)
    assert said.stdout.startswith("reading kernel memory needs CAP_BPF and CAP_PERFMON | run as root"), said.stderr
