"""A unit that never dies runs each job in a cgroup of its own and leaves zombies; another process walks over them."""

from __future__ import annotations

from pathlib import Path

from necroscope.lab.actors.leaks import leaked_by_many
from necroscope.lab.actors.walkers import PAST, episodes, reader_below, walk_scenario
from necroscope.lab.actors.zombie_count import zombies_below
from necroscope.lab.environment.systemd import wait_for
from necroscope.lab.needs import SYSTEMD
from necroscope.lab.scenario import Subject, Truth
from necroscope.lab.scoring.checks import figure
from necroscope.lab.stage import Stage


def play(stage: Stage) -> Truth:
    """The unit runs from beginning to end: whoever goes by restarts blames a decoy, or nobody."""
    node_name = stage.name("node")
    folder = stage.folder / stage.name("file")
    folder.mkdir()
    script, job = folder / stage.name(), stage.name("cgroup")
    script.write_text(job_runner(job, stage.rng.uniform(0.1, 0.3)))
    script.chmod(0o755)
    node = stage.systemd(node_name, binds=(folder,))
    top, unit = stage.cgroup(node_name), stage.name("unit")
    node.add_unit(unit, _service(script))
    jobs = node.unit_cgroup(unit) / "jobs"
    wait_for(jobs.is_dir, f"the cgroups of {unit}")
    past = leaked_by_many(stage, jobs, [f"{job}-{number}" for number in range(stage.rng.randint(*PAST))])
    stage.say(f"{unit} has leaked {past} memory cgroups before")
    walker = reader_below(stage, node_name)
    before = zombies_below(top) or 0
    with stage.recording():
        episodes(stage, walker)
        zombies, restarts = zombies_below(top) or 0, int(node.show(unit, "NRestarts"))
        stage.report.happened.update(
            restarts=restarts, zombies=zombies, leaked_before=past, leaked_now=zombies - before
        )
    return Truth("zombie-memcg", Subject("unit", unit), walker.name, walker.pid, stage.cpu)


def job_runner(job: str, rest_s: float) -> str:
    """A shell script: each job in a cgroup of its own below the service's, from which it leaves a file in memory.

    On cgroup v2 only leaves hold processes: the script itself moves into one, and hands the controller on.
    """
    return f"""#!/bin/sh
set -e
if [ -d /sys/fs/cgroup/memory ]; then
  jobs=/sys/fs/cgroup/memory$(sed -n "s/^[0-9]*:memory://p" /proc/self/cgroup)/jobs
  mkdir $jobs
else
  own=/sys/fs/cgroup$(sed -n "s/^0:://p" /proc/self/cgroup)
  jobs=$own/jobs
  mkdir $own/main $jobs
  echo 0 > $own/main/cgroup.procs
  echo +memory > $own/cgroup.subtree_control
  echo +memory > $jobs/cgroup.subtree_control
fi
n=1000000
while :; do
  n=$((n+1))
  mkdir $jobs/{job}-$n
  sh -c "echo 0 > $jobs/{job}-$n/cgroup.procs; head -c 16384 /dev/zero > /dev/shm/{job}-$n"
  until rmdir $jobs/{job}-$n 2>/dev/null; do sleep 0.01; done
  sleep {rest_s:.2f}
done
"""


def _service(script: Path) -> str:
    return f"""[Unit]
Description=Runs jobs
[Service]
ExecStart={script}
Delegate=yes
MemoryAccounting=yes
[Install]
WantedBy=multi-user.target
"""


scenario = walk_scenario(
    name="steady-leak",
    summary="A unit that never restarts leaves zombie cgroups behind, job by job; another process reclaims over them.",
    play=play,
    subject="unit",
    needs=(SYSTEMD,),
    shows=(
        figure("restarts", "restarts of the unit", at_most=0, unit="restarts"),
        figure("leaked_now", "zombies that came during the recording", at_least=40, unit="cgroups"),
    ),
)
