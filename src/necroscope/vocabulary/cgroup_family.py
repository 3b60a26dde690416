"""Paths of cgroups to patterns: ids and numbers give way to placeholders, words stay.

    /docker/3f5c…64 digits…            ->  /docker/<id>
    /kubepods/burstable/pod9d1c…-…     ->  /kubepods/burstable/pod<id>
    /user.slice/user-1000.slice        ->  /user.slice/user-<n>.slice

So 68,000 zombies read as three lines. `<id>` stands for UUIDs, for hexadecimal ids of eight digits and more, and for
long random names; `<n>` for decimal numbers. What holds no digit is a word and stays as it is. A pattern is the
pattern of itself, and each segment of a path is judged on its own.
"""

from __future__ import annotations

import re
from functools import lru_cache

_UUID = re.compile(
    r"[0-9A-Fa-f]{8}([-_])[0-9A-Fa-f]{4}\1[0-9A-Fa-f]{4}\1[0-9A-Fa-f]{4}\1[0-9A-Fa-f]{12}(?![0-9A-Za-z])"
)
# systemd's escapes (\x2d) are no part of a name; all else between marks that holds a digit is looked at
_TOKEN = re.compile(r"\\x[0-9a-f]{2}|[0-9A-Za-z]*[0-9][0-9A-Za-z]*")
_HEX = re.compile(r"[0-9a-f]{8,}|[0-9A-F]{8,}")
# an id after a word that announces it: pod<id>, run-r<id>
_ANNOUNCED = re.compile(r"(pod|[A-Za-z]*[g-zG-Z])([0-9a-f]{8,}|[0-9A-F]{8,})")
# numbers at the end of a word, and long ones within: job4711, but not k8s
_NUMBER = re.compile(r"[0-9]+$|[0-9]{4,}")
_DIGIT = re.compile(r"[0-9]")
_TURNS = re.compile(r"[0-9][A-Za-z]|[A-Za-z][0-9]")


def pattern(path: str) -> str:
    """The path with placeholders for ids and numbers."""
    return "/".join(map(segment_pattern, path.split("/")))


def segment_pattern(segment: str) -> str:
    """One name of a path, the same way."""
    # the bulk of all zombies are plain container ids, never the same twice
    if len(segment) >= 32 and _HEX.fullmatch(segment) and not segment.isalpha():
        return "<id>"
    return _segment_pattern(segment)


@lru_cache(maxsize=4096)
def _segment_pattern(segment: str) -> str:
    # what is left of a name may look like an id once a number is out of it; every round takes digits away
    while _DIGIT.search(segment):
        shorter = _TOKEN.sub(_placeholder, _UUID.sub("<id>", segment) if len(segment) >= 36 else segment)
        if shorter == segment:
            break
        segment = shorter
    return segment


def _placeholder(match: re.Match[str]) -> str:
    token = match[0]
    if token.startswith("\\"):
        return token
    if token.isdigit():
        # short container ids have twelve digits and may lack letters; no counter is that long
        return "<id>" if len(token) == 12 or len(token) >= 20 else "<n>"
    if _HEX.fullmatch(token):
        return "<id>"
    announced = _ANNOUNCED.fullmatch(token)
    if announced:
        return announced[1] + ("<n>" if announced[2].isdigit() else "<id>") if _digits(announced[2]) else token
    if len(token) >= 20 and _digits(token) >= 4 and len(_TURNS.findall(token)) >= 3:
        return "<id>"
    return _NUMBER.sub("<n>", token)


def _digits(token: str) -> int:
    return sum(character.isdigit() for character in token)
