"""The system of guests: Debian 12 with Python, perf and busybox, and the Python packages, as a disk image."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from guests import wheels
from guests.cache import cache
from guests.fetching import run
from guests.packages import Apt, unpack

SUITE, PYTHON = "bookworm", "3.11"
SITE = "opt/site"
_PACKAGES = ("python3", "linux-perf", "busybox-static", "util-linux", "iproute2", "bash", "coreutils")
_FOLDERS = ("dev", "proc", "sys", "tmp", "run", "root", "job", "out", "bin", "var/lib", "etc")
# Nothing of it is used by anybody in there.
_NEEDLESS = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/include")
_ROOM_MIB = 1024


def system(architecture: str) -> Path:
    """The folder with the system, made once for a lock file; those of other lock files go."""
    folder = cache() / "systems" / f"{architecture}-{_made_of()}"
    if not (folder / "complete").exists():
        for old in folder.parent.glob(f"{architecture}-*"):
            shutil.rmtree(old)
        apt = Apt(SUITE, architecture, cache() / "apt" / f"{SUITE}-{architecture}")
        root = unpack(apt.packages(_PACKAGES), folder / "root")
        for name in _NEEDLESS:
            shutil.rmtree(root / name, ignore_errors=True)
        for name in _FOLDERS:
            (root / name).mkdir(parents=True, exist_ok=True)
        _finish(root)
        wheels.install(architecture, PYTHON, root / SITE)
        compiled(root)
        (folder / "complete").touch()
    return folder / "root"


def image(root: Path) -> Path:
    """The same as an ext4 image; guests write into copies of it."""
    target = root.with_name("root.ext4")
    if not target.exists():
        hidden = target.with_suffix(f".{os.getpid()}")
        size_mib = int(run(["du", "-sm", str(root)]).split()[0]) + _ROOM_MIB
        run(["mke2fs", "-q", "-t", "ext4", "-d", str(root), "-E", "root_owner=0:0", str(hidden), f"{size_mib}M"])
        hidden.replace(target)
    return target


def compiled(folder: Path) -> None:
    """Compile Python files here, where that is fast, when this Python is the guest's."""
    if sys.version_info[:2] == tuple(map(int, PYTHON.split("."))):
        command = [sys.executable, "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash"]
        # Some packages hold files that are no Python of this version.
        subprocess.run([*command, str(folder)], check=False, capture_output=True)


def _made_of() -> str:
    parts = (wheels.LOCK.read_text("utf-8"), *_PACKAGES, *_NEEDLESS, SUITE, PYTHON)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _finish(root: Path) -> None:
    """What the packages' scripts would have done."""
    (root / "bin/sh").unlink(missing_ok=True)
    (root / "bin/sh").symlink_to("busybox")
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n", "utf-8")
    (root / "etc/group").write_text("root:x:0:\n", "utf-8")
    (root / "etc/hosts").write_text("127.0.0.1 localhost guest\n", "utf-8")
    if not (root / "usr/bin/python3").exists():
        (root / "usr/bin/python3").symlink_to(f"python{PYTHON}")
