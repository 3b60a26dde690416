"""A job in a guest: everything it is made of is fetched and made, it is booted, and what it left is brought back."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from guests import image, job, kernel
from guests.boot import Disks, boot
from guests.cache import alone
from guests.complaints import complaints
from guests.job import Left
from guests.machines import Machine


@dataclass(frozen=True)
class Outcome:
    """A run: what the job left, how long the guest lived, and what its kernel complained of."""

    machine: Machine
    job: str
    kernel: str
    ended: bool
    seconds: float
    left: Left
    console: str
    complaints: list[str]
    date: str = ""

    @property
    def good(self) -> bool:
        """Whether the job ended well and the kernel had nothing to complain of."""
        return self.ended and self.left.status == 0 and not self.complaints


def run(machine: Machine, name: str, folder: Path, patience_s: float) -> Outcome:
    """Run a job; its files are in `folder` then."""
    with alone():
        fetched = kernel.fetch(machine)
        system = image.system(machine.architecture)
        disk = image.image(system)
    with tempfile.TemporaryDirectory(prefix="necroscope-guest-") as scratch:
        here = Path(scratch)
        (here / "initrd").write_bytes(kernel.initrd(fetched, system / "bin/busybox"))
        packed = job.pack(name, machine.architecture, here / "job")
        disks = Disks(fetched.image, here / "initrd", disk, packed, here / "left")
        ran = boot(machine, disks, patience_s)
        left = job.unpack(here / "left", folder)
    found, date = complaints(left.kmsg, ran.console), time.strftime("%Y-%m-%d", time.gmtime())
    return Outcome(machine, name, fetched.version, ran.ended, ran.seconds, left, ran.console, found, date)
