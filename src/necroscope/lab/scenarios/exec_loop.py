"""A supervisor starts a program that dies at once, again and again without a rest: a core full of starts, no leak."""

from __future__ import annotations

import shutil
from pathlib import Path

from necroscope.lab.environment.cpu_weight import favour
from necroscope.lab.needs import MEMORY_CGROUPS, SYSTEMD
from necroscope.lab.scenario import Scenario, Subject, Truth
from necroscope.lab.scoring.checks import core_held, figure, victim_stalled
from necroscope.lab.scoring.sampled import functions_sampled
from necroscope.lab.stage import Stage

_FUNCTIONS = (
    "bprm_execve", "load_elf_binary", "begin_new_exec", "kernel_clone", "copy_process", "do_exit", "exit_mmap", "wait4",
    "do_wait", "mmput", "exec_mmap",
)  # fmt: skip


def play(stage: Stage) -> Truth:
    """The supervisor rests between two starts while a file is there; somebody takes the file away for some seconds."""
    folder = stage.folder / stage.name("file")
    folder.mkdir()
    program, script, rest = (folder / stage.name() for _ in range(3))
    shutil.copy(shutil.which("false") or "/bin/false", program)
    count = folder / "count"
    script.write_text(supervisor(program, rest, count, stage.rng.uniform(0.3, 0.8)))
    script.chmod(0o755)
    rest.touch()
    node = stage.systemd(binds=(folder,))
    favour(stage)
    unit = stage.name("unit")
    node.add_unit(unit, _service(script, stage.cpu))
    stage.victim()
    starts = 0
    with stage.recording():
        for _ in range(stage.rng.choice((1, 2))):
            with stage.episode():
                rest.unlink()
                stage.sleep(stage.seconds(4.0, 7.0))
                rest.touch()
            stage.sleep(0.2)
            starts += int(count.read_text())
            stage.symptom()
            stage.sleep(stage.seconds(2.0, 6.0))
        restarts = int(node.show(unit, "NRestarts"))
    stage.report.happened.update(starts=starts, unit_restarts=restarts)
    return Truth("exec-storm", Subject("unit", unit), program.name, 0, stage.cpu, {"supervisor": script.name})


def supervisor(program: Path, rest: Path, count: Path, rest_s: float) -> str:
    """Counts what it started without a rest; the shell's own words only, so that nothing but the program is started."""
    return f"""#!/bin/sh
n=0
while :; do
  {program}
  if [ -e {rest} ]; then [ $n = 0 ] || echo $n > {count}; n=0; sleep {rest_s:.2f}; else n=$((n+1)); fi
done
"""


def _service(script: Path, cpu: int) -> str:
    return f"""[Unit]
Description=Keeps a program running
[Service]
ExecStart={script}
CPUAffinity={cpu}
Nice=-10
MemoryAccounting=yes
[Install]
WantedBy=multi-user.target
"""


scenario = Scenario(
    name="exec-loop",
    summary="A supervisor starts a program that dies at once, without a rest: a core full of starts, and no leak.",
    play=play,
    cause="exec-storm",
    subject="unit",
    needs=(MEMORY_CGROUPS, SYSTEMD),
    shows=(
        core_held(3.0),
        victim_stalled(0.3),
        functions_sampled("programs being started and ended", _FUNCTIONS, 0.2),
        figure("starts", "programs started without a rest", at_least=1000, unit="starts"),
        figure("unit_restarts", "restarts of the unit itself", at_most=0, unit="restarts"),
    ),
)
