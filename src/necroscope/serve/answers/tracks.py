"""The tracks of a window."""

from __future__ import annotations

import numpy as np

from necroscope.clock import NS
from necroscope.query.cores.pooled import columns_in
from necroscope.query.tiles import around
from necroscope.query.tracks.catalogue import TRACKS
from necroscope.query.tracks.pooled import pooled_lines
from necroscope.serve.answers.answer import Answer, columns
from necroscope.serve.answers.cores import LONGEST_NS, MOST_COLUMNS, READ_S
from necroscope.serve.asked import Asked
from necroscope.serve.opened import Opened, spans_of


def tracks(opened: Opened, asked: Asked) -> Answer:
    """Mean and highest second of each line by column; NaN where nothing is known."""
    from necroscope.errors import BadInput

    window = asked.window
    if window[1] - window[0] > LONGEST_NS:
        raise BadInput("The window is longer than a month.", "ask about less")
    from_s, column_s, count = columns_in(window, asked.integer("columns", 1, MOST_COLUMNS))
    whole = from_s * NS, (from_s + column_s * count) * NS - 1
    snapshot = opened.store.snapshot(around(whole)) if not opened.source.bundle else opened.whole()
    found, missing = opened.tracks.of(snapshot, whole, READ_S)
    lines = pooled_lines(found, from_s, column_s, count)
    there = {line.track for line in lines}
    head = {
        "schema": "necroscope.tracks/1",
        "from_ns": from_s * NS,
        "column_ns": column_s * NS,
        "columns": count,
        "tracks": [
            {"id": one.id, "title": one.title, "unit": one.unit, "help": one.help, "recorded": one.id in there}
            for one in TRACKS
        ],
        "lines": [{"track": line.track, "name": line.line} for line in lines],
        "not_read": spans_of(missing, whole),
    }
    empty = np.zeros((0, count), np.float32)
    return columns(
        head,
        {
            "mean": np.stack([line.mean for line in lines]) if lines else empty,
            "most": np.stack([line.most for line in lines]) if lines else empty,
        },
    )
