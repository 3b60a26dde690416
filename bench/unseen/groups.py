"""Control groups of an incident, on pure cgroup v2 and on machines where v1 has the controllers."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
UNIFIED = ROOT if (ROOT / "cgroup.controllers").exists() else ROOT / "unified"
PURE = UNIFIED == ROOT
_HUGE = 1 << 50


class Groups:
    """Makes them, and removes all of them at the end, the deepest first."""

    def __init__(self) -> None:
        self._made: list[Path] = []
        self._enabled: list[str] = []

    @property
    def realtime(self) -> bool:
        """Whether a process in a group of ours can have real-time priority: not below the `cpu` controller of v2."""
        return not PURE or "cpu" not in (UNIFIED / "cgroup.subtree_control").read_text().split()

    def enable(self, *controllers: str) -> None:
        """From the root on, in all groups that are made from now on."""
        for controller in controllers if PURE else ():
            if controller not in (UNIFIED / "cgroup.subtree_control").read_text().split():
                _write(UNIFIED / "cgroup.subtree_control", f"+{controller}")
                self._enabled.append(controller)

    def make(self, path: str, *, realtime: bool = False, **settings: str) -> list[str]:
        """The group with its settings (`memory_max="64M"`); what a process writes itself to to be in it."""
        procs = []
        for top in _tops(settings, realtime):
            here = top
            for part in path.strip("/").split("/"):
                if PURE and here != top:
                    self._pass_on(here)
                here /= part
                if not here.exists():
                    here.mkdir()
                    self._made.append(here)
            procs.append(str(here / "cgroup.procs"))
        for name, value in settings.items():
            _set(path, name, value)
        return procs

    def memory(self, path: str) -> Path:
        """The folder of the memory controller."""
        return (UNIFIED if PURE else ROOT / "memory") / path.strip("/")

    def memory_used(self, path: str) -> int:
        """Bytes that the group and all below it are charged for."""
        return int((self.memory(path) / ("memory.current" if PURE else "memory.usage_in_bytes")).read_text())

    def freeze(self, path: str, frozen: bool) -> None:
        """Stops all processes of the group, or lets them go on."""
        _write(UNIFIED / path.strip("/") / "cgroup.freeze", "1" if frozen else "0")

    def remove(self) -> None:
        for folder in sorted(set(self._made), key=lambda made: -len(made.parts)):
            _remove(folder)
        for controller in self._enabled:
            with suppress(OSError):
                _write(UNIFIED / "cgroup.subtree_control", f"-{controller}")

    def _pass_on(self, group: Path) -> None:
        wanted = (UNIFIED / "cgroup.subtree_control").read_text().split()
        have = (group / "cgroup.subtree_control").read_text().split()
        for controller in set(wanted) - set(have):
            _write(group / "cgroup.subtree_control", f"+{controller}")


def _tops(settings: dict[str, str], realtime: bool) -> list[Path]:
    if PURE:
        return [UNIFIED]
    tops = [UNIFIED, ROOT / "memory"]
    if "io_max" in settings:
        tops.append(ROOT / "blkio")
    return tops if realtime else [*tops, ROOT / "cpu"]


def _set(path: str, name: str, value: str) -> None:
    if PURE:
        _write(UNIFIED / path.strip("/") / name.replace("_", ".", 1), value)
        return
    for controller, file, text in _as_v1(name, value):
        _write(ROOT / controller / path.strip("/") / file, text)


def _as_v1(name: str, value: str) -> list[tuple[str, str, str]]:
    if name == "cpu_weight":
        return [("cpu", "cpu.shares", str(max(2, int(value) * 1024 // 100)))]
    if name == "cpu_max":
        quota, period = value.split()
        return [("cpu", "cpu.cfs_period_us", period), ("cpu", "cpu.cfs_quota_us", quota)]
    if name == "memory_max":
        return [("memory", "memory.limit_in_bytes", str(_HUGE) if value == "max" else value)]
    if name == "cpu_idle":
        return [("cpu", "cpu.idle", value)]
    if name == "io_max":
        device, limit = value.split(" wbps=")
        return [("blkio", "blkio.throttle.write_bps_device", f"{device} {limit}")]
    return []


def _remove(folder: Path) -> None:
    """With all groups that were made below it."""
    for _ in range(50):
        with suppress(OSError):
            for below in sorted(folder.rglob("*/"), key=lambda path: -len(path.parts)):
                below.rmdir()
            folder.rmdir()
        if not folder.exists():
            return
        time.sleep(0.05)


def _write(path: Path, text: str) -> None:
    with path.open("w") as file:
        file.write(text)
