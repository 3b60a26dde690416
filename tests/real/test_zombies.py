"""Real zombies on this kernel, through the program: exact counts, kinds, names and files; and gone afterwards.

Runs on cgroup v1 and v2 alike.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from necroscope.lab.actors.zombies import Batch, ZombieFarm, clean, leftovers, own_name
from stage.program import Program

pytestmark = [pytest.mark.root, pytest.mark.bpf]

MADE = {
    ("tmpfs", "alpha"): 23,
    ("page-cache", "alpha"): 17,
    ("anon", "alpha"): 11,
    ("tmpfs", "beta"): 7,
    ("anon", "beta"): 5,
}


@pytest.fixture(scope="module")
def farm() -> Iterator[ZombieFarm]:
    for name in leftovers():
        clean(name)
    with ZombieFarm(own_name("test")) as farm:
        yield farm


@pytest.fixture(scope="module")
def batches(farm: ZombieFarm) -> dict[tuple[str, str], Batch]:
    return {(kind, parent): farm.make(kind, count, parent, f"{kind}-job-<n>") for (kind, parent), count in MADE.items()}


def test_exactly_what_was_made_is_counted_named_and_pinned(
    necroscope: Program, farm: ZombieFarm, batches: dict[tuple[str, str], Batch]
) -> None:
    memory = necroscope("scan", "--json").document["cgroups"]["memory"]
    assert memory["counted_by"] == "kernel-walk"
    assert not memory["partial"]
    assert memory["tracked"] == memory["live"] + memory["zombies"]
    below = {row["path"]: row["zombies"] for row in memory["by_parent"]}
    assert below[f"{farm.path}/alpha"] == 23 + 17 + 11
    assert below[f"{farm.path}/beta"] == 7 + 5
    families = {
        (pin["kind"], family["parent"].rpartition("/")[2]): (family, pin)
        for family in memory["families"]
        if family["parent"].startswith(f"{farm.path}/")
        for pin in family["pins"]
        if pin["kind"] != "unknown"
    }
    assert families.keys() == MADE.keys()
    for key, (family, pin) in families.items():
        batch = batches[key]
        assert family["zombies"] == MADE[key]
        assert set(family["examples"]) <= set(batch.paths)
        assert set(family["newest"]) == set(batch.paths)
        # one page each; the kernel may be moving one at this moment, and it is then on no list
        assert MADE[key] - 1 <= pin["bytes"] / os.sysconf("SC_PAGE_SIZE") <= MADE[key]
        assert {*pin["files"]} <= {str(file) for file in batch.files}
        assert bool(pin["files"]) == (key[0] != "anon")
        assert family["born_last_hour"] == MADE[key]


def test_afterwards_they_are_gone(necroscope: Program, farm: ZombieFarm) -> None:
    assert farm.clean() == 0
    memory = necroscope("scan", "--json").document["cgroups"]["memory"]
    assert [row for row in memory["by_parent"] if row["path"].startswith(farm.path)] == []
    assert [family for family in memory["families"] if farm.name in family["pattern"]] == []


def test_leaked_directories_are_told_apart(necroscope: Program) -> None:
    with ZombieFarm(own_name("directories")) as farm:
        farm.make_directories(15, "pods", "<id>")
        memory = necroscope("scan", "--json").document["cgroups"]["memory"]
        leaked = {family["examples"][0].rpartition("/")[0]: family for family in memory["leaked_families"]}
        assert leaked[f"{farm.path}/pods"]["directories"] == 15
        assert [row for row in memory["by_parent"] if row["path"].startswith(farm.path)] == []
