"""pprof's profile.proto, gzipped: for `go tool pprof`, Pyroscope, Parca, Speedscope, Perfetto.

A sample has two values: how many samples of the recording it stands for, and their weight (cpu in nanoseconds, or
the number of events such as cycles). Its labels are process, thread, cgroup and, when one core was chosen, the core.
Modules are mappings, without addresses: symbols were resolved when they were recorded.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import Any, BinaryIO

from necroscope.query.samples.counting import count_samples
from necroscope.query.samples.sample_counts import SampleCounts, Task
from necroscope.sense.perf.event_names import is_clock
from necroscope.show.export.frames import FrameTable, TextTable
from necroscope.show.export.pprof_messages import profile_type
from necroscope.show.export.source import Source

_ROWS = 20_000


def write(source: Source, file: BinaryIO) -> None:
    """The samples of a source as a gzipped profile."""
    profile_type()
    counts = count_samples([source.select.window], source.chunks())
    source.cut = counts.cut
    # Neither time nor name in the header: the same samples give the same bytes.
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
        for part in parts(counts, source.cpu):
            packed.write(part.SerializeToString())


def parts(counts: SampleCounts, cpu: int | None = None) -> Iterator[Any]:
    """The profile of counts of one window, in parts: in protobuf's format, all of them in a row are the whole."""
    text, table = TextTable(), FrameTable()
    weight = ("cpu", "nanoseconds") if is_clock(counts.event) else (counts.event or "weight", "count")
    stacks = [[number + 1 for number in reversed(table.numbers(stack))] for stack in counts.stacks]
    labels = [_labels(task, cpu, text) for task in counts.tasks]
    for start in range(0, counts.samples.size, _ROWS):
        yield _samples(counts, slice(start, start + _ROWS), stacks, labels)
    made = profile_type()()
    for kind, unit in (("samples", "count"), weight):
        made.sample_type.add(type=text(kind), unit=text(unit))
    _add_frames(made, table, text)
    _add_header(made, counts, text, weight)
    made.string_table.extend(text.texts())
    yield made


def _samples(counts: SampleCounts, rows: slice, stacks: list[list[int]], labels: list[list[dict[str, int]]]) -> Any:
    made = profile_type()()
    columns = (counts.task, counts.stack, counts.samples, counts.weight)
    for task, stack, samples, weight in zip(*(column[rows].tolist() for column in columns), strict=True):
        made.sample.add(location_id=stacks[stack], value=[samples, round(weight)], label=labels[task])
    return made


def _labels(task: Task, cpu: int | None, text: TextTable) -> list[dict[str, int]]:
    labels = [{"key": text("thread"), "str": text(task.comm)}] if task.comm else []
    labels += [
        {"key": text(key), "num": number} for key, number in (("pid", task.pid), ("tid", task.tid)) if number >= 0
    ]
    if task.cgroup:
        labels.append({"key": text("cgroup"), "str": text(task.cgroup)})
    if cpu is not None:
        labels.append({"key": text("cpu"), "num": cpu})
    return labels


def _add_frames(made: Any, table: FrameTable, text: TextTable) -> None:
    """A function and a location for each frame, with the same id; a mapping for each module."""
    frames = table.labels()
    # pprof takes the first mapping for the program that was profiled; of a whole node, the kernel comes closest.
    modules = sorted({module for _, module in frames if module}, key=lambda module: (module != "[kernel]", module))
    mappings = {module: number for number, module in enumerate(modules, 1)}
    for number, (name, module) in enumerate(frames, 1):
        made.function.add(id=number, name=text(name), system_name=text(name), filename=text(module))
        made.location.add(id=number, mapping_id=mappings.get(module, 0), line=[{"function_id": number}])
    for module, number in mappings.items():
        made.mapping.add(id=number, filename=text(module), has_functions=True)


def _add_header(made: Any, counts: SampleCounts, text: TextTable, weight: tuple[str, str]) -> None:
    (from_ns, to_ns), total = counts.windows[0], int(counts.samples.sum())
    made.time_nanos, made.duration_nanos = from_ns, to_ns - from_ns + 1
    made.period_type.type, made.period_type.unit = text(weight[0]), text(weight[1])
    made.period = round(float(counts.weight.sum()) / total) if total else 0
    made.default_sample_type = text(weight[0])
