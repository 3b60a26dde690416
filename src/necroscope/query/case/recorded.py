"""The extent of a recording."""

from __future__ import annotations

from necroscope.errors import BadInput
from necroscope.event import Window
from necroscope.query.landmarks import extent
from necroscope.store.reader import Snapshot


def span_of(snapshot: Snapshot, notes: list[str] | None = None) -> Window | None:
    """First and last moment of a recording: of its samples, else of its segments. None: it is empty.

    Of samples that cannot be read `notes` tell.
    """
    try:
        return extent(snapshot, notes=notes)
    except BadInput:
        pass
    spans = [(one.from_ns, one.to_ns) for one in snapshot.segments]
    for name in ("cores", "events", "ticks"):
        table = snapshot.live.get(name)
        if table is not None and table.num_rows:
            at_ns = table["at_ns"].to_numpy()
            spans.append((int(at_ns.min()), int(at_ns.max())))
    return (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None
