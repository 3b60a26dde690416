"""Zombie memory cgroups made for real, of each kind of pin, under a cgroup and in folders of their own.

    with ZombieFarm("demo") as farm:
        farm.make("tmpfs", 40, parent="alpha")

    tmpfs        a page of a file on a tmpfs, charged to a cgroup that is then removed
    page-cache   the same with a file on a disk, synced
    anon         a page of a process that left the cgroup and lives on

Works with the memory controller on v1 and on v2. Everything is removed on exit, after a failure too; what a killed run
left behind is found by its name (`leftovers`) and removed by `clean`.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal

from necroscope import clock
from necroscope.errors import BadInput, NecroscopeError, Unavailable
from necroscope.lab import undo_log
from necroscope.lab.environment.cgroup_tree import (
    dying_descendants,
    enable_memory,
    home,
    memory_mount,
    remove_tree,
    write,
)
from necroscope.lab.environment.complaints import complaint
from necroscope.sense.host import Host

PREFIX = "necroscope-lab-"
Kind = Literal["tmpfs", "page-cache", "anon"]
_OWNER = "owner"
_END_S = 5.0
_LETTERS = str.maketrans("0123456789abcdef", "ghijklmnopqrstuv")


@dataclass(frozen=True, slots=True)
class Batch:
    """Zombies made in one go: where they were, and the files that pin them (same order; none for anon)."""

    kind: Kind
    paths: tuple[str, ...]
    files: tuple[Path, ...]
    holder: subprocess.Popen[str] | None = field(default=None, repr=False)


class ZombieFarm:
    """A cgroup of its own in which zombies are made. Use as a context."""

    def __init__(self, name: str, tmpfs: Path = Path("/dev/shm"), disk: Path = Path("/var/tmp")) -> None:
        if not name or "/" in name:
            raise BadInput(f"{name!r} is no name for a farm")
        self.name = PREFIX + name
        self._mount = memory_mount()
        # the path as the kernel knows it, where the mount shows only a part of the tree
        self.path = f"{self._mount.root.rstrip('/')}/{self.name}"
        self._cgroup = Path(self._mount.path) / self.name
        self._folders: dict[Kind, Path] = {"tmpfs": tmpfs / self.name, "page-cache": disk / self.name}
        self._batches: list[Batch] = []
        self._made = 0
        self._enabled_at_root = False

    def __enter__(self) -> ZombieFarm:
        if self._cgroup.exists() or any(folder.exists() for folder in self._folders.values()):
            raise BadInput(f"{self.name} is there already", "another run uses it, or left it behind: clean it first")
        try:
            for folder in self._folders.values():
                folder.mkdir(mode=0o700)
            (self._folders["tmpfs"] / _OWNER).write_text(_identity(os.getpid()))
            self._enabled_at_root = self._mount.v2 and enable_memory(Path(self._mount.path))
            self._ensure(self._cgroup)
        except OSError as error:
            self.clean()
            raise Unavailable(
                f"no cgroup can be made in {self._mount.path}: {error.strerror}", "run as root"
            ) from error
        except BaseException:
            self.clean()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.clean()

    # -- making ------------------------------------------------------------------------------------------

    def make(self, kind: Kind, count: int, parent: str = "", template: str = "z<n>") -> Batch:
        """`count` zombies under `parent`; in names, `<n>` becomes a number and `<id>` sixty-four hexadecimal digits."""
        cgroup = self._ensure(self._cgroup / parent)
        names = self._names(count, template)
        folder = self._folders.get(kind, self._folders["tmpfs"]) / str(self._made)
        folder.mkdir()
        holder = run_maker(kind, names, cgroup, home(self._mount), folder)
        inside = cgroup.relative_to(self._cgroup)
        paths = tuple(str(Path(self.path) / inside / name) for name in names)
        files = () if kind == "anon" else tuple(folder / name for name in names)
        batch = Batch(kind, paths, files, holder)
        self._batches.append(batch)
        return batch

    def make_directories(self, count: int, parent: str = "", template: str = "d<n>") -> tuple[str, ...]:
        """Live cgroups with nothing in them: leaked directories, not zombies."""
        cgroup = self._ensure(self._cgroup / parent)
        names = self._names(count, template)
        try:
            for name in names:
                (cgroup / name).mkdir()
        except OSError as error:
            # a kernel has at most 65,535 live memory cgroups
            raise Unavailable(f"no more cgroups can be made in {cgroup}: {error.strerror}") from error
        inside = cgroup.relative_to(self._cgroup)
        return tuple(str(Path(self.path) / inside / name) for name in names)

    def free(self, batch: Batch) -> None:
        """Take away what pins a batch; the kernel releases its cgroups some time after."""
        if batch in self._batches:
            self._batches.remove(batch)
        end_maker(batch.holder)
        for file in batch.files:
            _unlink(file)

    # -- removing ----------------------------------------------------------------------------------------

    def clean(self, patience_s: float = 10.0) -> int | None:
        """Remove all that was made; the zombies that are left after `patience_s` (None: they cannot be counted)."""
        while self._batches:
            self.free(self._batches[-1])
        _remove_folders(self._folders.values())
        left = self._wait_until_gone(patience_s)
        remove_tree(self._cgroup)
        if self._enabled_at_root:
            self._enabled_at_root = False
            with contextlib.suppress(OSError):
                write(Path(self._mount.path) / "cgroup.subtree_control", "-memory")
        return left

    def zombies(self) -> int | None:
        """Zombies below the farm now; None where nothing can count them."""
        if self._mount.v2:
            return dying_descendants(self._cgroup)
        from necroscope.sense.kernel.memcg_walk import walk_memcgs

        try:
            walked = walk_memcgs(Host())
        except Unavailable:
            return None
        mine = (row.zombies for row in walked.by_parent if f"{row.path}/".startswith(f"{self.path}/"))
        return sum(mine)

    def _wait_until_gone(self, patience_s: float) -> int | None:
        ends = clock.elapsed_s() + patience_s
        while self._cgroup.exists() and (left := self.zombies()) != 0:
            if left is None or clock.elapsed_s() > ends:
                return left
            clock.sleep(0.05)
        return 0

    # -- cgroups -----------------------------------------------------------------------------------------

    def _ensure(self, cgroup: Path) -> Path:
        """The cgroup and those above it, down from the farm's own; on v2 each hands the memory controller down."""
        if not cgroup.is_relative_to(self._cgroup) or ".." in cgroup.parts:
            raise BadInput(f"{cgroup} is not in {self._cgroup}")
        inside = cgroup.relative_to(self._cgroup).parts
        for depth in range(len(inside) + 1):
            one = self._cgroup.joinpath(*inside[:depth])
            one.mkdir(exist_ok=True)
            if self._mount.v2:
                enable_memory(one)
        return cgroup

    def _names(self, count: int, template: str) -> list[str]:
        first, self._made = self._made, self._made + max(1, count)
        return [
            template.replace("<n>", f"{number:06d}").replace("<id>", secrets.token_hex(32))
            for number in range(first, first + count)
        ]


def own_name(purpose: str) -> str:
    """A farm's name that no other process uses, without digits: zombies of two farms are then never one family."""
    return f"{purpose}-{f'{os.getpid():x}'.translate(_LETTERS)}"


def leftovers(tmpfs: Path = Path("/dev/shm"), disk: Path = Path("/var/tmp")) -> tuple[str, ...]:
    """Names of farms whose maker is gone."""
    places = (Path(memory_mount().path), tmpfs, disk)
    found = {path.name for place in places for path in place.glob(f"{PREFIX}*") if path.is_dir()}
    # runs of the lab have undo logs, and are cleaned by them
    found -= {f"{PREFIX}{path.stem}" for path in undo_log.place().glob("*.jsonl")}
    return tuple(sorted(name.removeprefix(PREFIX) for name in found if not _owned(tmpfs / name)))


def clean(name: str, tmpfs: Path = Path("/dev/shm"), disk: Path = Path("/var/tmp")) -> int | None:
    """Remove what a killed run left behind; returns like `ZombieFarm.clean`."""
    if name not in leftovers(tmpfs, disk):
        raise BadInput(f"{PREFIX}{name} was not left behind", "it is not there, or its maker lives")
    return ZombieFarm(name, tmpfs, disk).clean()


# -- processes -------------------------------------------------------------------------------------------


def run_maker(kind: Kind, names: list[str], cgroup: Path, home: Path, folder: Path) -> subprocess.Popen[str] | None:
    """Run the maker to its end; a maker of anonymous pages is returned, alive."""
    command = [
        sys.executable,
        "-P",
        "-m",
        "necroscope.lab.actors.zombie_maker",
        kind,
        str(len(names)),
        cgroup,
        home,
        folder,
    ]
    maker = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert maker.stdin is not None
    assert maker.stdout is not None
    assert maker.stderr is not None
    try:
        maker.stdin.write("".join(f"{name}\n" for name in names))
        maker.stdin.flush()
        ready = maker.stdout.readline() == "ready\n"
    except BrokenPipeError:
        ready = False
    except BaseException:
        end_maker(maker)
        raise
    if not ready:
        why = complaint(maker.stderr.read())
        end_maker(maker)
        raise NecroscopeError(f"the maker of zombies failed: {why}")
    if kind == "anon":
        return maker
    end_maker(maker)
    return None


def end_maker(maker: subprocess.Popen[str] | None) -> None:
    """End a maker and wait for it: its standard input ends, or it is killed."""
    if maker is None:
        return
    for pipe in (maker.stdin, maker.stdout, maker.stderr):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
    try:
        maker.wait(_END_S)
    except subprocess.TimeoutExpired:
        maker.kill()
        maker.wait()


def _identity(pid: int) -> str:
    """A process, distinguished from a later one with its number."""
    started = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return f"{pid} {started}"


def _owned(folder: Path) -> bool:
    try:
        owner = (folder / _OWNER).read_text()
        return _identity(int(owner.split()[0])) == owner
    except (OSError, ValueError, IndexError):
        return False


# -- files ---------------------------------------------------------------------------------------------


def _unlink(file: Path) -> None:
    try:
        fd = os.open(file, os.O_RDONLY)
    except OSError:
        return
    try:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)
    file.unlink(missing_ok=True)


def _remove_folders(folders: Iterable[Path]) -> None:
    for folder in folders:
        for file in folder.rglob("*"):
            if file.is_file():
                _unlink(file)
        shutil.rmtree(folder, ignore_errors=True)
