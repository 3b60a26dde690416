"""`/sys/kernel/debug/lru_gen`: names of zombies without reading kernel memory, where the multi-generational LRU is on.

    memcg     7 /system.slice/ssh.service
     node     0
              0     120345          10          20      generation, age in ms, anonymous pages, file pages
              1       1200           0           3

The file lists every memory cgroup that has an LRU, removed ones included; `memcg` lines bear an id and the path.
A removed one has lost its id (it reads 0) on kernels that give out 16-bit ids; newer ones print the cgroup's number,
which it keeps. So a zombie is what has id 0 or no directory any more. The root has an empty path and is none.

What it cannot give: births (ages are of pages, not of cgroups), references, files, kinds beyond anonymous or file, and
where one name was borne more than once, which of the two lines is the living one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from necroscope.errors import Unavailable
from necroscope.sense.host import Host

LRU_GEN = "/sys/kernel/debug/lru_gen"
_BYTES_MAX = 256 << 20
_MEMCG = re.compile(rb"\s*memcg\s+(\d{1,20})(?: (.*))?")
_NUMBER = re.compile(rb"-?\d{1,20}")


@dataclass(frozen=True, slots=True)
class LruGenGroup:
    """One memory cgroup as the file lists it; pages are summed over nodes and generations."""

    id: int
    path: str
    anon_pages: int
    file_pages: int
    oldest_page_s: float | None = None


def parse_lru_gen(text: bytes) -> Iterator[LruGenGroup]:
    """Every cgroup listed, in the file's order. Lines that are none of the three kinds are skipped."""
    head: re.Match[bytes] | None = None
    anon = file = 0
    oldest_ms: int | None = None
    for line in text.splitlines():
        found = _MEMCG.fullmatch(line)
        if found:
            if head:
                yield _group(head, anon, file, oldest_ms)
            head, anon, file, oldest_ms = found, 0, 0, None
            continue
        numbers = _generation(line)
        if head and numbers:
            oldest_ms = max(oldest_ms or 0, numbers[1])
            anon += max(0, numbers[2])
            file += max(0, numbers[3])
    if head:
        yield _group(head, anon, file, oldest_ms)


def zombies_listed(host: Host, mount: str) -> tuple[LruGenGroup, ...]:
    """The listed cgroups that are gone: no id, or no directory below `mount`.

    `Unavailable` where the file is not there (no MGLRU, debugfs not mounted) or lists nothing.
    """
    text = host.read(LRU_GEN, _BYTES_MAX)
    groups = list(parse_lru_gen(text))
    if not groups:
        raise Unavailable(f"{LRU_GEN} lists no cgroup", "write y to /sys/kernel/mm/lru_gen/enabled")
    return tuple(group for group in groups if group.path not in ("", "/") and _gone(host, mount, group))


def _gone(host: Host, mount: str, group: LruGenGroup) -> bool:
    return group.id == 0 or not host.exists(mount.rstrip("/") + group.path)


def _group(head: re.Match[bytes], anon: int, file: int, oldest_ms: int | None) -> LruGenGroup:
    return LruGenGroup(
        int(head[1]), os.fsdecode(head[2] or b""), anon, file, None if oldest_ms is None else oldest_ms / 1000
    )


def _generation(line: bytes) -> list[int] | None:
    """Generation, age and two sizes; a size that is being evicted carries a mark, which is no digit."""
    fields = line.split()
    if len(fields) != 4:
        return None
    numbers = [_NUMBER.match(field) for field in fields]
    return [int(number[0]) for number in numbers if number] if all(numbers) else None
