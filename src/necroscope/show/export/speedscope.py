"""speedscope's own JSON (https://www.speedscope.app/file-format-schema.json), made of sampled profiles.

The first profile is everything, summed, with thread names as outermost frames: for the views "left heavy" and
"sandwich". Then one for each thread, the busiest first, in time order: their time axis is time on a core, so what a
thread waited for takes no room. With very many samples these are summed too, and their names say so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from necroscope import clock
from necroscope.show.export.frames import FrameTable
from necroscope.show.export.source import Source
from necroscope.show.export.tracks import Rows, rows, tracks
from necroscope.show.plain import valid

I64s = NDArray[np.int64]
_AT_ONCE = 10_000
SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def write(source: Source, file: BinaryIO) -> None:
    """The samples of a source as a speedscope file."""
    found = rows(source)
    from_ns, to_ns = source.select.window
    for piece in pieces(found, f"{clock.iso(from_ns)} to {clock.iso(to_ns)}"):
        file.write(piece.encode())


def pieces(found: Rows, name: str) -> Iterator[str]:
    """The document, some samples at a time."""
    table = FrameTable()
    stacks = [_listed(table.numbers(text)) for text in found.stacks]
    roots = [_listed(table.numbers(f"{comm or '[unknown]'}\x1f\x1e")) for _, _, comm in found.threads]
    head = {"$schema": SCHEMA, "exporter": "necroscope", "name": name, "activeProfileIndex": 0}
    frames = [{"name": name, "file": module} if module else {"name": name} for name, module in table.labels()]
    yield json.dumps(valid({**head, "shared": {"frames": frames}}))[:-1]
    yield ', "profiles": ['
    pairs, value = _everything(found, roots)
    lists = (f"[{roots[thread]}{',' if stacks[stack] else ''}{stacks[stack]}]" for thread, stack in pairs)
    yield from _profile("all threads, summed", lists, value, found.clock)
    for track in tracks(found):
        yield ",\n"
        lists = (f"[{stacks[stack]}]" for stack in track.stack.tolist())
        yield from _profile(track.name + ("" if found.ordered else ", summed"), lists, track.value, found.clock)
    yield "]}\n"


def _listed(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))


def _everything(found: Rows, roots: list[str]) -> tuple[Iterator[tuple[int, int]], I64s]:
    """Threads and stacks of all samples, threads of one name together, with their values."""
    first: dict[str, int] = {}
    root = np.array([first.setdefault(numbers, place) for place, numbers in enumerate(roots)], np.int64)
    stacks = max(1, len(found.stacks))
    keys, place = np.unique(root[found.thread] * stacks + found.stack, return_inverse=True)
    value = np.zeros(keys.size, np.int64)
    np.add.at(value, place.reshape(-1), found.value)
    return (divmod(key, stacks) for key in keys.tolist()), value


def _profile(name: str, lists: Iterator[str], value: I64s, in_ns: bool) -> Iterator[str]:
    """One profile; `lists` are its samples, each a list of frames as JSON."""
    head = {"type": "sampled", "name": name, "unit": "nanoseconds" if in_ns else "none"}
    yield json.dumps(valid({**head, "startValue": 0, "endValue": int(value.sum())}))[:-1]
    yield ', "samples": ['
    before = ""
    while some := list(islice(lists, _AT_ONCE)):
        yield before + ",".join(some)
        before = ","
    yield f'], "weights": {json.dumps(value.tolist())}}}'
