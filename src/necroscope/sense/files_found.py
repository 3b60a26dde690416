"""Which of some files are there, and say what they should: traces of a configuration. Bounded, nothing is followed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from necroscope.errors import Unavailable
from necroscope.sense.host import Host

_BYTES, _NAMES_MOST, _FILES_MOST = 1 << 18, 4000, 20


def files_found(host: Host, wanted: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Of pairs of a path and a word, the paths of which a file is there that has a line beginning with the word.

    The last part of a path may have wildcards. Without a word, any file will do that is not empty of names.
    """
    return frozenset(path for path, says in wanted if any(_says(host, one, says) for one in _matching(host, path)))


def _matching(host: Host, path: str) -> list[str]:
    folder, _, last = path.rpartition("/")
    if not set(last) & set("*?["):
        return [path] if host.exists(path) else []
    try:
        names = host.names(folder)[:_NAMES_MOST]
    except Unavailable:
        return []
    return [f"{folder}/{name}" for name in names if fnmatchcase(name, last)][:_FILES_MOST]


def _says(host: Host, path: str, word: str) -> bool:
    if not word:
        return True
    text = host.read_or_none(path, _BYTES) or b""
    return re.search(rb"^\s*(?:export\s+)?" + re.escape(word.encode()), text, re.MULTILINE) is not None
