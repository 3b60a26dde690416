"""What is recorded, and how often: the sensors of a second, those of ten, and the writer that knows their signals."""

from __future__ import annotations

from pathlib import Path

from necroscope.record.recorder import SIGNALS
from necroscope.sense.containers import Containers
from necroscope.sense.cpu import Cpu
from necroscope.sense.interrupts import Interrupts
from necroscope.sense.inventory import Inventory
from necroscope.sense.kernel_log import KernelLog
from necroscope.sense.memcg import Memcg
from necroscope.sense.meminfo import Meminfo
from necroscope.sense.nic import Nic
from necroscope.sense.pressure import Pressure
from necroscope.sense.process import Processes
from necroscope.sense.sensor import Sensor
from necroscope.sense.softnet import Softnet
from necroscope.sense.systemd import Systemd
from necroscope.sense.throttle import Throttle
from necroscope.sense.vmstat import Vmstat
from necroscope.store.place import to_write
from necroscope.store.writer import Writer


def fast_sensors() -> list[Sensor]:
    """Read every second."""
    return [Cpu(), Pressure(), Vmstat(), Softnet(), Interrupts(), Nic(), Throttle(), KernelLog()]


def slow_sensors() -> list[Sensor]:
    """Read every ten seconds, beside the others."""
    return [Inventory(), Meminfo(), Memcg(), Systemd(), Containers(), Processes()]


def open_import(store: Path | None) -> Writer:
    """A writer for recordings that exist already: large segments, and no journal, for files can be imported again."""
    return Writer(to_write(store), journaled=False, segment_rows=1_000_000, segment_s=3600.0, flush_s=5.0)


def open_writer(store: Path | None) -> Writer:
    """The writer of the given store, or of the usual one."""
    sensors = [*fast_sensors(), *slow_sensors()]
    signals = [*(signal for sensor in sensors for signal in sensor.signals), *SIGNALS]
    return Writer(to_write(store), signals=signals)
