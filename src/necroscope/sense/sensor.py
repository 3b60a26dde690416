"""What a sensor is, and how sensors are read: one at a time, each failure recorded, none fatal.

A sensor declares its signals, is made once, and is asked for a `Reading` at every look. It may keep what it
needs between looks (a position in the log). What it cannot see it raises as `Unavailable`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.vocabulary.model import Reading, Signal, Unseen


class Sensor(Protocol):
    """Reads one thing of a host."""

    name: ClassVar[str]
    signals: ClassVar[tuple[Signal, ...]]

    def read(self, host: Host) -> Reading:
        """One look. Raises `Unavailable` when nothing can be seen."""
        ...


@dataclass(frozen=True, slots=True)
class Look:
    """One sensor's reading at one instant, with what the reading cost."""

    sensor: str
    at_ns: int
    reading: Reading
    wall_s: float


def look(sensors: Iterable[Sensor], host: Host) -> list[Look]:
    """Read each sensor once. A sensor that sees nothing yields an empty reading that says why."""
    return [_look_once(sensor, host) for sensor in sensors]


def _look_once(sensor: Sensor, host: Host) -> Look:
    started = clock.elapsed_s()
    at_ns = clock.now().realtime_ns
    try:
        reading = sensor.read(host)
    except Unavailable as error:
        reading = Reading(unseen=(Unseen(sensor.name, error.message, error.hint),))
    except Exception as error:  # a defect of one sensor must not end the others
        reason = f"it failed: {type(error).__name__}: {error}"
        reading = Reading(unseen=(Unseen(sensor.name, reason, "this is a defect; please report it"),))
    return Look(sensor.name, at_ns, reading, clock.elapsed_s() - started)
