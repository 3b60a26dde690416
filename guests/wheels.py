"""The Python packages that Necroscope needs, for another architecture, in the versions of the lock file."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Collection, Iterator
from importlib.metadata import requires
from pathlib import Path

from guests.fetching import run

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# The machine names of wheels.
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
_PLATFORMS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_24", "manylinux_2_17", "manylinux2014")


def install(architecture: str, python: str, folder: Path) -> None:
    """Lay the packages into a folder, as pip would install them there. `python` is a version, such as 3.11."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = folder.with_suffix(".lock")
    entries = locked(LOCK.read_text("utf-8"))
    names = needed(direct(ROOT / "pyproject.toml"), entries)
    wanted.write_text("".join(entries[name] for name in sorted(names)), "utf-8")
    platforms = [f"--platform={name}_{_MACHINES[architecture]}" for name in _PLATFORMS]
    options = [*platforms, f"--python-version={python}", "--implementation=cp", "--only-binary=:all:", "--no-deps"]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    run([*pip, *options, "--require-hashes", "--target", str(folder), "-r", str(wanted)])


def direct(project: Path) -> list[str]:
    """What the program itself needs, without its extras."""
    return [_name(line) for line in tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"]]


def needed(names: list[str], among: Collection[str], of: Callable[[str], list[str] | None] = requires) -> set[str]:
    """These packages and all that they need, as installed here. What is not locked is for other systems."""
    found: set[str] = set()
    waiting = [_name(name) for name in names]
    while waiting:
        name = waiting.pop()
        if name in among and name not in found:
            found.add(name)
            waiting += [_name(line) for line in of(name) or () if "extra ==" not in line]
    return found


def locked(lock: str) -> dict[str, str]:
    """The entries of a lock file by name, with their hashes."""
    return {_name(entry): entry for entry in _entries(lock)}


def _entries(lock: str) -> Iterator[str]:
    entry = ""
    for line in lock.splitlines(keepends=True):
        if line[:1].isalnum() and entry:
            yield entry
            entry = ""
        entry += line
    if entry:
        yield entry


def _name(line: str) -> str:
    found = _NAME.match(line.strip())
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""
