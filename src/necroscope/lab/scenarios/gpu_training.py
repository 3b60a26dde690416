"""A training job whose data loader has one core; leaked memory cgroups and whoever walks over them take that core.

The average of all cores looks healthy and the GPU waits: what the job's owner sees is a step that took seconds.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from necroscope.clock import NS
from necroscope.lab.actors.timing import answer
from necroscope.lab.actors.walkers import episodes, limit, reader, room_bytes
from necroscope.lab.actors.zombie_count import zombies_below
from necroscope.lab.needs import MEMORY_CGROUPS
from necroscope.lab.scenario import Need, Scenario, Show, Subject, Truth
from necroscope.lab.scenarios.moved_memory_leak import leaking_pool
from necroscope.lab.scoring.checks import core_held, figure
from necroscope.lab.stage import Stage

_READY_S = 120.0
_SLOW_STEP_S = 0.5
_PAST = (12000, 18000)
_ROWS, _COLUMNS = 2048, 1024


def _no_gpu() -> str:
    if find_spec("torch") is None:
        return "PyTorch"
    return "" if Path("/dev/nvidia0").exists() else "an NVIDIA GPU"


def play(stage: Stage) -> Truth:
    """A worker pool leaks; a reader below the same limit walks; the loader is pinned to the core that takes."""
    slice_name = stage.name("slice")
    top = stage.cgroup(slice_name)
    pool, past = leaking_pool(stage, slice_name, _PAST)
    walker = reader(stage, stage.cgroup(f"{slice_name}/{stage.name('cgroup')}"))
    limit(top, room_bytes(stage))
    weight = stage.cgroup() / "cpu.weight"
    if weight.exists():  # where time is shared out among cgroups, priorities count within each only
        weight.write_text("10000")
    trainer = stage.spawn(train, stage.cpu, stage.other_cpus)
    stage.say(f"{trainer.name} trains: {trainer.answer(_READY_S)}")
    stage.victims.add(trainer, "slow-step", "a training step of {name} ({pid}) took {seconds}")
    with stage.recording():
        episodes(stage, walker)
        stage.report.happened.update(zombies=zombies_below(top) or 0, leaked_before=past, cores=len(stage.cpus))
    return Truth("zombie-memcg", Subject("process", pool.name), walker.name, walker.pid, stage.cpu)


def train(loader_cpu: int, cpus: list[int]) -> None:
    """Steps on the GPU, each with a batch that a loader on one core has prepared; slow steps are reported."""
    import torch

    queue: Any = multiprocessing.Queue(2)
    loader = multiprocessing.Process(target=load, args=(loader_cpu, queue), daemon=True)
    loader.start()
    os.sched_setaffinity(0, cpus)
    device = torch.device("cuda")
    model = torch.nn.Sequential(
        torch.nn.Linear(_COLUMNS, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 4096), torch.nn.Linear(4096, _COLUMNS)
    ).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    steps = [_step(torch, model, optimizer, queue, device) for _ in range(20)]
    answer(f"{torch.cuda.get_device_name()}, {sum(steps[10:]) / 10:.3f} s a step")
    while True:
        took_s = _step(torch, model, optimizer, queue, device)
        if took_s > _SLOW_STEP_S:
            now_ns = time.time_ns()
            answer(json.dumps({"from_ns": now_ns - round(took_s * NS), "to_ns": now_ns, "stalled_s": round(took_s, 3)}))


def _step(torch: Any, model: Any, optimizer: Any, queue: Any, device: Any) -> float:
    began = time.monotonic()
    batch = torch.frombuffer(bytearray(queue.get()), dtype=torch.float32).reshape(_ROWS, _COLUMNS).to(device)
    for _ in range(8):
        optimizer.zero_grad(set_to_none=True)
        (model(batch) - batch).square().mean().backward()
        optimizer.step()
    torch.cuda.synchronize()
    return time.monotonic() - began


def load(cpu: int, queue: Any) -> None:
    """Prepare batches on one core, for ever: the part of a loader that computes."""
    import numpy as np

    os.sched_setaffinity(0, [cpu])
    random = np.random.default_rng(0)
    while True:
        rows = random.standard_normal((_ROWS, _COLUMNS), dtype=np.float32)
        queue.put(((rows - rows.mean(axis=0)) / rows.std(axis=0)).astype(np.float32).tobytes())


scenario = Scenario(
    name="gpu-training",
    summary="A training job's loader loses its core to a walk over leaked cgroups; the GPU waits, the average is calm.",
    play=play,
    cause="zombie-memcg",
    subject="process",
    innocent=True,
    needs=(MEMORY_CGROUPS, Need("a GPU with PyTorch", _no_gpu)),
    shows=(
        core_held(3.0, "system"),
        Show("a training step took", lambda stage: stage.victims.longest_s("slow-step"), at_least=1.0, unit="s"),
        figure("zombies", "zombies below the common parent", at_least=5000, unit="cgroups"),
        figure("cores", "cores of the machine", at_least=8, unit="cores"),
    ),
)
