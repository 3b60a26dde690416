"""Why there are no samples of what somebody asked for, and what there is instead.

The first of these that holds: they are damaged; nothing of that time was recorded; the cores, processes, threads or
cgroups are none that were seen; there are samples of other events; nobody took any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from necroscope.clock import iso
from necroscope.errors import DAMAGE_HINT, BadInput, NecroscopeError, Unavailable
from necroscope.query.events.event_names import find_event
from necroscope.query.extent import extent
from necroscope.query.samples.chunk import Chunk
from necroscope.query.samples.chunks import chunks
from necroscope.query.samples.event_kinds import kinds
from necroscope.query.sealed import again, damaged
from necroscope.query.select import Select
from necroscope.sense.perf.event_names import is_time
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import Window

_NAMED = 5


def no_samples(store: Store, words: str, select: Select, notes: Sequence[str] = ()) -> NecroscopeError:
    """The error of a selection without samples; `words` say which it is, `notes` what could not be read."""
    if hurt := damaged(notes, "samples", "stacks"):
        return BadInput(f"The samples in {words} cannot be read: {hurt[0]}.", DAMAGE_HINT)
    try:
        whole = extent(store.snapshot())
    except BadInput as error:
        return without_samples(store, error)
    hint = f"the recording goes from {iso(whole[0])} to {iso(whole[1])}"
    if whole[1] < select.window[0] or select.window[1] < whole[0]:
        return Unavailable(f"There are no samples in {words}.", hint)
    there = again(lambda: kinds(store.snapshot(select.window), select.window))
    others = sorted(
        (event for event in there if not select.wants_event(event)), key=lambda one: (not is_time(one), one)
    )
    if len(others) < len(there) and (unseen := again(lambda: _unseen(store, select))):
        return BadInput(f"There are no samples in {words}.", unseen)
    if others:
        listed = " or ".join(f"--event-type {event}" for event in others[:_NAMED])
        return BadInput(f"There are no samples in {words}.", f"there are some of other events; add {listed}")
    if select == Select(select.window):
        return Unavailable(f"No samples were taken in {words}.", f"{hint}; `necroscope events` tells of gaps")
    return BadInput(f"There are no samples in {words}.", f"{hint}; options may have left out what is there")


def without_samples(store: Store, error: BadInput) -> NecroscopeError:
    """The error where there are no samples at all: of a recorder's store, its samples are missing."""
    snapshot = store.snapshot()
    if find_event(snapshot, "recorder-started") is None and find_event(snapshot, "recorder-stopped") is None:
        return error
    hint = "`necroscope events` tells why, where the recorder could tell; `necroscope record` takes samples with perf"
    return Unavailable(error.message, hint)


def unknown_cores(wanted: frozenset[int], there: Iterable[int]) -> str:
    """A hint about cores that a recording does not have; empty when one of them is there."""
    seen = sorted(core for core in set(there) if core >= 0)
    return f"the cores that were seen there are {_spans(seen)}" if wanted and seen and not wanted & set(seen) else ""


def _unseen(store: Store, select: Select) -> str:
    """A hint about names that nothing in the window has; empty when all were seen, though not together."""
    found = _Seen()
    everything = Select(select.window, events=select.events)
    for chunk in chunks(store.snapshot(select.window), everything, notes=[]):
        found.add(chunk)
    strange_cgroups = select.cgroups and not any(map(select.wants_cgroup, found.cgroups))
    return (
        unknown_cores(select.cpus, found.cpus)
        or _unknown("processes", select.comms, found.comms)
        or _unknown("processes", map(str, select.pids), found.pids)
        or _unknown("threads", map(str, select.tids), found.tids)
        or (_most("cgroups", found.cgroups) if strange_cgroups else "")
    )


class _Seen:
    """What samples are of."""

    def __init__(self) -> None:
        self.cpus: set[int] = set()
        self.comms: Counter[str] = Counter()
        self.cgroups: Counter[str] = Counter()
        self.pids: Counter[str] = Counter()
        self.tids: Counter[str] = Counter()

    def add(self, chunk: Chunk) -> None:
        self.cpus.update(np.unique(chunk.cpu).tolist())
        for words, counts in ((chunk.comm, self.comms), (chunk.cgroup, self.cgroups)):
            for name, number in zip(words.names, np.bincount(words.codes, minlength=1).tolist(), strict=False):
                counts[name] += number
        for column, numbers in ((chunk.pid, self.pids), (chunk.tid, self.tids)):
            values, times = np.unique(column, return_counts=True)
            numbers.update(dict(zip(map(str, values.tolist()), times.tolist(), strict=True)))


def _unknown(what: str, wanted: Iterable[str], there: Counter[str]) -> str:
    names = set(wanted)
    return _most(what, there) if names and not names & set(there) else ""


def _most(what: str, there: Counter[str]) -> str:
    named = ", ".join(name for name, number in there.most_common(_NAMED) if name and number)
    return f"{what} with most samples there: {named}" if named else ""


def _spans(cores: Sequence[int]) -> str:
    """0-3, 8."""
    spans: list[Window] = []
    for core in cores:
        if spans and core == spans[-1][1] + 1:
            spans[-1] = spans[-1][0], core
        else:
            spans.append((core, core))
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in spans)
