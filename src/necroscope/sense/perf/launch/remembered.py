"""What a perf of this node was found to lack, kept for the next start in a file that only its owner can write.

It holds for one perf program, one kernel and one boot, and for a day: whatever else is in the file, is damaged or was
written by somebody else, is as good as no file.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from necroscope.clock import NS

FILE = "perf-options.json"
FORMAT = 1
_HOLDS_NS = 86_400 * NS
_LONGEST = 4096


@dataclass(frozen=True, slots=True)
class Remembered:
    """The perf that worked, where it worked, and the names of the features that it lacks."""

    perf: str
    identity: str
    kernel: str
    boot_id: str
    lacks: tuple[str, ...]
    at_ns: int


def recall(path: Path, kernel: str, boot_id: str, now_ns: int) -> Remembered | None:
    """What is remembered for this kernel and boot."""
    try:
        found = _parsed(_read(path))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    held = (found.kernel, found.boot_id) == (kernel, boot_id) and 0 <= now_ns - found.at_ns < _HOLDS_NS
    return found if held else None


def remember(path: Path, found: Remembered) -> None:
    """Keep it. A folder that cannot be written is no reason not to record: the next start finds out again."""
    record = {
        "format": FORMAT,
        "perf": found.perf,
        "identity": found.identity,
        "kernel": found.kernel,
        "boot_id": found.boot_id,
        "lacks": list(found.lacks),
        "at_ns": found.at_ns,
    }
    fresh = path.with_name(f".{path.name}")
    with contextlib.suppress(OSError):
        fresh.unlink(missing_ok=True)
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w") as file:
            json.dump(record, file)
        fresh.replace(path)


def forget(path: Path) -> None:
    """It was wrong."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def _read(path: Path) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o022:
            raise ValueError("somebody else's")
        return os.read(fd, _LONGEST)
    finally:
        os.close(fd)


def _parsed(text: bytes) -> Remembered:
    record = json.loads(text)
    perf, identity, kernel, boot_id = (record[name] for name in ("perf", "identity", "kernel", "boot_id"))
    lacks, at_ns = record["lacks"], record["at_ns"]
    if record["format"] != FORMAT or not isinstance(at_ns, int) or not isinstance(lacks, list):
        raise ValueError("of another kind")
    if not all(isinstance(word, str) for word in (perf, identity, kernel, boot_id, *lacks)):
        raise ValueError("of another kind")
    return Remembered(perf, identity, kernel, boot_id, tuple(lacks), at_ns)
