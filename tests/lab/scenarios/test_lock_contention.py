"""The memory of the lock contention."""

from __future__ import annotations

import re
from pathlib import Path

from necroscope.lab.scenarios.lock_contention import Area

SIZE = 5 << 20


def _rights(area: Area) -> str:
    """Of the mapping that holds the area's first page, as the kernel tells them."""
    address = area.address
    for line in Path("/proc/self/maps").read_text().splitlines():
        low, high, rights = re.match(r"(\w+)-(\w+) (\S+)", line).groups()  # type: ignore[union-attr]
        if int(low, 16) <= address < int(high, 16):
            return rights
    return ""


def test_it_changes_between_writable_and_not() -> None:
    area = Area(SIZE)
    assert _rights(area) == "rw-p"
    area.protect()
    assert _rights(area) == "r--p"
    area.protect()
    assert _rights(area) == "rw-p"
