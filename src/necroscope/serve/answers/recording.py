"""What is served: which host, from when to when, how many cores, and whether it is still being written."""

from __future__ import annotations

from typing import Any

from necroscope import __version__, clock
from necroscope.errors import BadInput
from necroscope.query.extent import extent_of_all
from necroscope.query.tiles import TILE_NS, numbers
from necroscope.sense.host import Host
from necroscope.sense.inventory import identify
from necroscope.serve.answers.answer import Answer, document
from necroscope.serve.asked import Asked
from necroscope.serve.opened import Opened
from necroscope.store.bundle.recording import packed_on
from necroscope.store.lock import is_held
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window

_LOOKED_BACK = 4


def recording(opened: Opened, asked: Asked) -> Answer:
    """The answer; of an empty recording, too."""
    snapshot = opened.whole()
    window = extent_of_all(snapshot)
    live = not opened.source.bundle and is_held(opened.source.store) is True
    return document(
        {
            "schema": "necroscope.recording/1",
            "version": __version__,
            "host": _host(opened),
            "source": "bundle" if opened.source.bundle else "store",
            "name": opened.source.bundle or str(opened.source.store),
            "from_ns": window[0] if window else None,
            "to_ns": window[1] if window else None,
            "now_ns": clock.now().realtime_ns,
            "live": live,
            "cpus": list(_cpus(opened, snapshot, window)) if window else [],
            "notes": list(snapshot.notes)[:50],
        }
    )


def _host(opened: Opened) -> dict[str, Any]:
    """A bundle says where it was packed. A store is taken for that of the machine that it lies on."""
    name, kernel = opened.source.host if opened.source.host[0] else packed_on(opened.source.store)
    if name:
        return {"name": name, "kernel": kernel, "told_by": "bundle"}
    here = identify(Host())
    return {"name": here.name, "kernel": here.kernel, "told_by": "this machine"}


def _cpus(opened: Opened, snapshot: Snapshot, window: Window) -> tuple[int, ...]:
    """The cores that were looked at lately."""
    latest = list(numbers(window))[-_LOOKED_BACK:]
    near = latest[0] * TILE_NS, window[1]
    try:
        found, _ = opened.cores.of(snapshot, near, most_s=0.5)
    except BadInput:
        return ()
    return tuple(sorted({cpu for part in found.values() for cpu in part.cpus}))
