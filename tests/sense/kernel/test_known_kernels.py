"""Every kernel that is known, by an excerpt of its BTF: what the walk needs is there, and the walk reads it rightly.

Excerpts are written by `python -m guests btf-excerpt tests/sense/kernel/layouts`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kernel.fake_kernel import HEAP, FakeKernel
from necroscope import clock
from necroscope.sense.kernel.bpf.programs import LENGTH_MAX
from necroscope.sense.kernel.btf import Btf, Member
from necroscope.sense.kernel.files import FileLayout
from necroscope.sense.kernel.layout import MemcgLayout
from necroscope.sense.kernel.page_lists import PinLayout
from necroscope.sense.kernel.socket_memory import SocketLayout
from necroscope.vocabulary.model import DirectoryFamily, Pin

LAYOUTS = Path(__file__).parent / "layouts"
NAMES = sorted(file.stem for file in LAYOUTS.glob("*.json"))
ANON = HEAP + 1
PAGE = 4096


class Excerpt(Btf):
    """Answers from an excerpt. What was not asked when it was written is a mistake, not an absence."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._sizes, self._all, self._values = document["sizes"], document["members"], document["values"]

    def sizeof(self, name: str) -> int:
        return int(self._sizes[name])

    def has_struct(self, name: str) -> bool:
        return self._sizes[name] is not None

    def enum_value(self, name: str) -> int | None:
        value: int | None = self._values[name]
        return value

    def _find(self, name: str, path: str) -> Member | None:
        found = self._all[name][path]
        return found and Member(found[0], found[1], tuple(found[2]), found[3])


def excerpt(name: str) -> Excerpt:
    return Excerpt(json.loads((LAYOUTS / f"{name}.json").read_text("utf-8")))


def version(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.partition("-")[0].split("."))


def test_the_kernels_of_the_matrix_are_there() -> None:
    assert {"5.10-amd64", "6.1-amd64", "6.12-amd64", "7.2-amd64", "6.1-arm64"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_missing(name: str) -> None:
    btf = excerpt(name)
    memcg, pins = MemcgLayout.of(btf), PinLayout.of(btf)
    FileLayout.of(btf)
    assert None not in (memcg.population, memcg.birth, memcg.reference)
    assert (memcg.online, memcg.dying) == (2, 16)
    assert all(max(one.sizes.size, one.heads_length) <= LENGTH_MAX for one in pins.lists)
    assert len(pins.lists) == (1 if version(name) < (6, 1) else 2)


@pytest.mark.parametrize("name", ["6.1-amd64", "6.1-arm64"])
def test_lists_and_sizes_of_6_1_do_not_fit_one_read(name: str) -> None:
    sizes = excerpt(name).member("mem_cgroup_per_node", "lru_zone_size")
    lists = excerpt(name).member("mem_cgroup_per_node", "lruvec.lists")
    assert sizes.offset + sizes.size - lists.offset > LENGTH_MAX


@pytest.mark.parametrize("name", NAMES)
def test_where_pages_of_sockets_are_counted(name: str) -> None:
    layout = SocketLayout.of(excerpt(name))
    expected = {(5, 10): (2, False), (6, 1): (1, True)}.get(version(name), (0, False))
    assert (len(layout.own), layout.behind is not None) == expected


@pytest.mark.parametrize("name", NAMES)
def test_zombies_of_every_pin_class_are_told_apart(name: str) -> None:
    kernel = FakeKernel(btf=excerpt(name))
    jobs = kernel.cgroup(kernel.root, "jobs")
    zombies = {kind: kernel.cgroup(jobs, kind, online=False, pages=3) for kind in ("shm", "log", "moved", "charged")}
    kernel.page(zombies["shm"], 0, kernel.file("tmpfs", "/leak"))
    kernel.page(zombies["log"], 3, kernel.file("ext4", "/var/log/x"), pages=2)
    kernel.page(zombies["moved"], 1, ANON, pages=3)
    empty = kernel.cgroup(kernel.root, "left")
    kernel.populate(empty, 0)
    result = kernel.walker().walk(clock.elapsed_s() + 5)
    assert (result.zombies, result.partial, result.failed_reads) == (4, False, 0)
    assert {family.pattern: family.pins for family in result.families} == {
        "/jobs/shm": (Pin("tmpfs", PAGE, ("/dev/shm/leak",)),),
        "/jobs/log": (Pin("page-cache", 2 * PAGE, ("/var/log/x",)),),
        "/jobs/moved": (Pin("anon", 3 * PAGE),),
        "/jobs/charged": (Pin("unknown", 3 * PAGE),),
    }
    assert result.empty_directories == (DirectoryFamily("/left", 1, ("/left",)),)


@pytest.mark.parametrize("name", [name for name in NAMES if version(name) >= (6, 1)])
def test_with_generations_they_are_told_apart_too(name: str) -> None:
    kernel = FakeKernel(btf=excerpt(name))
    zones = kernel.btf.member("mem_cgroup_per_node", "lru_zone_size").size // 8 // 5
    oldest, files = 0, zones  # of the first generation: anonymous pages of all zones, then those of files
    shm, log = (kernel.cgroup(kernel.root, one, online=False, pages=2) for one in ("shm", "log"))
    kernel.generation(shm, oldest + 1, kernel.file("tmpfs", "/leak"), pages=2)
    kernel.generation(log, 2 * zones * 3 + files, kernel.file("ext4", "/var/log/x"))
    result = kernel.walker().walk(clock.elapsed_s() + 5)
    assert {family.pattern: family.pins for family in result.families} == {
        "/shm": (Pin("tmpfs", 2 * PAGE, ("/dev/shm/leak",)),),
        "/log": (Pin("page-cache", PAGE, ("/var/log/x",)),),
    }
