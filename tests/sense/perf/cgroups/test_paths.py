"""Paths of cgroups by id: what is in use stays known, whoever makes new cgroups by the thousand."""

from __future__ import annotations

import struct

import numpy as np

from necroscope.sense.perf.cgroups.paths import CgroupPaths
from necroscope.sense.perf.format.walk import Block


def records(*named: tuple[int, str]) -> Block:
    parts = []
    for number, path in named:
        text = path.encode() + b"\0"
        text += bytes(-len(text) % 8)
        parts.append(struct.pack("<IHHQ", 19, 0, 16 + len(text), number) + text)
    size = np.array([len(part) // 8 for part in parts], np.int64)
    count = len(parts)
    return Block(
        np.frombuffer(b"".join(parts), np.uint64),
        np.cumsum(size) - size,
        size,
        np.full(count, 19, np.uint32),
        np.zeros(count, np.uint16),
    )


def ask(paths: CgroupPaths, *ids: int) -> list[str]:
    return [paths.names.texts[number] for number in paths.numbers(np.array(ids, np.uint64))]


def test_paths_are_found_and_unknown_ones_are_empty() -> None:
    paths = CgroupPaths()
    paths.add(records((7, "/a"), (8, "/b/ü")))
    paths.add(records((9, "/c")))
    assert ask(paths, 9, 7, 5, 8, 7) == ["/c", "/a", "", "/b/ü", "/a"]


def test_an_id_that_is_used_again_has_its_new_path() -> None:
    paths = CgroupPaths()
    paths.add(records((7, "/a")))
    assert ask(paths, 7) == ["/a"]
    paths.add(records((7, "/b")))
    assert ask(paths, 7) == ["/b"]


def test_a_storm_drives_out_neither_the_first_nor_those_in_use() -> None:
    paths = CgroupPaths(first_most=2, latest_most=100)
    paths.add(records((1, "/first"), (2, "/second")))
    paths.add(records((3, "/used")))
    assert ask(paths, 3) == ["/used"]
    for turn in range(10):
        paths.add(records(*((1000 * turn + number, f"/storm/{number}") for number in range(10, 5010))))
    assert ask(paths, 1, 2, 3) == ["/first", "/second", "/used"]
    assert ask(paths, 9500) == ["/storm/500"]
    assert sum(part.ids.size for part in paths._latest) <= 10_000
