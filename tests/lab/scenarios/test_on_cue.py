"""Actors that work hard on a cue: each does so for as long as it is told, more than once, and lives on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from necroscope.lab.actors import actors
from necroscope.lab.scenarios import (
    cgroup_directories,
    fork_storm,
    lock_contention,
    tight_limit,
    tlb_shootdown,
    user_hog,
)

CPUS = sorted(os.sched_getaffinity(0))
FILE = "FILE"
FOLDER = "FOLDER"
ACTORS: list[tuple[Callable[..., Any], list[Any], int]] = [
    (user_hog.compute, ["hash", 3, 1.0], 3),
    (user_hog.compute, ["pack", 1, 1.0], 1),
    (lock_contention.contend, [4 << 20, 2, CPUS[-1], 0.1], 3),
    (tlb_shootdown.move_about, [8, CPUS[-1], 0.8], 10),
    (fork_storm.fork_on, [8], 10),
    (tight_limit.look_up, [FILE, 1 << 20, 3, 0.5], 256),
    (cgroup_directories.read_statistics, [FOLDER], 10),
]


@pytest.mark.parametrize(("function", "arguments", "at_least"), ACTORS)
def test_it_answers(function: Callable[..., Any], arguments: list[Any], at_least: int, tmp_path: Path) -> None:
    (tmp_path / "cgroup.procs").write_text("1\n")
    file = tmp_path / "file"
    with file.open("wb") as made:
        made.truncate(tight_limit.FILE_BYTES)
    places = {FILE: str(file), FOLDER: str(tmp_path)}
    actor = actors.start(function, [places.get(one, one) for one in arguments], "calm-otter", cpu=CPUS[0])
    try:
        if function in (tight_limit.look_up, fork_storm.fork_on):
            assert actor.answer() == "ready"
        for _ in range(2):
            began = time.monotonic()
            actor.cue("0.3")
            assert int(actor.answer(20)) >= at_least
            assert time.monotonic() - began >= 0.3
        assert actor.alive
    finally:
        actor.end()
