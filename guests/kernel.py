"""A Debian kernel, and the small first file system that finds the guest's disks with it."""

from __future__ import annotations

import lzma
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from guests.archive import Member, cpio
from guests.cache import cache
from guests.fetching import Unfetchable, run
from guests.machines import Machine
from guests.packages import Apt, unpack

# What finds a disk and reads its file system; some kernels have some of it built in.
_MODULES = ("virtio_pci", "virtio_blk", "ext4")
_INIT = Path(__file__).with_name("init.sh")
_VERSION = re.compile(r"linux-(?:image|binary)-(\d\S*)")


@dataclass(frozen=True)
class Kernel:
    """What QEMU starts."""

    version: str
    image: Path
    modules: Path
    """The folder in which `lib/modules/VERSION` is."""


def fetch(machine: Machine) -> Kernel:
    """The newest cloud kernel of the machine's release, unpacked."""
    apt = Apt(machine.suite, machine.architecture, cache() / "apt" / f"{machine.suite}-{machine.architecture}")
    name = _named(apt.depends(f"linux-image-cloud-{machine.architecture}"), machine)
    version = name.removeprefix("linux-image-")
    folder = cache() / "kernels" / version
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        unpack([apt.only(part) for part in _parts(apt, name, version)], folder)
        run(["depmod", "-b", str(folder), version])
        (folder / "complete").touch()
    return Kernel(version, _image(folder, version), folder)


def initrd(kernel: Kernel, busybox: Path) -> bytes:
    """The first file system, as a cpio archive: busybox, the modules in their order, and the script that begins."""
    members = [Member(name, b"", 0o040755) for name in ("bin", "dev", "modules", "proc", "root", "sys")]
    members += [Member("bin/busybox", busybox.read_bytes(), 0o100755), Member("init", _INIT.read_bytes(), 0o100755)]
    found = [*_modules(kernel)]
    members += [Member(f"modules/{name}", code, 0o100644) for name, code in found]
    members.append(Member("modules/order", "".join(f"{name}\n" for name, _ in found).encode(), 0o100644))
    return cpio(members)


def _named(depends: list[str], machine: Machine) -> str:
    for name in depends:
        if _VERSION.fullmatch(name) and name.startswith(f"linux-image-{machine.kernel}"):
            return name
    raise Unfetchable(f"{machine.suite} has no kernel {machine.kernel}: {', '.join(depends)}")


def _parts(apt: Apt, name: str, version: str) -> list[str]:
    # From 6.19 on the package is empty; the kernel, its modules and their index are in three that it depends on.
    wanted = [f"linux-{part}-{version}" for part in ("base", "binary", "modules")]
    parts = [part for part in apt.depends(name) if part in wanted]
    return parts or [name]


def _image(folder: Path, version: str) -> Path:
    for name in (f"boot/vmlinuz-{version}", f"lib/modules/{version}/vmlinuz"):
        if (folder / name).exists():
            return folder / name
    raise Unfetchable(f"there is no kernel in the packages of {version}")


def _modules(kernel: Kernel) -> Iterator[tuple[str, bytes]]:
    """Names and contents, each after what it needs."""
    told: set[str] = set()
    for wanted in _MODULES:
        shown = run(["modprobe", "-d", str(kernel.modules), "-S", kernel.version, "--show-depends", wanted])
        for line in shown.splitlines():
            path = Path(line.split()[1])
            if line.startswith("insmod") and path.name not in told:
                told.add(path.name)
                yield path.name.removesuffix(".xz").removesuffix(".zst"), _unpacked(path)


def _unpacked(path: Path) -> bytes:
    if path.suffix == ".xz":
        return lzma.decompress(path.read_bytes())
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dc", str(path)], check=True, capture_output=True).stdout
    return path.read_bytes()
