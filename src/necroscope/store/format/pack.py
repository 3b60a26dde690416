"""Rows as a journal has them <-> rows as a segment has them: stacks numbered, rows sorted, roll-ups made.

Numbers of stacks follow the text of their frames, so that neighbours share most of it; samples go by core and time,
which makes the time from one to the next almost constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.sense.perf.idle import idle
from necroscope.sense.perf.modules import in_kernel
from necroscope.store.format.arrow import WORD, Tables, from_columns, in_order, one_chunk, taken, text_order
from necroscope.store.format.grouping import groups, numbered, sums
from necroscope.store.format.tables import FLAMES, JOURNAL, LIVE_SAMPLES, LIVE_STACKS, SAMPLES, SECONDS, STACKS, TASKS

ROWS_PER_GROUP = 1 << 17
# A roll-up is worth its bytes where it has few rows against the samples.
_WORTH = 4


def packed(tables: Tables, number: int) -> Iterator[tuple[str, pa.Table, int]]:
    """Tables of a segment with this number: name, rows in order, rows per row group."""
    samples = tables.get("samples")
    if samples is not None and samples.num_rows:
        yield from _packed_samples(samples, tables.get("stacks"), number)
    for declared in JOURNAL:
        table = tables.get(declared.name)
        if declared.name not in ("samples", "stacks") and table is not None and table.num_rows:
            yield declared.name, in_order(declared, table), ROWS_PER_GROUP


def unpacked(tables: Tables) -> Tables:
    """The rows of a segment's tables as a journal has them; roll-ups are left out, as they can be made again."""
    declared = {table.name: table for table in JOURNAL}
    rows = {name: table for name, table in tables.items() if name in declared}
    if "samples" in rows:
        stacks, samples = rows["stacks"], rows["samples"]
        ids = stacks["stack_id"].to_numpy()
        tid = samples["pid"].to_numpy() + samples["thread"].to_numpy()
        columns = {name: samples[name] for name in LIVE_SAMPLES.names if name in samples.column_names}
        columns |= {"tid": tid, "stack_id": ids[samples["stack"].to_numpy()]}
        rows["samples"] = from_columns(LIVE_SAMPLES, columns)
        rows["stacks"] = stacks.select(LIVE_STACKS.names)
    return {
        name: from_columns(declared[name], dict(zip(table.column_names, table.columns, strict=True)))
        for name, table in rows.items()
    }


def _packed_samples(samples: pa.Table, stacks: pa.Table | None, number: int) -> Iterator[tuple[str, pa.Table, int]]:
    seen = samples["stack_id"].to_numpy()
    code, one_of = numbered(seen)
    ids = seen[one_of]
    frames = _frames_of(ids, stacks)
    by_text = text_order(frames)
    number_of = np.empty(ids.size, np.int32)
    number_of[by_text] = np.arange(ids.size, dtype=np.int32)
    stack = number_of[code]
    frames = taken(frames, by_text)
    yield "samples", _samples_table(samples, stack, number), ROWS_PER_GROUP
    columns = {
        "segment": np.full(ids.size, number, np.int64),
        "stack": np.arange(ids.size, dtype=np.int32),
        "stack_id": ids[by_text],
        "frames": frames,
        "samples": np.bincount(stack, minlength=ids.size),
    }
    yield "stacks", from_columns(STACKS, columns), max(1, ids.size)
    innermost = _innermost(frames)
    yield "seconds", _seconds_table(samples, innermost.in_kernel[stack]), ROWS_PER_GROUP
    for name, rolled in (
        ("flames", _flames_table(samples, stack, number)),
        ("tasks", _tasks_table(samples, stack, innermost, number)),
    ):
        if rolled.num_rows * _WORTH <= samples.num_rows:
            yield name, rolled, max(1, rolled.num_rows)


def _frames_of(ids: NDArray[np.uint64], stacks: pa.Table | None) -> pa.Array:
    """The frames of each id; empty for an unknown stack."""
    if stacks is None or not stacks.num_rows:
        return pa.array([""] * ids.size, pa.string())
    known = stacks["stack_id"].to_numpy()
    texts = one_chunk(stacks["frames"])
    if np.array_equal(known, ids):
        return texts
    order = np.argsort(known, kind="stable")
    place = np.minimum(np.searchsorted(known, ids, sorter=order), known.size - 1)
    found = order[place]
    # The place behind the last one is that of no text.
    place = np.where(known[found] == ids, found, known.size)
    return taken(pa.concat_arrays([texts, pa.array([""], texts.type)]), place)


def _samples_table(samples: pa.Table, stack: NDArray[np.int32], number: int) -> pa.Table:
    order = _by_core(samples["at_ns"].to_numpy(), samples["cpu"].to_numpy())
    pid = samples["pid"].to_numpy()[order]
    columns = {name: _taken(samples[name], order) for name in SAMPLES.names if name in LIVE_SAMPLES.names}
    columns |= {
        "segment": np.full(stack.size, number, np.int64),
        "pid": pid,
        "thread": samples["tid"].to_numpy()[order] - pid,
        "stack": stack[order],
    }
    return from_columns(SAMPLES, columns)


def _taken(column: pa.ChunkedArray, order: NDArray[np.intp]) -> pa.Array | NDArray[Any]:
    """A column in another order; numbers by NumPy, which is quicker at it."""
    if column.type != WORD:
        return column.to_numpy()[order]
    words = one_chunk(column)
    return pa.DictionaryArray.from_arrays(words.indices.to_numpy()[order], words.dictionary)


def _by_core(at_ns: NDArray[np.int64], cpu: NDArray[np.int32]) -> NDArray[np.intp]:
    """Row groups in time, within each by core and time."""
    in_time = np.arange(at_ns.size)
    if np.any(at_ns[1:] < at_ns[:-1]):
        in_time = np.argsort(at_ns, kind="stable")
    # Numbers of cores are small, and 16 bits are sorted by radix.
    core = cpu.astype(np.int16) if np.array_equal(cpu, cpu.astype(np.int16)) else cpu
    blocks = (in_time[start : start + ROWS_PER_GROUP] for start in range(0, at_ns.size, ROWS_PER_GROUP))
    return np.concatenate([block[np.argsort(core[block], kind="stable")] for block in blocks])


@dataclass(frozen=True, slots=True)
class _Innermost:
    """The innermost frame of each stack: which of the texts, whether it is in the kernel, whether it waits for work."""

    of_stack: NDArray[np.int32]
    texts: list[str]
    in_kernel: NDArray[np.bool_]
    waits: NDArray[np.bool_]


def _innermost(frames: pa.Array) -> _Innermost:
    """There are far fewer of them than stacks."""
    number: dict[str, int] = {}
    leaves = (text[text.rfind("\x1e", 0, -1) + 1 :] for text in frames.to_pylist())
    of_stack = np.array([number.setdefault(one, len(number)) for one in leaves], np.int32)
    kernel = np.array([in_kernel(one[one.rfind("\x1f") + 1 : -1]) for one in number], np.bool_)
    return _Innermost(of_stack, list(number), kernel[of_stack], idle(list(number))[of_stack])


def _seconds_table(samples: pa.Table, kernel: NDArray[np.bool_]) -> pa.Table:
    second, cpu = np.floor_divide(samples["at_ns"].to_numpy(), NS), samples["cpu"].to_numpy()
    words = {name: one_chunk(samples[name]) for name in ("event", "comm")}
    group, one_of = groups([second, cpu, *(column.indices.to_numpy() for column in words.values())])
    columns = {
        "second": second[one_of],
        "cpu": cpu[one_of],
        "kernel": sums(group, kernel.astype(np.int64), one_of.size),
        **_counted(samples, words, group, one_of),
    }
    return in_order(SECONDS, from_columns(SECONDS, columns))


def _flames_table(samples: pa.Table, stack: NDArray[np.int32], number: int) -> pa.Table:
    words = {name: one_chunk(samples[name]) for name in ("event", "comm")}
    group, one_of = groups([*(column.indices.to_numpy() for column in words.values()), stack])
    columns = {
        "segment": np.full(one_of.size, number, np.int64),
        "stack": stack[one_of],
        **_counted(samples, words, group, one_of),
    }
    return in_order(FLAMES, from_columns(FLAMES, columns))


def _tasks_table(samples: pa.Table, stack: NDArray[np.int32], innermost: _Innermost, number: int) -> pa.Table:
    pid, tid = (samples[name].to_numpy() for name in ("pid", "tid"))
    leaf, leaves = _leaves(pid, stack, innermost)
    words = {name: one_chunk(samples[name]) for name in ("event", "comm", "cgroup")}
    group, one_of = groups([*(column.indices.to_numpy() for column in words.values()), pid, tid, leaf])
    columns = {
        "segment": np.full(one_of.size, number, np.int64),
        "pid": pid[one_of],
        "thread": tid[one_of] - pid[one_of],
        "leaf": pa.DictionaryArray.from_arrays(leaf[one_of], leaves),
        **_counted(samples, words, group, one_of),
    }
    return in_order(TASKS, from_columns(TASKS, columns))


def _counted(
    samples: pa.Table, words: dict[str, pa.DictionaryArray], group: NDArray[np.int64], one_of: NDArray[np.int64]
) -> dict[str, Any]:
    """What the groups of all roll-ups have: their words, how many samples they are, and what those weigh."""
    columns: dict[str, Any] = {
        name: pa.DictionaryArray.from_arrays(column.indices.to_numpy()[one_of], column.dictionary)
        for name, column in words.items()
    }
    weight = sums(group, samples["weight"].to_numpy(), one_of.size)
    return columns | {"samples": np.bincount(group, minlength=one_of.size), "weight": weight}


def _leaves(
    pid: NDArray[np.int32], stack: NDArray[np.int32], innermost: _Innermost
) -> tuple[NDArray[np.int32], pa.Array]:
    """Innermost frames of the idle task's samples, which may be work, and of others that wait where it does: codes and
    texts; empty for all others."""
    leaf = np.zeros(pid.size, np.int32)
    resting = np.flatnonzero((pid <= 0) | innermost.waits[stack])
    seen, place = np.unique(stack[resting], return_inverse=True)
    number = {"": 0}
    texts = (innermost.texts[one] for one in innermost.of_stack[seen].tolist())
    codes = [number.setdefault(text, len(number)) for text in texts]
    leaf[resting] = np.array(codes, np.int32)[place.reshape(-1)] if codes else 0
    return leaf, pa.array(list(number), pa.string())
