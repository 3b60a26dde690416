"""A timer starts a job that looks at every name of a large tree of files, over and over."""

from __future__ import annotations

import os
from pathlib import Path

from necroscope.lab.environment.cpu_weight import favour
from necroscope.lab.environment.systemd import wait_for
from necroscope.lab.needs import MEMORY_CGROUPS, SYSTEMD
from necroscope.lab.scenario import Scenario, Subject, Truth
from necroscope.lab.scoring.checks import core_held, figure, victim_stalled
from necroscope.lab.scoring.sampled import functions_sampled
from necroscope.lab.stage import Stage

_FUNCTIONS = (
    "filename_lookup",
    "path_lookupat",
    "path_openat",
    "vfs_statx",
    "vfs_fstatat",
    "path_getxattrat",
    "iterate_dir",
)
_JOBS = {"du": "du -s {tree}", "find": "find {tree} -size +4G", "ls": "ls -lR {tree}"}
_FILES_A_FOLDER = 100


def play(stage: Stage) -> Truth:
    """The names are in memory: no disk is slow, the kernel looks each of them up."""
    tree = stage.shm() / stage.name("file")
    names = plant(tree, stage.rng.randint(1200, 2000))
    node_name = stage.name("node")
    node = stage.systemd(node_name, binds=(stage.shm(),))
    favour(stage)
    tool = stage.rng.choice(sorted(_JOBS))
    unit, timer = stage.name("unit"), stage.name("timer")
    job = f"while :; do {_JOBS[tool].format(tree=tree)} >/dev/null; done"
    node.add_unit(unit, _service(job, stage.seconds(4.0, 7.0), stage.cpu), start=False, enable=False)
    node.add_unit(timer, _timer(unit, stage.rng.uniform(9.0, 14.0)), start=False, enable=False)
    stage.victim()
    with stage.recording():
        node.start_unit(timer)
        for _ in range(stage.rng.choice((1, 2))):
            _wait_for_job(stage, stage.cgroup(node_name) / "system.slice" / unit)
        node.stop_unit(timer)
    stage.report.happened.update(tool=tool, names=names)
    return Truth("dentry-walk", Subject("unit", unit), tool, 0, stage.cpu, {"timer": timer})


def _wait_for_job(stage: Stage, cgroup: Path) -> None:
    """The unit has a cgroup while it runs: looking for it costs nothing, and asking systemd does."""
    wait_for(cgroup.is_dir, f"the timer's {cgroup.name}", 30.0)
    with stage.episode():
        wait_for(lambda: not cgroup.is_dir(), f"the end of {cgroup.name}", 30.0)
    stage.symptom()
    stage.sleep(stage.seconds(2.0, 4.0))


def plant(tree: Path, folders: int) -> int:
    """A tree of so many folders with names of one file in each; how many names there are."""
    tree.mkdir(parents=True)
    first = tree / "first"
    first.touch()
    for folder in range(folders):
        made = tree / f"{folder % 32:02x}" / f"{folder:05x}"
        made.mkdir(parents=True)
        for number in range(_FILES_A_FOLDER):
            os.link(first, made / f"entry-{number:03d}")
    return folders * _FILES_A_FOLDER


def _service(job: str, seconds: float, cpu: int) -> str:
    return f"""[Unit]
Description=Looks at a tree of files
[Service]
Type=oneshot
ExecStart=/usr/bin/timeout {seconds:.2f} /bin/sh -c '{job}'
SuccessExitStatus=124
CPUAffinity={cpu}
Nice=-10
MemoryAccounting=yes
"""


def _timer(unit: str, every_s: float) -> str:
    return f"""[Unit]
Description=Starts {unit}
[Timer]
Unit={unit}
OnActiveSec=100ms
OnUnitInactiveSec={every_s:.1f}s
AccuracySec=50ms
"""


scenario = Scenario(
    name="dentry-storm",
    summary="A timer starts a job that looks up every name of a large tree of files, and holds a core.",
    play=play,
    cause="dentry-walk",
    subject="unit",
    needs=(MEMORY_CGROUPS, SYSTEMD),
    shows=(
        core_held(3.0, "system"),
        victim_stalled(0.3),
        functions_sampled("names of files being looked up", _FUNCTIONS, 0.4),
        figure("names", "names of files", at_least=100_000, unit="names"),
    ),
)
