"""One flush: rows that are complete up to some time are put in order, applied to the tasks, and handed out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.cgroups.churn import CgroupChurn, few_of_each
from necroscope.sense.perf.cgroups.paths import CgroupPaths
from necroscope.sense.perf.decode.interning import recoded
from necroscope.sense.perf.decode.pending import Due
from necroscope.sense.perf.format.attrs import Events
from necroscope.sense.perf.format.columns import RawFields, RawRows, SampleRows
from necroscope.sense.perf.format.layout import Sample, Type
from necroscope.sense.perf.format.sideband import Notice, TaskRows
from necroscope.sense.perf.format.tables import select
from necroscope.sense.perf.format.tracepoints import Format, cgroup_event
from necroscope.sense.perf.rows import CgroupEvent, CgroupSum, Lost, Row, TaskBatch, Throttled
from necroscope.sense.perf.samples import SampleBatch
from necroscope.sense.perf.symbols.stacks import Stacks
from necroscope.sense.perf.tasks.tasks import Move, TaskChanges, Tasks

U64s = NDArray[np.uint64]
I64s = NDArray[np.int64]
_LATEST = np.uint64((1 << 63) - 1)
_KINDS = {Type.FORK: 0, Type.COMM: 1, Type.EXIT: 3}
_EXEC = 2


class Flusher:
    """Puts rows in order and gives them names."""

    def __init__(
        self, events: Events, tasks: Tasks, stacks: Stacks, memory_root: int | None, churn: CgroupChurn | None = None
    ) -> None:
        self._churn, self.storm = churn, False
        self._events = events
        self._tasks = tasks
        self._stacks = stacks
        self._memory_root = memory_root
        self.cgroups = CgroupPaths()
        self.ask_tasks_for_cgroups = False

    def rows(self, due: Due, formats: dict[int, Format]) -> Iterator[Row]:
        """Everything that is due, tasks first, then samples, then single events."""
        raws, sums, samples = self._sorted(due, formats)
        records = raws.fields() if raws is not None else ()
        moments = [event for raw in records if (event := self._cgroup_event(raw, formats)) is not None]
        moments.sort(key=lambda event: event.at_ns)
        moved = [one for one in moments if one.kind == "attach_task" and self._memory_root in (None, one.root)]
        parts = [
            due.tasks.time if due.tasks else None,
            due.mappings.time if due.mappings else None,
            np.array([one.at_ns for one in moved], np.uint64),
            samples.time if samples else None,
        ]
        ranks, order = _ranks(parts)
        moves = [Move(rank, one.pid, one.path) for one, rank in zip(moved, ranks[2].tolist(), strict=True)]
        in_order = np.argsort(ranks[0])
        tasks = select(due.tasks, in_order) if due.tasks else None
        sampled = np.unique(samples.pid) if samples else np.zeros(0, np.uint32)
        self._tasks.apply(TaskChanges(tasks, ranks[0][in_order], due.mappings, ranks[1], moves), sampled)
        if tasks is not None and (batch := self._task_batch(tasks)) is not None:
            yield batch
        if samples:
            yield self._sample_batch(samples, ranks[3], order)
        self._tasks.settle()
        yield from moments
        yield from sums
        yield from (row for notice in due.notices if (row := _missing(notice)) is not None)

    def _sorted(
        self, due: Due, formats: dict[int, Format]
    ) -> tuple[RawRows | None, tuple[CgroupSum, ...], SampleRows | None]:
        """What tracepoints wrote, as far as it is kept one by one, sums of the rest, and the samples that stay."""
        if self._churn is None:
            return due.raws, (), due.samples
        parts = [part for part in (due.raws, due.samples) if part is not None and len(part)]
        newest = max((int(part.time.max()) for part in parts), default=0)
        known = {number: one for number, attr in enumerate(self._events.attrs) if (one := formats.get(attr.config))}
        result = self._churn.sort(due.raws, known, newest)
        self.storm = result.storm
        samples = due.samples
        if result.storm and samples is not None and due.raws is not None:
            traced = np.flatnonzero(np.isin(samples.event, np.unique(due.raws.event)))
            kept = ~np.isin(np.arange(len(samples)), traced)
            kept[traced[few_of_each(samples.pid[traced])]] = True
            samples = samples.take(kept)
        return result.single, result.sums, samples

    # -- samples -------------------------------------------------------------------------------------------

    def _sample_batch(self, rows: SampleRows, ranks: I64s, order: I64s) -> SampleBatch:
        comms = self._tasks.comms(rows.tid, ranks)
        codes, paths = self._cgroup_codes(rows, ranks)
        stack_ids, stacks = self._stacks.resolve(
            rows.depth,
            rows.chain,
            rows.time,
            self._tasks.versions(rows.pid, ranks),
            rows.pid,
            self._tasks.mapped,
        )
        comm, comm_names = recoded(comms[order], self._tasks.comm_names.texts)
        cgroup, cgroup_names = recoded(codes[order], paths)
        event, event_names = recoded(rows.event[order], [attr.name for attr in self._events.attrs])
        return SampleBatch(
            at_ns=np.minimum(rows.time[order], _LATEST).astype(np.int64),
            cpu=rows.cpu[order],
            pid=rows.pid[order].view(np.int32),
            tid=rows.tid[order].view(np.int32),
            comm=comm,
            comms=comm_names,
            cgroup=cgroup,
            cgroups=cgroup_names,
            event=event,
            events=event_names,
            weight=rows.weight[order],
            stack_id=stack_ids[order],
            stacks=stacks,
        )

    def _cgroup_codes(self, rows: SampleRows, ranks: I64s) -> tuple[NDArray[np.int32], list[str]]:
        if self.ask_tasks_for_cgroups:
            return self._tasks.cgroups(rows.pid, ranks), self._tasks.cgroup_names.texts
        if any(attr.has(Sample.CGROUP) for attr in self._events.attrs):
            return self.cgroups.numbers(rows.cgroup), self.cgroups.names.texts
        return np.zeros(len(rows), np.int32), self.cgroups.names.texts

    # -- the rest ------------------------------------------------------------------------------------------

    def _task_batch(self, rows: TaskRows) -> TaskBatch | None:
        news = (rows.time > 0) & ~rows.reported_elsewhere
        if not news.any():
            return None
        kind = np.select([rows.type == kind for kind in _KINDS], list(_KINDS.values())).astype(np.int8)
        kind[(rows.type == Type.COMM) & rows.exec] = _EXEC
        born = (rows.type != Type.COMM) & news
        comm, comms = recoded(np.maximum(rows.comm, 0)[news], self._tasks.comm_names.texts)
        return TaskBatch(
            at_ns=np.minimum(rows.time[news], _LATEST).astype(np.int64),
            kind=kind[news],
            pid=rows.pid[news].view(np.int32),
            tid=rows.tid[news].view(np.int32),
            parent=np.where(born, rows.parent_pid, np.uint32(0))[news].view(np.int32),
            comm=comm,
            comms=comms,
        )

    def _cgroup_event(self, raw: RawFields, formats: dict[int, Format]) -> CgroupEvent | None:
        one = formats.get(self._events.attrs[raw.event].config)
        return cgroup_event(one, raw) if one is not None else None


def _ranks(parts: list[U64s | None]) -> tuple[list[I64s], I64s]:
    """The place in time order, from 1 on, of each row of each part; of equal times the earlier part's comes first.

    And the rows of the last part, in time order.
    """
    times = np.concatenate([part for part in parts if part is not None])
    order = np.argsort(times, kind="stable")
    ranks = np.empty(times.size, np.int64)
    ranks[order] = np.arange(1, times.size + 1)
    split, place = [], 0
    for part in parts:
        size = 0 if part is None else part.size
        split.append(ranks[place : place + size])
        place += size
    first = times.size - split[-1].size
    return split, order[order >= first] - first


def _missing(notice: Notice) -> Lost | Throttled | None:
    data = notice.payload
    if notice.type == Type.LOST and len(data) >= 16:
        return Lost(notice.time, int.from_bytes(data[8:16], "little"), notice.cpu)
    if notice.type == Type.LOST_SAMPLES and len(data) >= 8:
        return Lost(notice.time, int.from_bytes(data[:8], "little"), notice.cpu)
    if notice.type in (Type.THROTTLE, Type.UNTHROTTLE) and len(data) >= 8:
        return Throttled(int.from_bytes(data[:8], "little"), notice.cpu, notice.type == Type.UNTHROTTLE)
    return None
