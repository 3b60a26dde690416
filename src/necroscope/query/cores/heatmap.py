"""A heat map of a window, from the cores' counters or from the samples inside its seconds, with the symptoms on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from necroscope.errors import BadInput, NecroscopeError, Unavailable
from necroscope.query.cores.core_heat import around, core_heat
from necroscope.query.cores.core_time import core_time
from necroscope.query.cores.grid import Grid, Mark
from necroscope.query.cores.sub_seconds import sub_seconds
from necroscope.query.events.landmarks import symptoms
from necroscope.query.extent import extent
from necroscope.query.samples.no_samples import no_samples, unknown_cores, without_samples
from necroscope.query.sealed import again
from necroscope.query.select import Select
from necroscope.store.read.reader import Snapshot, Store
from necroscope.vocabulary.event_sentence import sentence

_MARKS = 200


def heatmap(store: Store, select: Select, what: str, inside: bool, columns: int, notes: list[str]) -> Grid:
    """The map; with `inside`, of the insides of seconds. Of damaged files `notes` tell."""
    return again(lambda: _heatmap(store, select, what, inside, columns, notes))


def no_heat(store: Store, select: Select, words: str, inside: bool, notes: list[str]) -> NecroscopeError:
    """Why a map has no rows; `words` say which window it is of."""
    if inside:
        return no_samples(store, words, select, notes)
    snapshot = store.snapshot(around(select.window))
    message = f"The counters of the cores were not read in {words}."
    if hint := unknown_cores(select.cpus, core_time(snapshot, [select.window], []).cpu.tolist()):
        return BadInput(message, hint)
    hint = "give a window of a recording; imported profiles have samples only, which --sub-second shows"
    try:
        whole = extent(store.snapshot(), "cores")
    except BadInput:
        return without_samples(store, BadInput(message, hint))
    if whole[1] < select.window[0] or select.window[1] < whole[0]:
        return Unavailable(message, hint)
    return without_samples(store, BadInput(message, hint))


def _heatmap(store: Store, select: Select, what: str, inside: bool, columns: int, notes: list[str]) -> Grid:
    snapshot = store.snapshot(around(select.window))
    if inside:
        times = core_time(snapshot, [select.window], notes).of(select.cpus)
        grid = sub_seconds(snapshot, select, len(np.unique(times.cpu)), columns, notes)
    else:
        grid = core_heat(snapshot, select, what, columns, notes)
    return replace(grid, marks=_marks(snapshot, select, grid))


def _marks(snapshot: Snapshot, select: Select, grid: Grid) -> tuple[Mark, ...]:
    found = symptoms(snapshot, select.window)[-_MARKS:]
    return tuple(
        Mark(
            (event.at_ns - grid.from_ns) / grid.column_ns,
            event.kind,
            f"{event.subject} {sentence(event)}".strip(),
            event.id,
        )
        for event in found
    )
