"""The sensors of the registry as the recorder configures them, and the writer that knows their signals."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

from necroscope.config import Config
from necroscope.errors import BadInput
from necroscope.record.budget.governor import Budget
from necroscope.record.recorder import SIGNALS
from necroscope.sense.cgroups.census import count_zombies
from necroscope.sense.cgroups.census_sensor import Memcg
from necroscope.sense.cgroups.zombie_names import ZombieNames
from necroscope.sense.gpu.nvidia import Gpu
from necroscope.sense.gpu.nvml import load
from necroscope.sense.log.kernel_log import KernelLog
from necroscope.sense.processes.top import TopProcesses, nobody
from necroscope.sense.registry import EACH_SECOND, SLOW, recorded_every
from necroscope.sense.sensor import Sensor
from necroscope.sense.systemd.unit_runs import UnitRuns
from necroscope.sense.systemd.units import Systemd
from necroscope.store.place import to_write
from necroscope.store.write.retention import Retention
from necroscope.store.write.writer import Writer

_STACK_MIB = 8
# Counting zombies takes at most a two-hundredth of a core.
_CENSUS_REST = 200.0
_FLUSH_S = 5.0


def fast_sensors(kernel_log: str | None = None, skip: Collection[str] = ()) -> list[Sensor]:
    """Read every second, without those to `skip`; that of GPUs where their library is installed. `kernel_log` is read
    instead of the kernel's own log."""
    kinds = (kind for kind in recorded_every(EACH_SECOND) if kind is not Gpu or load() is not None)
    return _sensors(kinds, [KernelLog(kernel_log)], skip)


def slow_sensors(sampled: Callable[[], Sequence[int]] = nobody, skip: Collection[str] = ()) -> list[Sensor]:
    """Read every ten seconds, beside the others. `sampled` names the processes that were sampled since it was asked."""
    memcg = Memcg(count_zombies, rest=_CENSUS_REST)
    own: list[Sensor] = [memcg, ZombieNames(memcg), Systemd(runs=UnitRuns()), TopProcesses(sampled)]
    return _sensors(recorded_every(SLOW), own, skip)


def _sensors(kinds: Iterable[type[Sensor]], configured: Iterable[Sensor], skip: Collection[str]) -> list[Sensor]:
    """One sensor of each kind, in this order; of some kinds it is made already, as the recorder wants it."""
    made: dict[type[Sensor], Sensor] = {type(sensor): sensor for sensor in configured}
    return [made[kind] if kind in made else kind() for kind in kinds if kind.name not in skip]


def check_skipped(skip: Collection[str]) -> None:
    """Raises `BadInput` for a sensor that does not exist: what is misspelt would be read all the same."""
    known = sorted({kind.name for every in (EACH_SECOND, SLOW) for kind in recorded_every(every)})
    for name in skip:
        if name not in known:
            near = get_close_matches(name, known, 1, 0.5)
            hint = f"did you mean {near[0]}? there are {', '.join(known)}" if near else f"there are {', '.join(known)}"
            raise BadInput(f"There is no sensor {name!r} to skip.", hint)


def budget_of(config: Config, cpus: int) -> Budget:
    """What is set of the budget, and the node's own for the rest."""
    usual, own = Budget.of(cpus), config.budget
    return Budget(
        usual.cpu if own.cpu is None else own.cpu,
        usual.memory_bytes if own.memory_bytes is None else own.memory_bytes,
        usual.descriptors if own.descriptors is None else own.descriptors,
    )


def retention_of(config: Config) -> Retention:
    """How much is kept, and for how long."""
    own = config.store
    return Retention(own.max_bytes, share=own.share, max_age_s=own.max_age_s, free_bytes=own.min_free_bytes)


def open_writer(store: Path | None, config: Config | None = None) -> Writer:
    """The writer of the given store, or of the usual one, within the limits that are set."""
    sensors = [*fast_sensors(), *slow_sensors()]
    signals = [*(signal for sensor in sensors for signal in sensor.signals), *SIGNALS]
    # The more cores, the more different stacks there are between two segments.
    stack_bytes = (_STACK_MIB + (os.cpu_count() or 1)) << 20
    # The recorder flushes each second by itself; in between, only when very much came.
    return Writer(
        to_write(store),
        signals=signals,
        stack_bytes=stack_bytes,
        flush_s=_FLUSH_S,
        at_any_cost=True,
        retention=retention_of(config or Config()),
    )
