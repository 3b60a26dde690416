"""The files of the page, as they lie in the package: read once, served as they are. Nothing else can be reached."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class File:
    """A file of the page, its type, and a tag that changes with it."""

    data: bytes
    media_type: str
    tag: str


@cache
def files() -> dict[str, File]:
    """By path below the root, such as `lib/time.js`."""
    root = resources.files("necroscope.serve").joinpath("static")
    return dict(_below(root, ""))


def _below(folder: Traversable, path: str) -> list[tuple[str, File]]:
    found: list[tuple[str, File]] = []
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        name = f"{path}{entry.name}"
        suffix = f".{entry.name.rpartition('.')[2]}"
        if entry.is_dir():
            found += _below(entry, f"{name}/")
        elif suffix in _TYPES:
            data = entry.read_bytes()
            tag = f'"{hashlib.blake2b(data, digest_size=12).hexdigest()}"'
            found.append((name, File(data, _TYPES[suffix], tag)))
    return found
