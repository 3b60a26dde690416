"""A capture in one file: a gzip-compressed tar of regular files and directories, and nothing else.

Written under a temporary name, synced and renamed, readable by its owner only. Reading trusts nothing: links, devices,
names that leave the folder, and more files or bytes than any capture has are refused before they are written.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import tarfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from necroscope.errors import BadInput

SCHEMA = "necroscope.bundle/1"
MAX_MEMBERS = 500_000
MAX_BYTES = 1 << 30
MAX_DEPTH = 128
MAX_FOLDERS = 100_000
MAX_PIECE_BYTES = 1 << 20
_MANIFEST = "necroscope/manifest.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing of a bundle: a file with its bytes, or a directory (None); the path is absolute, as on the host."""

    path: str
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Packed:
    """What a bundle holds."""

    path: Path
    files: int
    bytes: int


def pack(entries: Iterable[Entry], path: Path) -> Packed:
    """Write a bundle; an unfinished one never appears under its name."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    files = 0
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as raw:
            with tarfile.open(fileobj=raw, mode="w:gz", format=tarfile.PAX_FORMAT) as tar:
                for entry in entries:
                    _add(tar, entry)
                    files += entry.data is not None
            raw.flush()
            os.fsync(raw.fileno())
        temporary.rename(path)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}.", "name a file in a writable folder") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return Packed(path, files, path.stat().st_size)


def unpack(path: Path, folder: Path) -> None:
    """Lay a bundle out below `folder`, so that `Host(folder)` reads it; `BadInput` when it is no bundle of ours."""
    try:
        with path.open("rb") as raw, gzip.GzipFile(fileobj=raw) as unzipped:
            with tarfile.open(fileobj=cast(BinaryIO, _Bounded(unzipped)), mode="r:") as tar:
                _extract(tar, folder, path)
            _check_end(unzipped)
    except FileNotFoundError as error:
        raise BadInput(f"{path} does not exist.", "give a file made by `necroscope bundle`") from error
    except (tarfile.TarError, EOFError, zlib.error, OSError, ValueError) as error:
        raise BadInput(f"{path} is no bundle, or is damaged: {error}.", "make it again, or copy it again") from error
    _check_manifest(folder, path)


def looks_packed(path: Path) -> bool:
    """True for a file that begins as bundles do; whether it is a whole one, `unpack` tells."""
    try:
        if not path.is_file():
            return False
        with gzip.open(path) as unzipped:
            return unzipped.read(tarfile.BLOCKSIZE)[257:262] == b"ustar"
    except (OSError, EOFError, zlib.error):
        return False


def _add(tar: tarfile.TarFile, entry: Entry) -> None:
    member = tarfile.TarInfo(entry.path.lstrip("/"))
    if entry.data is None:
        member.type = tarfile.DIRTYPE
        member.mode = 0o700
        tar.addfile(member)
    else:
        member.mode = 0o600
        member.size = len(entry.data)
        tar.addfile(member, io.BytesIO(entry.data))


def _extract(tar: tarfile.TarFile, folder: Path, path: Path) -> None:
    left, folders = MAX_BYTES, 0
    for number, member in enumerate(tar):
        left -= member.size
        if number >= MAX_MEMBERS or left < 0 or member.size < 0:
            raise BadInput(f"{path} holds more than any capture does.", "it may be a trap; do not unpack it by hand")
        name = PurePosixPath(member.name)
        plain = (member.isreg() and not member.issparse()) or member.isdir()
        if not plain or name.is_absolute() or ".." in name.parts or len(name.parts) > MAX_DEPTH:
            raise BadInput(f"{path} holds {member.name[:100]!r}, which no capture has.", "it may be a trap")
        target = folder / name
        folders += _make_folders(target if member.isdir() else target.parent, MAX_FOLDERS - folders, path)
        if member.isdir():
            continue
        data = tar.extractfile(member)
        with target.open("xb") as out:
            while data is not None and (chunk := data.read(1 << 20)):
                out.write(chunk)


def _make_folders(target: Path, most: int, path: Path) -> int:
    """Make a folder and those above it; how many there were to make. A file's name can stand for many."""
    missing = []
    while not target.exists():
        missing.append(target)
        target = target.parent
    if len(missing) > most:
        raise BadInput(
            f"{path} holds more folders than any capture does.", "it may be a trap; do not unpack it by hand"
        )
    for one in reversed(missing):
        one.mkdir(0o700)
    return len(missing)


class _Bounded:
    """A file that refuses to be read in one large piece: tarfile reads extended headers whole, however long."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= MAX_PIECE_BYTES:
            raise ValueError("a header is longer than any capture's")
        return self._file.read(size)


def _check_end(unzipped: gzip.GzipFile) -> None:
    """Read on to the checksum, which tells a whole file from one that was cut or changed; only padding may come."""
    for _ in range(1024):
        rest = unzipped.read(1 << 14)
        if not rest:
            return
        if rest.strip(b"\0"):
            break
    raise ValueError("something follows its end")


def _check_manifest(folder: Path, path: Path) -> None:
    try:
        schema = json.loads((folder / _MANIFEST).read_bytes())["schema"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(f"{path} has no manifest, so it is no whole bundle.", "make it again") from error
    if schema != SCHEMA:
        raise BadInput(f"{path} is a {str(schema)[:60]!r}, this version reads {SCHEMA}.", "use a newer necroscope")
