"""What leaked before the recording began: zombies with the names that the leaker gives them."""

from __future__ import annotations

from pathlib import Path

from necroscope.lab.actors.zombies import Kind, end_maker, run_maker
from necroscope.lab.environment.cgroup_tree import home, memory_mount
from necroscope.lab.stage import Stage


def leaked_before(stage: Stage, cgroup: Path, count: int, kind: Kind = "tmpfs") -> int:
    """Make `count` zombies that were all called like `cgroup` while they lived; returns `count`."""
    cgroup.parent.mkdir(parents=True, exist_ok=True)
    return leaked_by_many(stage, cgroup.parent, [cgroup.name] * count, kind)


def leaked_by_many(stage: Stage, parent: Path, names: list[str], kind: Kind = "tmpfs") -> int:
    """Make a zombie below `parent` for each name; returns how many. What pins them lies in folders of the run, or, with
    anonymous pages, in a process that lives to the end of the run."""
    folder = (stage.folder if kind == "page-cache" else stage.shm()) / f"past-{stage.name('file')}"
    folder.mkdir()
    holder = run_maker(kind, names, parent, home(memory_mount()), folder)
    if holder is not None:
        stage.started(holder.pid)
        stage.at_end(lambda: end_maker(holder))
    return len(names)
