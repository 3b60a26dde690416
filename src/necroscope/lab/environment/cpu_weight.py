"""Units that get a core before anybody else."""

from __future__ import annotations

from necroscope.lab.cleaning import hierarchies
from necroscope.lab.stage import Stage

_MOST = {"cpu.shares": "262144", "cpu.weight": "10000"}


def favour(stage: Stage) -> None:
    """Let what runs in the run's cgroups have its core nearly to itself, where there are cgroups that share cores out.

    Units cannot have real-time priority wherever real time is shared out by cgroups as well; like that priority, this
    stands for kernels that do not reschedule in the midst of such work.
    """
    for mount in hierarchies():
        for name, value in _MOST.items():
            file = mount / stage.root_cgroup / name
            if file.exists():
                file.write_text(value)
