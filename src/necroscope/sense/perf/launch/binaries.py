"""Which perf programs there are: the one on the path, and those that distributions keep for other kernels.

Ubuntu's `/usr/bin/perf`, and Debian's up to 11, are scripts that run the program made for the running kernel and refuse
to run another, though perf works with older and newer kernels. The programs lie in
`/usr/lib/linux-tools/RELEASE/perf`, `/usr/lib/linux-*tools-*/perf` and `/usr/bin/perf_VERSION`.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from necroscope.errors import Unavailable
from necroscope.sense.environment import for_programs, program_folders
from necroscope.sense.ownership import weak_part
from necroscope.sense.perf.launch.complaints import first_sentence, refuses_this_kernel, without_usage

ELSEWHERE = ("usr/lib/linux-tools/*/perf", "usr/lib/linux-*tools-*/perf", "usr/bin/perf_[0-9]*")
INSTALL = "Debian: apt-get install linux-perf; Ubuntu: apt-get install linux-tools-generic"
_ANSWER_S = 10.0
_OPTION = re.compile(r"^\s+(?:-\w, )?--([a-z][a-z-]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Binary:
    """A perf program, and which file it is: `identity` changes when it is replaced."""

    path: str
    identity: str


def binaries(release: str, root: Path = Path("/")) -> Iterator[Binary]:
    """The perf programs of this node that may be run: those of the usual folders first, then that for this kernel,
    then the newest. One that another user could have written is left out."""
    paths = [Path(folder, "perf") for folder in program_folders()]
    others = {path for pattern in ELSEWHERE for path in root.glob(pattern)}
    series = ".".join(release.split(".")[:2])
    paths += sorted(others, key=lambda path: (_is_for(path, release, series), _version(path)), reverse=True)
    seen: set[str] = set()
    for path in paths:
        found = binary(str(path))
        if found is not None and found.identity not in seen:
            seen.add(found.identity)
            yield found


def binary(path: str) -> Binary | None:
    """The program at a path; None when it is none, or when others than its user or root may write it."""
    try:
        real = Path(path).resolve(strict=True)
        about = real.stat()
        weak = weak_part(Path(path).absolute())
    except OSError:
        return None
    if not stat.S_ISREG(about.st_mode) or not os.access(real, os.X_OK) or weak:
        return None
    return Binary(path, f"{about.st_dev}:{about.st_ino}:{about.st_size}:{about.st_mtime_ns}")


def options_of(perf: Binary) -> frozenset[str]:
    """The long options of its `perf record`. `Unavailable` with its own words when it does not run at all."""
    said = _help(perf.path)
    known = frozenset(_OPTION.findall(said.decode("utf-8", "replace")))
    if {"event", "output"} <= known:
        return known
    words = first_sentence(without_usage(said)) or "it says nothing"
    if refuses_this_kernel(said.decode("utf-8", "replace")):
        raise Unavailable(f"{perf.path} refuses to run for this kernel: {words}", INSTALL)
    raise Unavailable(f"{perf.path} does not run: {words}", INSTALL)


def _help(path: str) -> bytes:
    try:
        done = subprocess.run(
            [path, "record", "-h"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_ANSWER_S,
            check=False,
            env=for_programs(),
        )
    except subprocess.TimeoutExpired:
        return b"it did not answer in time"
    except OSError as error:
        return (error.strerror or "it cannot be started").encode()
    return done.stdout[: 1 << 18]


def _is_for(path: Path, release: str, series: str) -> int:
    return 2 if path.parent.name == release else int(path.name == f"perf_{series}")


def _version(path: Path) -> list[int]:
    text = path.parent.name if path.name == "perf" else path.name
    return [int(digits) for digits in re.findall(r"\d+", text)]
