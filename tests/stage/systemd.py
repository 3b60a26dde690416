"""A real systemd as PID 1 of a container of its own, on the host's own /usr.

    with booted_systemd() as stage:
        stage.add_unit("leaky.service", leaky_unit())
        ... stage.bus, stage.root, stage.leader, stage.cgroup ...
        stage.stop_unit("leaky.service")

The container has a cgroup of its own in every hierarchy, a tmpfs as root and no network. Leaving the
block kills it, removes its cgroups and checks that neither processes nor cgroups are left.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from stage import cgroups, processes

_SERIAL = count(1)
_TOOLS = ("systemd-nspawn", "nsenter", "timeout", "dbus-daemon", "journalctl")
_KERNEL_ARGUMENTS = (
    "systemd.unit=basic.target",
    "systemd.mask=systemd-firstboot.service",
    "systemd.mask=systemd-networkd-wait-online.service",
)


@dataclass(frozen=True, slots=True)
class SystemdStage:
    """A booted systemd. `cgroup` is the memory cgroup below which its units live: `{cgroup}/system.slice/x.service`."""

    leader: int
    cgroup: str

    @property
    def root(self) -> Path:
        """The container's root, seen from here."""
        return Path(f"/proc/{self.leader}/root")

    @property
    def bus(self) -> str:
        """The path of the container's system bus socket, seen from here."""
        return f"{self.root}/run/dbus/system_bus_socket"

    def run(self, *command: str, check: bool = True) -> str:
        """Run a command inside, for ten seconds at most; its standard output."""
        inside = ["timeout", "10", "nsenter", "-t", str(self.leader), "-a", *command]
        done = subprocess.run(inside, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def add_unit(self, name: str, text: str, *, start: bool = True, enable: bool = True) -> None:
        """Install a unit file, enable it where it can be enabled, and start it."""
        (self.root / "etc/systemd/system" / name).write_text(text)
        self.run("systemctl", "daemon-reload")
        if enable:
            self.run("systemctl", "enable", name)
        if start:
            self.run("systemctl", "start", "--no-block", name)

    def stop_unit(self, name: str) -> None:
        """Stop a unit and wait for it; systemd keeps its restart count until the next start."""
        self.run("systemctl", "stop", name)

    def show(self, name: str, prop: str) -> str:
        """One property of a unit, by systemctl: an independent witness."""
        return self.run("systemctl", "show", "--value", "-p", prop, name).strip()


def leaky_unit(stay_after: int | None = None) -> str:
    """A unit that leaves 64 KB on the container's /dev/shm at every run and exits 1: one zombie memcg per run.

    With `stay_after=N` the first N runs do that and the next one stays up, so that restarts and zombies are both
    exactly N and hold still.
    """
    stay = (
        f"[ $(ls /dev/shm/leak-%N-* 2>/dev/null | wc -l) -lt {stay_after} ] || exec sleep 1000; " if stay_after else ""
    )
    # `$$$$` is the unit-file spelling of the shell's `$$`.
    leak = "head -c 65536 /dev/zero > /dev/shm/leak-%N-$$$$"
    script = f"{stay}echo state file is corrupt, giving up >&2; {leak}; exit 1"
    return f"""[Unit]
Description=Leaves a file behind and dies
StartLimitIntervalSec=0
[Service]
ExecStart=/bin/sh -c '{script}'
Restart=always
RestartSec=100ms
MemoryAccounting=yes
[Install]
WantedBy=multi-user.target
"""


@contextlib.contextmanager
def booted_systemd() -> Iterator[SystemdStage]:
    """Boot a systemd, and take it down again whatever happens. Skips the test where it cannot be had."""
    _skip_unless_possible()
    name = f"necroscope-stage-{os.getpid()}-{next(_SERIAL)}"
    own = cgroups.make(name)
    with tempfile.TemporaryFile() as log:
        nspawn = subprocess.Popen(
            cgroups.entering(own, _nspawn(name)), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            yield _boot(nspawn)
        except TimeoutError as error:
            log.seek(0)
            raise TimeoutError(f"{error}; the console said: {log.read()[-2000:]!r}") from error
        finally:
            _take_down(nspawn, own)


def _skip_unless_possible() -> None:
    absent = [tool for tool in _TOOLS if not shutil.which(tool)]
    if absent:
        pytest.skip(f"needs {', '.join(absent)} (Debian: systemd-container dbus)")
    if os.geteuid() != 0:
        pytest.skip("booting a systemd needs root")


def _nspawn(name: str) -> list[str]:
    options = "--quiet --directory=/ --volatile=yes --boot --register=no --keep-unit --private-network --console=pipe"
    return ["systemd-nspawn", *options.split(), f"--machine={name}", *_KERNEL_ARGUMENTS]


def _boot(nspawn: subprocess.Popen[bytes]) -> SystemdStage:
    """Wait for PID 1 and its bus, then give it the controllers that nspawn mounts read-only."""
    processes.wait_for(lambda: bool(_leader(nspawn.pid)), "PID 1 of the container")
    leader = _leader(nspawn.pid)
    stage = SystemdStage(leader, cgroup="")
    processes.wait_for(lambda: Path(stage.bus).exists(), "the container's bus")
    stage.run("systemctl", "is-system-running", "--wait", check=False)
    remount = "for m in memory pids cpu cpuacct; do mount -o remount,rw,bind /sys/fs/cgroup/$m; done"
    if Path("/sys/fs/cgroup/memory").is_dir():
        stage.run("sh", "-c", remount)
        stage.run("systemctl", "daemon-reexec")
    processes.wait_for(lambda: cgroups.memory_path(leader).endswith("/init.scope"), "a memory cgroup for PID 1")
    return SystemdStage(leader, cgroups.memory_path(leader).removesuffix("/init.scope"))


def _leader(nspawn: int) -> int:
    """The container's PID 1: the child of nspawn that has become systemd; 0 while there is none."""
    for child in processes.children(nspawn):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                return child
    return 0


def _take_down(nspawn: subprocess.Popen[bytes], own: list[Path]) -> None:
    # Killing PID 1 of a pid namespace kills all of it; nspawn then tidies up its own mounts and leaves.
    if leader := _leader(nspawn.pid):
        with contextlib.suppress(OSError):
            os.kill(leader, 9)
        with contextlib.suppress(subprocess.TimeoutExpired):
            nspawn.wait(3)
    processes.end(nspawn)
    outlived = processes.end_members(own)
    left = cgroups.remove(own)
    assert not outlived, f"processes {sorted(outlived)} of the staged systemd are still there"
    assert not left, f"cgroups of the staged systemd are still there: {left}"
