"""One run of a guest: started, watched, ended by its pid, and what it left."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from guests.fetching import Unfetchable
from guests.machines import Machine

_LEFT_MIB = 512
# However we end: this program becomes the one that it starts.
_WITH_US = ("setpriv", "--pdeathsig", "KILL")
# The kernel's number of that processor feature.
_CX16 = 4 * 32 + 13
_QEMU = {"amd64": "qemu-system-x86_64", "arm64": "qemu-system-aarch64"}
_CONSOLE = {"amd64": "ttyS0", "arm64": "ttyAMA0"}


@dataclass(frozen=True)
class Disks:
    """What the guest is given: kernel, first file system, system, job; and where it writes what it leaves."""

    kernel: Path
    initrd: Path
    root: Path
    job: Path
    left: Path


@dataclass(frozen=True)
class Run:
    """How a guest ended. `ended` is False where its patience was over and it was killed."""

    ended: bool
    seconds: float
    console: str


def command(machine: Machine, disks: Disks, console: Path) -> list[str]:
    """The command line of QEMU: software emulation, no network, no screen."""
    processor = {"amd64": "max", "arm64": f"max,pauth-impdef=on,pmu={'on' if machine.pmu else 'off'}"}
    board = {"amd64": ["-machine", "q35"], "arm64": ["-machine", "virt"]}
    # Warnings and worse on the console: a guest that dies leaves nothing else.
    append = f"console={_CONSOLE[machine.architecture]} loglevel=5 panic=-1 guest.cgroups={machine.cgroups}"
    if machine.architecture == "amd64":
        # QEMU 7.2 spoils the flags in cmpxchg16b, and kernels from 6.12 on die of it now and then. NumPy asks for it.
        append += f" clearcpuid={_CX16}"
    if machine.cgroups == "v2":
        append += " cgroup_no_v1=all"
    return [
        _QEMU[machine.architecture],
        *board[machine.architecture],
        *("-accel", "tcg,thread=multi", "-cpu", processor[machine.architecture]),
        *("-smp", str(machine.cpus), "-m", str(machine.memory_mib)),
        *("-nodefaults", "-display", "none", "-nic", "none", "-no-reboot", "-serial", f"file:{console}"),
        *("-kernel", str(disks.kernel), "-initrd", str(disks.initrd), "-append", append),
        *_disk("root", disks.root, "on"),
        *_disk("job", disks.job, "on"),
        *_disk("left", disks.left, "off"),
    ]


def boot(machine: Machine, disks: Disks, patience_s: float) -> Run:
    """Boot, and wait for the end."""
    with tempfile.TemporaryDirectory() as folder:
        console, began_s = Path(folder) / "console", time.monotonic()
        with disks.left.open("wb") as left:
            left.truncate(_LEFT_MIB << 20)
        with _started(command(machine, disks, console)) as process:
            try:
                _, complaint = process.communicate(timeout=patience_s)
            except subprocess.TimeoutExpired:
                complaint = None
        if process.returncode and complaint:
            raise Unfetchable(f"QEMU ended with {process.returncode}: {complaint.strip()[-300:]}")
        text = console.read_text("utf-8", "replace") if console.exists() else ""
        return Run(complaint is not None, time.monotonic() - began_s, text)


@contextmanager
def _started(arguments: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that does not outlive its block, nor us."""
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            [*_WITH_US, *arguments], stdin=nothing, stdout=nothing, stderr=subprocess.PIPE, text=True
        )
    except OSError as error:
        raise Unfetchable(f"{arguments[0]}: {error}") from error
    with process:
        try:
            yield process
        finally:
            process.kill()


def _disk(serial: str, path: Path, snapshot: str) -> list[str]:
    drive = f"file={path},if=none,id={serial},format=raw,cache=unsafe,snapshot={snapshot}"
    return ["-drive", drive, "-device", f"virtio-blk-pci,drive={serial},serial={serial}"]
