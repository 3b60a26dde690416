"""Presets of systemd: what a distribution or an image wants enabled. The first line that matches decides."""

from __future__ import annotations

from fnmatch import fnmatchcase

from necroscope.errors import Unavailable
from necroscope.sense.host import Host

FOLDERS = (
    "/etc/systemd/system-preset",
    "/run/systemd/system-preset",
    "/usr/local/lib/systemd/system-preset",
    "/usr/lib/systemd/system-preset",
    "/lib/systemd/system-preset",
)
_FILE_BYTES, _RULES_MOST = 1 << 20, 20_000
Rule = tuple[bool, str]
"""Whether it enables, and the pattern of names."""


def read_presets(host: Host) -> tuple[Rule, ...]:
    """The rules in force: files by name, whatever folder they are in; of one name, that of the first folder."""
    places: dict[str, str] = {}
    for folder in FOLDERS:
        try:
            names = [name for name in host.names(folder) if name.endswith(".preset")]
        except Unavailable:
            continue
        for name in names:
            places.setdefault(name, f"{folder}/{name}")
    texts = (host.read_or_none(path, _FILE_BYTES) or b"" for _, path in sorted(places.items()))
    return tuple(rule for text in texts for rule in parse_preset(text))[:_RULES_MOST]


def parse_preset(text: bytes) -> tuple[Rule, ...]:
    """`enable PATTERN` and `disable PATTERN`; other lines are left out."""
    words = (line.split() for line in text.decode("utf-8", "replace").splitlines())
    return tuple((one[0] == "enable", one[1]) for one in words if len(one) >= 2 and one[0] in ("enable", "disable"))


def preset_of(rules: tuple[Rule, ...], name: str) -> str:
    """enabled or disabled; empty where no rule speaks of it."""
    template = f"{name.partition('@')[0]}@.{name.rpartition('.')[2]}" if "@" in name else name
    for enables, pattern in rules:
        if fnmatchcase(name, pattern) or fnmatchcase(template, pattern):
            return "enabled" if enables else "disabled"
    return ""
