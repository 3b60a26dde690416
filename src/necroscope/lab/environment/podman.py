"""A real container engine of the lab's own: podman with private storage, and its Docker-compatible API.

    with engine(folder, "necroscope-lab-calm-otter") as pod:
        container = pod.run("leaky", LEAKY)
        ... pod.socket, container.id, container.cgroup ...
        pod.remove("leaky")

The image is one static busybox. `/state` in every container is a tmpfs of the engine, so that what a container
leaves there outlives it and pins its memory cgroup. Leaving the block removes containers, processes, mounts and
cgroups, and checks that they are gone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from necroscope.lab.cleaning import end_members, hierarchies, remove_cgroups, unmount_below
from necroscope.lab.environment.complaints import failure
from necroscope.lab.environment.systemd import entering, wait_for, wanted_mounts

IMAGE = "lab:1"
QUITTING = "echo state file is corrupt >&2; exit 3"
LEAKY = "echo state file is corrupt >&2; busybox head -c 65536 /dev/zero > $(busybox mktemp /state/XXXXXX); exit 3"

# The one folder that podman takes from nowhere in its configuration: what it knows of layers it has imported.
CACHE = Path("/var/lib/containers/cache")
TOOLS = ("podman", "runc", "conmon", "busybox", "mount", "umount")


@dataclass(frozen=True, slots=True)
class LabContainer:
    """A container and the memory cgroup that each of its runs gets."""

    id: str
    name: str
    cgroup: str


@dataclass(frozen=True, slots=True)
class ContainerEngine:
    """A podman of our own. `socket` speaks the Docker API; `cgroup` is the memory cgroup above all containers."""

    folder: Path
    cgroup: str

    @property
    def socket(self) -> str:
        """The path of the API socket."""
        return str(self.folder / "api.sock")

    @property
    def state(self) -> Path:
        """The tmpfs that containers see as /state."""
        return self.folder / "state"

    def podman(self, *arguments: str, check: bool = True) -> str:
        """Run a podman command on the private storage, for 20 seconds at most; its standard output."""
        done = subprocess.run(
            self.command(*arguments), check=False, env=self.environment(), capture_output=True, text=True, timeout=20
        )
        if check and done.returncode:
            raise RuntimeError(failure(("podman", *arguments), done))
        return done.stdout.strip()

    def run(self, name: str, script: str, *, restart: str = "always") -> LabContainer:
        """Start a container that runs a busybox shell script, under a restart policy."""
        container = self.create(name, script, restart=restart)
        self.podman("start", name)
        return container

    def create(self, name: str, script: str, *, restart: str = "always") -> LabContainer:
        """The same, without starting it."""
        volume = f"{self.state}:/state"
        where = ("--network", "none", "--cgroup-parent", self.cgroup, "--volume", volume, "--restart", restart)
        identity = self.podman("create", "--name", name, *where, IMAGE, "/bin/sh", "-c", script)
        return LabContainer(identity, name, f"{self.cgroup}/libpod-{identity}")

    def inspect(self, name: str, template: str) -> str:
        """One property of a container by podman itself, as a Go template: an independent witness.

        podman fails when the container's process dies while it looks: in a crash loop it is asked again.
        """
        arguments = ("inspect", "--type", "container", "--format", template, name)
        for _ in range(9):
            with contextlib.suppress(RuntimeError):
                return self.podman(*arguments)
        return self.podman(*arguments)

    def remove(self, name: str) -> None:
        """Kill and remove a container. In a crash loop podman may find it neither running nor stopped: it insists."""
        wait_for(lambda: self._removed(name), f"the end of container {name}")

    def _removed(self, name: str) -> bool:
        self.podman("rm", "--force", "--time", "0", "--ignore", name, check=False)
        return not self.podman("ps", "--all", "--quiet", "--filter", f"name=^{name}$")

    def command(self, *arguments: str) -> list[str]:
        """The command line of a podman on the private storage."""
        storage = [f"--root={self.folder}/root", f"--runroot={self.folder}/run", "--storage-driver=vfs"]
        return ["podman", *storage, *arguments]

    def environment(self) -> dict[str, str]:
        """The environment of such a podman."""
        return {**os.environ, "CONTAINERS_CONF": f"{self.folder}/containers.conf", "TMPDIR": str(self.folder)}


def missing() -> str:
    """What this machine lacks for a container engine of the lab's own, in words; empty when nothing."""
    absent = [tool for tool in TOOLS if not shutil.which(tool)]
    if absent:
        return f"{', '.join(absent)} (Debian: podman runc busybox-static)"
    return "" if os.geteuid() == 0 else "root"


@contextlib.contextmanager
def engine(folder: Path, cgroup: str, started: Callable[[int], None] = lambda pid: None) -> Iterator[ContainerEngine]:
    """Set up a podman in an empty folder, with a running API service, and take it down again whatever happens.

    `cgroup` is its cgroup below the mounts, made here and removed with all below it.
    """
    own = [mount / cgroup for mount in wanted_mounts()]
    for path in own:
        path.mkdir()
    made = ContainerEngine(folder, f"/{cgroup}")
    service = None
    cached_before = CACHE.exists()
    try:
        _furnish(made)
        service = _serve(made, own)
        started(service.pid)
        yield made
    finally:
        if not cached_before:
            shutil.rmtree(CACHE, ignore_errors=True)
        _take_down(made, service, cgroup)


def _furnish(engine: ContainerEngine) -> None:
    """Folders, the tmpfs, the configuration (cgroupfs, runc: crun refuses hybrid cgroups) and the image."""
    for below in ("root", "run", "tmp", "state", "cni"):
        (engine.folder / below).mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m", "none", str(engine.state)], check=True, timeout=5)
    (engine.folder / "containers.conf").write_text(
        f"""[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
lock_type = "file"
tmp_dir = "{engine.folder}/tmp"
[network]
network_config_dir = "{engine.folder}/cni"
"""
    )
    write_image(engine.folder / "image.tar")
    engine.podman("import", "--quiet", str(engine.folder / "image.tar"), IMAGE)


def write_image(path: Path) -> None:
    """Write a root filesystem of one static program and a few empty folders."""
    with tarfile.open(path, "w") as tar:
        for name in ("bin", "state", "tmp", "proc", "sys", "dev", "etc"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        program = Path(str(shutil.which("busybox"))).read_bytes()
        entry = tarfile.TarInfo("bin/busybox")
        entry.mode, entry.size = 0o755, len(program)
        tar.addfile(entry, BytesIO(program))
        entry = tarfile.TarInfo("bin/sh")
        entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
        tar.addfile(entry)


def _serve(engine: ContainerEngine, own: list[Path]) -> subprocess.Popen[bytes]:
    command = engine.command("system", "service", "--time", "0", f"unix://{engine.socket}")
    service = subprocess.Popen(
        entering(own, command),
        env=engine.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: Path(engine.socket).exists(), "the socket of the container engine")
    return service


def _take_down(engine: ContainerEngine, service: subprocess.Popen[bytes] | None, cgroup: str) -> None:
    """Ask the engine first, then end what is left by pid; runc's own state of our containers goes too."""
    identities: list[str] = []
    with contextlib.suppress(RuntimeError, TimeoutError, subprocess.TimeoutExpired):
        identities = engine.podman("ps", "--all", "--quiet", "--no-trunc").split()
        for name in engine.podman("ps", "--all", "--format", "{{.Names}}").split():
            engine.remove(name)
    if service:
        service.kill()
        service.wait(5)
    # runc makes its cgroup in every hierarchy, also in those that the lab has no use for.
    everywhere = [mount / cgroup for mount in hierarchies() if (mount / cgroup).exists()]
    outlived = end_members(everywhere)
    left = remove_cgroups(everywhere)
    unmount_below([str(engine.folder)])
    for identity in identities:
        shutil.rmtree(f"/run/runc/{identity}", ignore_errors=True)
    shutil.rmtree(engine.folder)
    if outlived or left:
        raise RuntimeError(f"of the lab's engine, processes {sorted(outlived)} and cgroups {left} are still there")
