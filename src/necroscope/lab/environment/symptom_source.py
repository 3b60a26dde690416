"""A kernel log of the lab's own: a file in the form of /dev/kmsg that only the lab's recorder reads.

Lines look as drivers write them; what they say is not true of any device of this machine, which is why they never go
to the real log.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

from necroscope import clock
from necroscope.clock import NS
from necroscope.sense.host import Host
from necroscope.sense.log.log_clock import log_clock
from necroscope.sense.log.symptoms import catalogue

UNKNOWN = "kernel-log"
"""The kind of a line that by itself is no symptom to the program."""

_WARNING = 4


@dataclass(frozen=True, slots=True)
class Symptom:
    """A line that was written, when, and what it is to the program."""

    kind: str
    at_ns: int
    text: str


class SymptomSource:
    """Appends records; `path` is the file that the recorder reads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seq = 0
        path.touch(mode=0o600)

    def write(self, text: str) -> Symptom:
        """One line, now."""
        now, offset_ns = clock.now(), log_clock(Host()).offset_ns or 0
        usec = (now.monotonic_ns - offset_ns) // 1000
        with self.path.open("ab", buffering=0) as file:
            os.write(file.fileno(), f"{_WARNING},{self._seq},{usec},-;{text}\n".encode())
        self._seq += 1
        found = catalogue().match(text)
        kind = found.pattern.kind.name if found and not found.pattern.part else UNKNOWN
        return Symptom(kind, now.realtime_ns, text)


def starved_lines(rng: random.Random, device: str, cpu: int, stalled_s: float, cpus: int) -> list[str]:
    """What a driver says whose queue was not served for a while. Some drivers name the core, most do not."""
    of_device, bus = _of(device)
    queue, usec = rng.randrange(max(2, cpus)), round(stalled_s * NS / 1000)
    ena = f"ena {bus} {device}: TX q {queue} is paused for too long (threshold 5000000)."
    drivers = (
        (
            f"{ena} Time since last napi {usec} usec. napi scheduled: 1",
            f"{ena} usecs since napi {usec}. napi scheduled: 1. napi CPU: {cpu}. msecs since interrupt: {usec // 1000}",
            f"ena {bus} {device}: napi handler hasn't been called for a long time but is scheduled",
        ),
        (f"mlx5_core {bus} {device}: TX timeout detected",),
        (
            f"virtio_net virtio{of_device.randrange(4)} {device}: TX timeout on queue: {queue}, sq: output.{queue}, "
            f"vq: 0x1, name: output.{queue}, {usec} usecs ago",
        ),
        (f"NETDEV WATCHDOG: {device} (ixgbe): transmit queue {queue} timed out {usec // 1000} ms",),
    )
    return [rng.choice(drivers[of_device.choice((0, 0, 1, 2, 3))])]


def unrelated_lines(rng: random.Random, device: str) -> list[str]:
    """What a driver says whose hardware failed: no core of this machine has anything to do with it."""
    of_device, bus = _of(device)
    forms = (
        f"ena {bus} {device}: Keep alive watchdog timeout.",
        f"NETDEV WATCHDOG: {device} (ice): transmit queue {rng.randrange(4)} timed out",
        f"mlx5_core {bus} {device}: TX timeout detected",
    )
    return [of_device.choice(forms)]


def _of(device: str) -> tuple[random.Random, str]:
    """Draws that are the same for one device, and its place on the bus."""
    rng = random.Random(device)
    return rng, f"0000:{rng.randrange(256):02x}:{rng.randrange(32):02x}.0"
