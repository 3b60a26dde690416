"""Real zombies of each pin class freed by the cheapest right action, through the program, and the others refused."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from necroscope.lab.actors.zombies import ZombieFarm, own_name
from stage.processes import wait_for
from stage.program import Program, Ran

pytestmark = [pytest.mark.root, pytest.mark.bpf]


@pytest.fixture(scope="module")
def farm() -> Iterator[ZombieFarm]:
    with ZombieFarm(own_name("freeing")) as farm:
        yield farm


@pytest.fixture
def state(tmp_path: Path) -> dict[str, str]:
    return {"NECROSCOPE_FIX_STATE": str(tmp_path / "state")}


def fix(state: dict[str, str], *arguments: object) -> Ran:
    return Program()("fix", *arguments, env=state)


def test_page_cache_is_dropped_file_by_file(farm: ZombieFarm, state: dict[str, str]) -> None:
    batch = farm.make("page-cache", 40, "cached", "z<n>")
    assert farm.zombies() == 40
    plan = fix(state, "free-zombies", f"{farm.path}/cached", "--json").document
    assert [step["kind"] for step in plan["steps"]] == ["drop-cache", "reclaim"]
    assert set(plan["steps"][0]["items"]) == {str(file) for file in batch.files}
    assert farm.zombies() == 40, "a dry run frees nothing"
    ran = fix(state, "free-zombies", f"{farm.path}/cached", "--apply", "--yes", "--json")
    assert (ran.code, ran.document["ending"]) == (0, "applied"), ran.err
    assert farm.zombies() == 0
    assert ran.document["steps"][1]["note"] == "not needed: none is left"
    assert all(file.read_bytes().startswith(b"necroscope") for file in batch.files)


def test_files_that_cannot_be_named_are_reclaimed_within_a_budget(farm: ZombieFarm, state: dict[str, str]) -> None:
    """The files are deleted while somebody holds them open: no name leads to them any more."""
    batch = farm.make("page-cache", 30, "unnamed", "u<n>")
    held = [file.open("rb") for file in batch.files]
    for file in batch.files:
        file.unlink()
    ran = fix(state, "free-zombies", f"{farm.path}/unnamed", "--apply", "--yes", "--json")
    assert ran.code == 0, ran.err
    assert [step["kind"] for step in ran.document["steps"]] == ["reclaim"]
    assert "in the kernel" in ran.document["steps"][0]["note"]
    assert farm.zombies() == 0
    for one in held:
        one.close()


@pytest.mark.parametrize(("kind", "why"), [("tmpfs", "only copy"), ("anon", "moved out")])
def test_what_cannot_be_reclaimed_is_refused_with_the_reason(
    farm: ZombieFarm, state: dict[str, str], kind: str, why: str
) -> None:
    batch = farm.make(kind, 12, kind, "z<n>")  # type: ignore[arg-type]
    try:
        ran = fix(state, "free-zombies", f"{farm.path}/{kind}", "--apply", "--yes")
        assert ran.code == 3, ran.err
        assert f"12 zombies pinned by {'tmpfs' if kind == 'tmpfs' else 'memory'}" in ran.err
        assert why in ran.err
        assert farm.zombies() == 12
    finally:
        farm.free(batch)
    wait_for(lambda: farm.zombies() == 0, "the release")


def test_leftovers_go_one_by_one_and_come_back(farm: ZombieFarm, state: dict[str, str]) -> None:
    batch = farm.make("tmpfs", 5, "left", "z<n>")
    one, other = batch.files[:2]
    bytes_before = one.read_bytes()
    with other.open("rb"):
        refused = fix(state, "remove-leftover", str(other), "--apply", "--yes")
    assert refused.code == 3
    assert "in use by process" in refused.err
    ran = fix(state, "remove-leftover", str(one), "--apply", "--yes", "--json")
    assert ran.code == 0, ran.err
    assert not one.exists()
    wait_for(lambda: farm.zombies() == 4, "the release")
    assert fix(state, "--undo", ran.document["id"]).code == 0
    assert one.read_bytes() == bytes_before
    assert (one.stat().st_mode & 0o777, one.stat().st_uid) == (0o600, 0)
    farm.free(batch)


def test_a_file_that_pins_nothing_is_no_leftover(farm: ZombieFarm, state: dict[str, str]) -> None:
    innocent = Path("/dev/shm") / farm.name / "innocent"
    innocent.write_bytes(b"needed")
    ran = fix(state, "remove-leftover", innocent, "--apply", "--yes")
    assert ran.code == 3
    assert "pins no zombie" in ran.err
    assert innocent.exists()


def test_a_recycled_inode_is_another_file(farm: ZombieFarm, state: dict[str, str]) -> None:
    batch = farm.make("tmpfs", 1, "recycled", "z<n>")
    (file,) = batch.files
    shown = fix(state, "remove-leftover", file, "--json").document["id"]
    file.unlink()
    file.write_bytes(b"somebody else's")
    ran = fix(state, shown, "--apply", "--yes")
    assert ran.code == 3
    assert file.read_bytes() == b"somebody else's"
    farm.free(batch)


def test_directories_that_were_left_behind_are_removed_depth_first(farm: ZombieFarm, tmp_path: Path) -> None:
    from necroscope.act.node.memory import LiveMemory

    paths = farm.make_directories(6, "pods", "d<n>")
    memory = LiveMemory(young_s=0.0)
    top = Path(memory.directory(f"{farm.path}/pods"))
    nested = top / Path(paths[0]).name / "inner"
    nested.mkdir()
    kept = top / "kept.service"
    kept.mkdir()
    time.sleep(0.01)
    found = memory.empty_directories(f"{farm.path}/pods")
    names = [path for path, _ in found]
    assert names.index(str(nested)) < names.index(str(nested.parent))
    assert str(kept) not in names
    assert LiveMemory().empty_directories(f"{farm.path}/pods") == [], "they are seconds old"
    process = subprocess.Popen(["sleep", "100"])
    try:
        (top / Path(paths[1]).name / "cgroup.procs").write_text(str(process.pid))
        assert memory.remove(found) == "removed 6; 1 are in use, gone or others now"
    finally:
        process.kill()
        process.wait()
    assert kept.is_dir()


def test_a_process_is_ended_and_a_number_that_was_used_again_is_not(farm: ZombieFarm, state: dict[str, str]) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(100)"]
    process, bystander = subprocess.Popen(command), subprocess.Popen(command)
    try:
        shown = fix(state, "stop-process", process.pid, "--json")
        assert shown.code == 0, shown.err
        process.kill()
        process.wait()
        ran = fix(state, shown.document["id"], "--apply", "--yes")
        assert ran.code == 3
        assert "has ended" in ran.err
        ran = fix(state, "stop-process", bystander.pid, "--apply", "--yes", "--json")
        assert ran.code == 0, ran.err
        assert bystander.wait(5) == -15
    finally:
        for one in (process, bystander):
            one.kill()
            one.wait()
