from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from necroscope.errors import BadInput, NecroscopeError
from necroscope.lab.actors.zombies import PREFIX, ZombieFarm, clean, leftovers, own_name
from necroscope.lab.environment.cgroup_tree import memory_mount

pytestmark = pytest.mark.root
NAME = own_name("farm")


def traces(name: str) -> list[Path]:
    places = (Path(memory_mount().path), Path("/dev/shm"), Path("/var/tmp"))
    return [place / f"{PREFIX}{name}" for place in places if (place / f"{PREFIX}{name}").exists()]


def test_zombies_of_every_kind_are_made_and_everything_is_removed() -> None:
    with ZombieFarm(NAME) as farm:
        batches = [farm.make(kind, 8, parent=f"p/{kind}") for kind in ("tmpfs", "page-cache", "anon")]
        cgroup = Path(memory_mount().path) / farm.name
        assert [len(batch.paths) for batch in batches] == [8, 8, 8]
        # removed, every one of them
        assert not any((cgroup.parent / path.lstrip("/")).exists() for batch in batches for path in batch.paths)
        assert all(file.stat().st_size == os.sysconf("SC_PAGE_SIZE") for batch in batches for file in batch.files)
        assert batches[2].holder is not None
        holder = batches[2].holder.pid
        assert Path(f"/proc/{holder}").exists()
        assert farm.zombies() in (24, None)
        assert farm.clean() in (0, None)
        assert farm.zombies() in (0, None)
    assert traces(NAME) == []
    assert not Path(f"/proc/{holder}").exists()


def test_a_failure_inside_still_cleans_up() -> None:
    def fail() -> None:
        with ZombieFarm(NAME) as farm:
            farm.make("anon", 3)
            farm.make_directories(3, "leaked/deep")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert traces(NAME) == []


def test_names_follow_the_template_and_are_never_used_twice() -> None:
    with ZombieFarm(NAME) as farm:
        first = farm.make("tmpfs", 2, parent="a", template="job<n>")
        again = farm.make("tmpfs", 2, parent="a", template="job<n>")
        ids = farm.make_directories(2, "b", template="pod-<id>")
    names = [Path(path).name for path in (*first.paths, *again.paths)]
    assert names == ["job000000", "job000001", "job000002", "job000003"]
    assert {len(Path(path).name) for path in ids} == {len("pod-") + 64}


def test_a_maker_that_fails_says_why_and_leaves_nothing() -> None:
    with ZombieFarm(NAME) as farm:
        farm.make_directories(1, "a", template="taken")
        with pytest.raises(NecroscopeError, match="File exists"):
            farm.make("tmpfs", 1, parent="a", template="taken")
    assert traces(NAME) == []


@pytest.mark.parametrize("name", ["", "a/b"])
def test_bad_names(name: str) -> None:
    with pytest.raises(BadInput):
        ZombieFarm(name)


def test_nothing_is_made_outside_the_farm() -> None:
    with ZombieFarm(NAME) as farm, pytest.raises(BadInput, match="is not in"):
        farm.make_directories(1, "../elsewhere")


def test_two_farms_of_one_name_do_not_mix() -> None:
    with ZombieFarm(NAME) as farm:
        with pytest.raises(BadInput, match="is there already"), ZombieFarm(NAME):
            pass
        farm.make("tmpfs", 1)
        assert NAME not in leftovers()
        with pytest.raises(BadInput, match="was not left behind"):
            clean(NAME)


def test_what_a_killed_run_left_behind_is_found_and_removed() -> None:
    script = (
        "import sys, time; from necroscope.lab.actors.zombies import ZombieFarm\n"
        "with ZombieFarm(sys.argv[1]) as farm:\n"
        "    farm.make('tmpfs', 5, 'a'); holder = farm.make('anon', 5, 'b').holder\n"
        "    print(holder.pid, flush=True); time.sleep(60)\n"
    )
    run = subprocess.Popen([sys.executable, "-c", script, NAME], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    holder = int(run.stdout.readline())
    run.stdout.close()
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert len(traces(NAME)) == 3
    assert NAME in leftovers()
    assert clean(NAME) in (0, None)
    assert traces(NAME) == []
    assert NAME not in leftovers()
    # the holder ends by itself when whoever wanted it is gone
    ends = time.monotonic() + 5
    while Path(f"/proc/{holder}").exists() and time.monotonic() < ends:
        time.sleep(0.02)
    assert not Path(f"/proc/{holder}").exists()
