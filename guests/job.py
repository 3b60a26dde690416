"""A job: a script of guests/jobs, this working tree's Necroscope beside it, and what it leaves when it was run."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from guests.image import SITE, compiled
from guests.wheels import ROOT

JOBS = Path(__file__).with_name("jobs")
_RUN = f"""#!/bin/sh
export PYTHONPATH=/job:/job/src:/{SITE} PYTHONDONTWRITEBYTECODE=1 HOME=/root COLUMNS=100 TERM=dumb LC_ALL=C.UTF-8
exec python3 -m guests.jobs.{{job}}
"""
_NATIVE = ("sense/perf/decode/native.c", "sense/importers/perf_script/script_scan.c")
_COMPILERS = {"amd64": "x86_64-linux-gnu-gcc", "arm64": "aarch64-linux-gnu-gcc"}


@dataclass(frozen=True)
class Left:
    """What a guest left: the job's exit status, what it said, the kernel's log, and its files in a folder."""

    status: int | None
    output: str
    kmsg: bytes
    folder: Path


def names() -> list[str]:
    """The jobs there are."""
    return sorted(path.stem for path in JOBS.glob("[a-z]*.py") if path.stem != "program")


def pack(name: str, architecture: str, target: Path) -> Path:
    """The archive that a guest unpacks and runs."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        ignored = shutil.ignore_patterns("__pycache__", "_native.so")
        shutil.copytree(ROOT / "src/necroscope", folder / "src/necroscope", ignore=ignored)
        _compile_native(folder / "src/necroscope", architecture)
        shutil.copytree(JOBS.parent, folder / "guests", ignore=ignored)
        compiled(folder)
        (folder / "run").write_text(_RUN.format(job=name), "utf-8")
        (folder / "run").chmod(0o755)
        with tarfile.open(target, "w") as tar:
            tar.add(folder, ".")
    # The size of a disk is a number of sectors.
    with target.open("ab") as file:
        file.truncate(-(-target.stat().st_size // 512) * 512)
    return target


def unpack(left: Path, folder: Path) -> Left:
    """What the guest wrote, out of the disk that it wrote to."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(left, "r:") as tar:
            tar.extractall(folder, filter="data")
    except tarfile.TarError:
        return Left(None, "", b"", folder)
    status = folder / "status"
    return Left(
        int(status.read_text()) if status.exists() else None,
        _text(folder / "output"),
        (folder / "kmsg").read_bytes() if (folder / "kmsg").exists() else b"",
        folder,
    )


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.exists() else ""


def _compile_native(package: Path, architecture: str) -> None:
    """The inner loops, where there is a compiler for that architecture; without them it is slower."""
    compiler = shutil.which(_COMPILERS[architecture])
    for name in _NATIVE if compiler else ():
        source = package / name
        flags = ["-std=c11", "-O2", "-fPIC", "-shared"]
        subprocess.run([str(compiler), *flags, str(source), "-o", str(source.with_name("_native.so"))], check=True)
