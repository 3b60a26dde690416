"""Every sensor: how often the recorder reads it, and whether `scan` does.

`scan` and the recorder read their sensors in this order. A sensor that asks another one stands after it (the names of
zombies after their number), and the one that may be slowest is the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from necroscope.sense.cgroups.census_sensor import Memcg
from necroscope.sense.cgroups.throttle import Throttle
from necroscope.sense.cgroups.zombie_names import ZombieNames
from necroscope.sense.containers.engines import Containers
from necroscope.sense.cpu.interrupts import Interrupts
from necroscope.sense.cpu.irq_routing import IrqRouting
from necroscope.sense.cpu.pressure import Pressure
from necroscope.sense.cpu.run_delay import RunDelay
from necroscope.sense.cpu.speed import CpuSpeed
from necroscope.sense.cpu.times import Cpu
from necroscope.sense.gpu.nvidia import Gpu
from necroscope.sense.inventory import Inventory
from necroscope.sense.log.kernel_log import KernelLog
from necroscope.sense.memory.meminfo import Meminfo
from necroscope.sense.memory.vmstat import Vmstat
from necroscope.sense.net.nic import Nic
from necroscope.sense.net.softnet import Softnet
from necroscope.sense.net.tcp import Tcp
from necroscope.sense.processes.names import Processes
from necroscope.sense.processes.top import TopProcesses
from necroscope.sense.sampler import SLOW_EVERY_S
from necroscope.sense.sensor import Sensor
from necroscope.sense.systemd.units import Systemd

EACH_SECOND = 1
# In a thread beside the others: these may wait for D-Bus, a container engine or a walk of kernel memory.
SLOW = SLOW_EVERY_S


@dataclass(frozen=True, slots=True)
class Registered:
    """A sensor and who reads it. `recorded_every_s`: None where the recorder does not."""

    sensor: type[Sensor]
    recorded_every_s: int | None
    scanned: bool

    @property
    def name(self) -> str:
        """The sensor's name, as reports and `sensor_seen` have it."""
        return self.sensor.name


SENSORS = (
    Registered(Inventory, SLOW, scanned=True),
    Registered(Cpu, EACH_SECOND, scanned=True),
    Registered(RunDelay, EACH_SECOND, scanned=False),
    Registered(Processes, None, scanned=True),
    Registered(Pressure, EACH_SECOND, scanned=True),
    Registered(Vmstat, EACH_SECOND, scanned=True),
    Registered(Meminfo, SLOW, scanned=True),
    Registered(Softnet, EACH_SECOND, scanned=True),
    Registered(Interrupts, EACH_SECOND, scanned=True),
    Registered(Nic, EACH_SECOND, scanned=True),
    Registered(Tcp, EACH_SECOND, scanned=False),
    Registered(Throttle, EACH_SECOND, scanned=True),
    Registered(IrqRouting, SLOW, scanned=False),
    Registered(Memcg, SLOW, scanned=True),
    Registered(ZombieNames, SLOW, scanned=False),
    Registered(KernelLog, EACH_SECOND, scanned=True),
    Registered(Gpu, EACH_SECOND, scanned=False),
    Registered(Systemd, SLOW, scanned=True),
    Registered(Containers, SLOW, scanned=True),
    Registered(TopProcesses, SLOW, scanned=False),
    Registered(CpuSpeed, SLOW, scanned=False),
)


def scanned() -> Iterator[type[Sensor]]:
    """The sensors that `scan` reads."""
    return (one.sensor for one in SENSORS if one.scanned)


def recorded_every(period_s: int) -> Iterator[type[Sensor]]:
    """The sensors that the recorder reads every so many seconds."""
    return (one.sensor for one in SENSORS if one.recorded_every_s == period_s)
