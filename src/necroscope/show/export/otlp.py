"""OTLP's profiles signal (v1development), as a `ProfilesData` message: for OpenTelemetry collectors and backends.

One profile counts samples, a second one tells their weight (cpu in nanoseconds, or events such as cycles). Attributes
follow OpenTelemetry's semantic conventions where these have a word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

from necroscope import __version__
from necroscope.query.samples.counting import count_samples
from necroscope.query.samples.sample_counts import SampleCounts, Task
from necroscope.sense.perf.event_names import is_clock
from necroscope.sense.perf.modules import in_kernel
from necroscope.show.export import runtime
from necroscope.show.export.frames import FrameTable, TextTable
from necroscope.show.export.source import Source


def write(source: Source, file: BinaryIO) -> None:
    """The samples of a source as protobuf."""
    file.write(_made(source).SerializeToString())


def write_json(source: Source, file: BinaryIO) -> None:
    """The samples of a source as OTLP's JSON."""
    file.write(runtime.json_format().MessageToJson(_made(source), indent=None).encode())
    file.write(b"\n")


def _made(source: Source) -> Any:
    runtime.otlp()
    counts = count_samples([source.select.window], source.chunks())
    source.cut = counts.cut
    return profiles_data(counts, source.cpu, source.resource)


def profiles_data(counts: SampleCounts, cpu: int | None = None, resource: Mapping[str, str] | None = None) -> Any:
    """The message of counts of one window; `resource` is what is known about the node."""
    types = runtime.otlp()
    data, text, table = types.ProfilesData(), TextTable(), FrameTable()
    words = _Dictionary(data.dictionary, text)
    data.dictionary.stack_table.add()
    for stack in counts.stacks:
        data.dictionary.stack_table.add(location_indices=[number + 1 for number in reversed(table.numbers(stack))])
    words.add_frames(table)
    attributes = [words.attributes(task, cpu) for task in counts.tasks]
    weight = ("cpu", "nanoseconds") if is_clock(counts.event) else (counts.event or "weight", "count")
    profiles = data.resource_profiles.add()
    for key, value in (resource or {}).items():
        profiles.resource.attributes.add(key=key, value={"string_value": value})
    scope = profiles.scope_profiles.add()
    scope.scope.name, scope.scope.version = "necroscope", __version__
    for (kind, unit), values in (
        (("samples", "count"), counts.samples.tolist()),
        (weight, counts.weight.round().astype("int64").tolist()),
    ):
        profile = scope.profiles.add()
        _add_header(profile, counts, text, weight)
        profile.sample_type.type_strindex, profile.sample_type.unit_strindex = text(kind), text(unit)
        for task, stack, value in zip(counts.task.tolist(), counts.stack.tolist(), values, strict=True):
            profile.samples.add(stack_index=stack + 1, attribute_indices=attributes[task], values=[value])
    data.dictionary.string_table.extend(text.texts())
    return data


def _add_header(profile: Any, counts: SampleCounts, text: TextTable, weight: tuple[str, str]) -> None:
    (from_ns, to_ns), total = counts.windows[0], int(counts.samples.sum())
    profile.time_unix_nano, profile.duration_nano = from_ns, to_ns - from_ns + 1
    profile.period_type.type_strindex, profile.period_type.unit_strindex = text(weight[0]), text(weight[1])
    profile.period = round(float(counts.weight.sum()) / total) if total else 0


class _Dictionary:
    """Tables that messages refer to by number; number 0 of each is nothing."""

    def __init__(self, dictionary: Any, text: TextTable) -> None:
        self._dictionary, self._text = dictionary, text
        self._attributes: dict[tuple[str, str | int], int] = {}
        for table in ("mapping_table", "location_table", "function_table", "link_table", "attribute_table"):
            getattr(dictionary, table).add()

    def attributes(self, task: Task, cpu: int | None) -> list[int]:
        """Numbers of what is known about a thread."""
        known: dict[str, str | int] = {"process.pid": task.pid} if task.pid >= 0 else {}
        known |= {"thread.id": task.tid} if task.tid >= 0 else {}
        known |= {"thread.name": task.comm} if task.comm else {}
        known |= {"process.linux.cgroup": task.cgroup} if task.cgroup else {}
        known |= {"cpu.logical_number": cpu} if cpu is not None else {}
        return [self._attribute(key, value) for key, value in known.items()]

    def add_frames(self, table: FrameTable) -> None:
        """A function and a location for each frame, with the same number; a mapping for each module."""
        mappings: dict[str, int] = {}
        for number, (name, module) in enumerate(table.labels(), 1):
            mapping = mappings.setdefault(module, len(mappings) + 1) if module else 0
            kind = [self._attribute("profile.frame.type", "kernel")] if in_kernel(module) else []
            self._dictionary.function_table.add(name_strindex=self._text(name))
            self._dictionary.location_table.add(
                mapping_index=mapping, lines=[{"function_index": number}], attribute_indices=kind
            )
        for module in mappings:
            self._dictionary.mapping_table.add(filename_strindex=self._text(module))

    def _attribute(self, key: str, value: str | int) -> int:
        number = self._attributes.get((key, value))
        if number is None:
            number = self._attributes[key, value] = len(self._attributes) + 1
            kind = "int_value" if isinstance(value, int) else "string_value"
            self._dictionary.attribute_table.add(key_strindex=self._text(key), value={kind: value})
        return number
