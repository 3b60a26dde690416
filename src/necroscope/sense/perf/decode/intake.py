"""Blocks of records to rows that wait for their round: which event a sample is of, who was born, what was mapped."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.cgroups.churn import few_of_each
from necroscope.sense.perf.decode.hashing import SpanHasher
from necroscope.sense.perf.decode.interning import ByHash, Names
from necroscope.sense.perf.decode.pending import Pending
from necroscope.sense.perf.format import columns, sideband
from necroscope.sense.perf.format.attrs import EventAttr, Events
from necroscope.sense.perf.format.layout import Type
from necroscope.sense.perf.format.sideband import MappedFile, Mappings, Notice, Trailers
from necroscope.sense.perf.format.walk import Block, joined, only

U64s = NDArray[np.uint64]
_MISSING = (Type.LOST, Type.LOST_SAMPLES, Type.THROTTLE, Type.UNTHROTTLE)
_AT_ONCE = (Type.KSYMBOL,)
_KINDS = 64
_UNUSED = np.ones(_KINDS, np.bool_)
_UNUSED[[
    Type.MMAP, Type.LOST, Type.COMM, Type.EXIT, Type.THROTTLE, Type.UNTHROTTLE, Type.FORK, Type.MMAP2,
    Type.LOST_SAMPLES, Type.KSYMBOL, Type.BPF_EVENT, Type.CGROUP,
]] = False  # fmt: skip
_ENOUGH_WORDS = 1 << 17
_MANY_RAW = 64
_FAR_NS = 3600 * 10**9
_LATEST_NS = (1 << 63) - 1  # hostile samples have later times


@dataclass(slots=True)
class Stats:
    """What was read, and what could not be. Of `left_stacks` samples the user's stack was copied for an unwinder;
    `unused` records tell what nobody asks for."""

    bytes: int = 0
    records: int = 0
    samples: int = 0
    lost: int = 0
    broken: int = 0
    nameless: int = 0
    skipped_bytes: int = 0
    left_stacks: int = 0
    unused: int = 0
    forced_flushes: int = 0


class Intake:
    """Reads blocks into `pending`. Everything up to `complete` is there; `newest` is the newest time seen.

    `thin_out`: of samples of tracepoints only some of each process are kept, while there is a storm of them.
    `tasks_only`: samples are passed over; for who only wants to know how things stood at some place of a recording.
    `wants_cgroups`: records of cgroups are read; where tasks are asked for theirs, nobody needs them.
    """

    def __init__(self, events: Events, comm_names: Names, stats: Stats) -> None:
        self.pending = Pending()
        self.files: ByHash[MappedFile] = ByHash()
        self.newest = self.complete = 0
        self.tasks_only = False
        self.wants_cgroups = True
        self.wanted_raw: set[int] = set()
        self._events = events
        self._comm_names = comm_names
        self._comms: ByHash[int] = ByHash()
        self._stats = stats
        self.thin_out = False
        self.events_changed()
        self._round_newest = 0
        self._others: list[Block] = []
        self._other_words = 0
        self._sampled = 0
        self.rounds = 0

    def events_changed(self) -> None:
        """An event was declared, or how one is read: records may look different from now on."""
        self._trailers = Trailers(self._events)
        first: dict[object, int] = {}
        alike = [first.setdefault(self._layout(attr), number) for number, attr in enumerate(self._events.attrs)]
        # The last place is that of samples whose event nobody knows.
        self._layouts = np.array([*alike, -1], np.int32)

    def _layout(self, attr: EventAttr) -> object:
        fields = (attr.sample_type, attr.read_format, attr.branch_sample_type, attr.regs_user, attr.regs_intr)
        return (*fields, self._wants_raw(attr))

    def take(self, block: Block) -> None:
        """Read a block. Samples become rows; the other records wait for `settle`, as many of them cost little more."""
        self._stats.records += block.start.size
        times = np.zeros(block.start.size, np.uint64)
        self._take_samples(block, times)
        others = np.flatnonzero((block.type != Type.SAMPLE) & (block.type != Type.FINISHED_ROUND))
        if others.size:
            rest = only(block, others)
            times[others] = self._sane(self._trailers.times(rest, np.arange(others.size)))
            if not self.tasks_only:
                self._stats.unused += int(np.count_nonzero(_UNUSED[np.minimum(rest.type, _KINDS - 1)]))
            self._others.append(rest)
            self._other_words += rest.words.size
        self._take_rounds(block, times)

    def _sane(self, times: U64s) -> U64s:
        """Without times that lie far after the newest sample: they come from damaged records, and the end of a round
        would be believed to be there."""
        if self._sampled:
            times[times > np.uint64(min(self._sampled, _LATEST_NS) + _FAR_NS)] = 0
        return times

    @property
    def enough(self) -> bool:
        """Whether so many records wait for `settle` that more of them at once cost memory and save nothing."""
        return self._other_words > _ENOUGH_WORDS

    def settle(self) -> Sideband:
        """Read the records that are no samples; returns what has to be looked at right now."""
        if not self._others:
            return Sideband([], [], [])
        others, self._others, self._other_words = joined(self._others), [], 0
        return self._take_others(others)

    def forget_names(self) -> None:
        """Names of tasks have new numbers; nothing may be pending."""
        self._comms.clear()

    def nbytes(self) -> int:
        """About how much memory waits."""
        return self.pending.nbytes() + 8 * self._other_words

    # -- samples -------------------------------------------------------------------------------------------------

    def _take_samples(self, block: Block, times: U64s) -> None:
        at = block.of_type(Type.SAMPLE)
        if not at.size:
            return
        if self.tasks_only and (word := self._events.time_word()) is not None:
            at = at[block.size[at] > word]
            times[at] = block.words[block.start[at] + word]
            return
        if self._layouts.size != len(self._events) + 1:
            self.events_changed()
        owner = columns.events_of_samples(block, at, self._events)
        alike = self._layouts[owner]
        for lead in np.flatnonzero(np.bincount(alike + 1)).tolist():
            mine = alike == lead - 1
            if not lead:
                self._stats.nameless += int(np.count_nonzero(mine))
            elif mine.all():
                self._take_layout(block, at, owner, self._events.attrs[lead - 1], times)
            else:
                self._take_layout(block, at[mine], owner[mine], self._events.attrs[lead - 1], times)

    def _take_layout(
        self, block: Block, at: NDArray[np.int64], event: NDArray[np.int32], attr: EventAttr, times: U64s
    ) -> None:
        """Take samples of events that are laid out alike."""
        few = few_of_each if self.thin_out and at.size > _MANY_RAW else None
        found = columns.extracted(block, at, attr, event, self._wants_raw(attr), few)
        rows, raws = found.rows, found.raws
        self._stats.broken += found.broken
        times[found.whole] = rows.time if raws is None else raws.time
        if len(rows):
            self._sampled = max(self._sampled, min(int(rows.time.max()), _LATEST_NS))
        if len(rows) and not self.tasks_only:
            self._stats.samples += found.whole.size
            self._stats.left_stacks += found.left_stacks
            self.pending.samples.append(rows)
            if raws is not None:
                self.pending.raws.append(raws)

    def _wants_raw(self, attr: EventAttr) -> bool:
        return attr.tracepoint and attr.config in self.wanted_raw

    # -- everything else -------------------------------------------------------------------------------------------

    def _take_others(self, block: Block) -> Sideband:
        hasher = SpanHasher(block.words)
        before = len(self.files.values)
        maps, short_maps = sideband.mappings(block, hasher, self._trailers, self.files)
        tasks, short_tasks = sideband.tasks(block, hasher, self._trailers, self._comm_names, self._comms)
        self._stats.broken += short_maps + short_tasks
        self.pending.mappings.extend(maps)
        if self.tasks_only:
            tasks = [replace(part, reported_elsewhere=~part.reported_elsewhere) for part in tasks]
        else:
            self.pending.notices.extend(sideband.notices(block, self._trailers, *_MISSING))
        self.pending.tasks.extend(tasks)
        return Sideband(
            sideband.notices(block, self._trailers, *_AT_ONCE),
            sideband.kernel_mappings(block, self._trailers),
            self._first_mapped(maps, before),
            sideband.cgroups(block, self._trailers) if self.wants_cgroups else None,
        )

    def _first_mapped(self, maps: list[Mappings], before: int) -> list[tuple[MappedFile, int]]:
        """Files mapped for the first time while recording, each with a process that has them."""
        if len(self.files.values) == before:
            return []
        found: dict[int, int] = {}
        for part in maps:
            for row in np.flatnonzero((part.file >= before) & (part.time > 0)).tolist()[:256]:
                found.setdefault(int(part.file[row]), int(part.pid[row]))
        return [(self.files.values[number], pid) for number, pid in found.items()]

    def _take_rounds(self, block: Block, times: U64s) -> None:
        newest = np.maximum.accumulate(times) if times.size else times
        for end in block.of_type(Type.FINISHED_ROUND).tolist():
            self.rounds += 1
            self.complete = max(self.complete, self._round_newest)
            self._round_newest = max(self.newest, int(newest[end]))
        if newest.size:
            self.newest = max(self.newest, int(newest[-1]))


@dataclass(frozen=True, slots=True)
class Sideband:
    """What does not wait for its round: kernel code and cgroups, the kernel itself, files mapped for the first time."""

    notices: list[Notice]
    kernel: list[Notice]
    files: list[tuple[MappedFile, int]]
    cgroups: Block | None = None
