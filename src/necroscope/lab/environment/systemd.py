"""A real systemd as PID 1 of a container of its own, on the host's own /usr.

The container has a cgroup of its own in every hierarchy, a tmpfs as root and no network.

    with booted("necroscope-lab-calm-otter", cgroups) as node:
        node.add_unit("leaky.service", leaky_unit())
        ... node.bus, node.root, node.leader, node.cgroup ...
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.lab.cleaning import end_members, remove_cgroups
from necroscope.lab.environment.cgroup_tree import memory_mount
from necroscope.lab.environment.complaints import failure

TOOLS = ("systemd-nspawn", "nsenter", "timeout", "dbus-daemon", "journalctl")
HIERARCHIES = {"name=systemd", "memory", "pids", "cpu", "cpuacct"}
# where nspawn keeps things by the name of the machine, also after it was killed
TRACES = ("/run/systemd/nspawn/propagate", "/run/systemd/nspawn/unix-export")
_KERNEL_ARGUMENTS = (
    "systemd.unit=basic.target",
    "systemd.mask=systemd-firstboot.service",
    "systemd.mask=systemd-networkd-wait-online.service",
)


@dataclass(frozen=True, slots=True)
class SystemdNode:
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

    def unit_cgroup(self, unit: str) -> Path:
        """The directory of a service's memory cgroup, whether it is there or not."""
        return Path(memory_mount().path) / self.cgroup.lstrip("/") / "system.slice" / unit

    def run(self, *command: str, check: bool = True) -> str:
        """Run a command inside, for ten seconds at most; its standard output."""
        inside = ["timeout", "10", "nsenter", "-t", str(self.leader), "-a", *command]
        done = subprocess.run(inside, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if check and done.returncode:
            raise RuntimeError(failure(command, done))
        return done.stdout

    def add_unit(self, name: str, text: str, *, start: bool = True, enable: bool = True) -> None:
        """Install a unit file, enable it where it can be enabled, and start it."""
        (self.root / "etc/systemd/system" / name).write_text(text)
        self.run("systemctl", "daemon-reload")
        if enable:
            self.run("systemctl", "enable", name)
        if start:
            self.run("systemctl", "start", "--no-block", name)

    def start_unit(self, name: str) -> None:
        """Start a unit; does not wait for it."""
        self.run("systemctl", "start", "--no-block", name)

    def stop_unit(self, name: str) -> None:
        """Stop a unit and wait for it; systemd keeps its restart count until the next start."""
        self.run("systemctl", "stop", name)

    def show(self, name: str, prop: str) -> str:
        """One property of a unit, by systemctl: an independent witness."""
        return self.run("systemctl", "show", "--value", "-p", prop, name).strip()


def leaky_unit(stay_after: int | None = None, restart_ms: int = 100, kb: int = 64, complaint: str = "") -> str:
    """A unit that leaves a file on the container's /dev/shm at every run and exits 1: one zombie memcg per run.

    With `stay_after=N` the first N runs do that and the next one stays up, so that restarts and zombies are both
    exactly N and hold still; but add no other unit meanwhile: systemd counts a restart twice when it reloads during it.
    """
    stay = (
        f"[ $(ls /dev/shm/leak-%N-* 2>/dev/null | wc -l) -lt {stay_after} ] || exec sleep 1000; " if stay_after else ""
    )
    # `$$$$` is the unit-file spelling of the shell's `$$`.
    leak = f"head -c {kb * 1024} /dev/zero > /dev/shm/leak-%N-$$$$"
    return crashing_unit(
        f"{stay}echo {complaint or 'state file is corrupt, giving up'} >&2; {leak}; exit 1", restart_ms
    )


def crashing_unit(script: str, restart_ms: int = 100) -> str:
    """A unit that runs a shell script again and again."""
    return f"""[Unit]
Description=Leaves a file behind and dies
StartLimitIntervalSec=0
[Service]
ExecStart=/bin/sh -c '{script}'
Restart=always
RestartSec={restart_ms}ms
MemoryAccounting=yes
[Install]
WantedBy=multi-user.target
"""


def missing() -> str:
    """What this machine lacks for a systemd of the lab's own, in words; empty when nothing."""
    absent = [tool for tool in TOOLS if not shutil.which(tool)]
    if absent:
        return f"{', '.join(absent)} (Debian: systemd-container dbus)"
    return "" if os.geteuid() == 0 else "root"


def wanted_mounts() -> list[Path]:
    """Mount points of the hierarchies in which systemd wants a cgroup."""
    found = []
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup2" or (kind == "cgroup" and HIERARCHIES & set(options.split(","))):
            found.append(Path(where))
    return found


@contextlib.contextmanager
def booted(
    machine: str,
    cgroups: list[Path],
    started: Callable[[int], None] = lambda pid: None,
    binds: Sequence[Path] = (),
    options: Sequence[str] = (),
) -> Iterator[SystemdNode]:
    """Boot a systemd in the given cgroups, which are there, and take it down again whatever happens, with the cgroups.

    `started` hears the pid of nspawn at once. Folders of `binds` are there inside under their own names;
    `options` are more of nspawn's.
    """
    with tempfile.TemporaryFile() as log:
        nspawn = subprocess.Popen(
            entering(cgroups, _nspawn(machine, binds, options)),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            started(nspawn.pid)
            yield _boot(nspawn)
        except TimeoutError as error:
            log.seek(0)
            raise Unavailable(f"{error}; the console said: {log.read()[-2000:]!r}") from error
        finally:
            _take_down(nspawn, machine, cgroups)


def entering(cgroups: list[Path], command: list[str]) -> list[str]:
    """A command line that enters the cgroups first, so that nothing of `command` ever runs outside them."""
    enter = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@"'
    return ["sh", "-c", enter, "sh", *(str(path / "cgroup.procs") for path in cgroups), "--", *command]


def wait_for(condition: Callable[[], bool], what: str, patience_s: float = 10.0) -> None:
    """Wait until `condition` holds; TimeoutError says what did not come."""
    ends = clock.elapsed_s() + patience_s
    while not condition():
        if clock.elapsed_s() > ends:
            raise TimeoutError(f"{what} did not come within {patience_s:g} s")
        clock.sleep(0.03)


def _nspawn(machine: str, binds: Sequence[Path], more: Sequence[str]) -> list[str]:
    options = "--quiet --directory=/ --volatile=yes --boot --register=no --keep-unit --private-network --console=pipe"
    return [
        "systemd-nspawn",
        *options.split(),
        f"--machine={machine}",
        *(f"--bind={bind}" for bind in binds),
        *more,
        *_KERNEL_ARGUMENTS,
    ]


def _boot(nspawn: subprocess.Popen[bytes]) -> SystemdNode:
    """Wait for PID 1 and its bus, then give it the controllers that nspawn mounts read-only."""
    wait_for(lambda: bool(_leader(nspawn.pid)), "PID 1 of the container")
    leader = _leader(nspawn.pid)
    node = SystemdNode(leader, cgroup="")
    wait_for(lambda: Path(node.bus).exists(), "the container's bus")
    node.run("systemctl", "is-system-running", "--wait", check=False)
    remount = "for m in memory pids cpu cpuacct; do mount -o remount,rw,bind /sys/fs/cgroup/$m; done"
    if Path("/sys/fs/cgroup/memory").is_dir():
        node.run("sh", "-c", remount)
        node.run("systemctl", "daemon-reexec")
    wait_for(lambda: memory_path(leader).endswith("/init.scope"), "a memory cgroup for PID 1")
    return SystemdNode(leader, memory_path(leader).removesuffix("/init.scope"))


def memory_path(pid: int) -> str:
    """The memory cgroup of a process, as its path below the mount."""
    unified = ""
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return path
        unified = path if not controllers else unified
    return unified


def _leader(nspawn: int) -> int:
    """The container's PID 1: the child of nspawn that has become systemd; 0 while there is none."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = stat.read_text("utf-8", "replace").rpartition(")")
            if int(rest.split()[1]) == nspawn and name.endswith("(systemd"):
                return int(stat.parent.name)
    return 0


def _take_down(nspawn: subprocess.Popen[bytes], machine: str, cgroups: list[Path]) -> None:
    # Killing PID 1 of a pid namespace kills all of it; nspawn then tidies up its own mounts and leaves.
    if leader := _leader(nspawn.pid):
        with contextlib.suppress(OSError):
            os.kill(leader, 9)
        with contextlib.suppress(subprocess.TimeoutExpired):
            nspawn.wait(3)
    if nspawn.poll() is None:
        nspawn.kill()
    nspawn.wait(5)
    outlived = end_members(cgroups)
    left = remove_cgroups(cgroups)
    for trace in TRACES:
        shutil.rmtree(f"{trace}/{machine}", ignore_errors=True)
    if outlived or left:
        raise RuntimeError(f"of the lab's systemd, processes {sorted(outlived)} and cgroups {left} are still there")
