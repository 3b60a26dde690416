"""OTLP profiles, read back with OpenTelemetry's own messages."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from google.protobuf import json_format
from opentelemetry.proto.profiles.v1development import profiles_pb2

from necroscope.query.select import Select
from necroscope.show.export import otlp
from necroscope.show.export.source import Source
from stage.exported import END_NS, source, total_ns, working
from stage.recorded import START_NS


def written(write: Callable[[Source, BinaryIO], None], store: Path, select: Select | None = None) -> bytes:
    file = io.BytesIO()
    write(source(store, select), file)
    return file.getvalue()


def read(store: Path, select: Select | None = None) -> Any:
    return profiles_pb2.ProfilesData.FromString(written(otlp.write, store, select))


def profiles(data: Any) -> list[Any]:
    (resource,) = data.resource_profiles
    (scope,) = resource.scope_profiles
    assert scope.scope.name == "necroscope"
    return list(scope.profiles)


def kind(data: Any, value: Any) -> tuple[str, str]:
    texts = data.dictionary.string_table
    return texts[value.type_strindex], texts[value.unit_strindex]


def spelled(data: Any, sample: Any) -> tuple[tuple[str, str], ...]:
    """Frames of a sample, outermost first."""
    words = data.dictionary
    locations = [words.location_table[one] for one in words.stack_table[sample.stack_index].location_indices]
    return tuple(
        (
            words.string_table[words.function_table[one.lines[0].function_index].name_strindex],
            words.string_table[words.mapping_table[one.mapping_index].filename_strindex],
        )
        for one in reversed(locations)
    )


def attributes(data: Any, indices: Any) -> dict[str, str | int]:
    found = (data.dictionary.attribute_table[one] for one in indices)
    return {
        data.dictionary.string_table[one.key_strindex]: getattr(one.value, one.value.WhichOneof("value"))
        for one in found
    }


def test_one_profile_counts_and_one_weighs(store: Path) -> None:
    data = read(store)
    count, cpu = profiles(data)
    assert kind(data, count.sample_type) == ("samples", "count")
    assert kind(data, cpu.sample_type) == ("cpu", "nanoseconds")
    assert sum(value for sample in count.samples for value in sample.values) == len(working())
    assert sum(value for sample in cpu.samples for value in sample.values) == total_ns(working())
    assert (cpu.time_unix_nano, cpu.duration_nano) == (START_NS, END_NS - START_NS + 1)


def test_every_stack_of_every_thread(store: Path) -> None:
    data = read(store)
    got: Counter[tuple[object, ...]] = Counter()
    for sample in profiles(data)[0].samples:
        known = attributes(data, sample.attribute_indices)
        who = (known["process.pid"], known["thread.id"], known["thread.name"], known.get("process.linux.cgroup", ""))
        got[(spelled(data, sample), *who)] += sample.values[0]
    assert got == Counter((row.frames, row.pid, row.tid, row.comm, row.cgroup) for row in working())


def test_number_zero_of_every_table_is_nothing(store: Path) -> None:
    words = read(store).dictionary
    assert words.string_table[0] == ""
    tables = ("mapping_table", "location_table", "function_table", "link_table", "attribute_table", "stack_table")
    for table in tables:
        first = getattr(words, table)[0]
        assert first == type(first)(), table


def test_kernel_frames_are_marked(store: Path) -> None:
    data = read(store)
    marked = set()
    for one in data.dictionary.location_table[1:]:
        module = data.dictionary.string_table[data.dictionary.mapping_table[one.mapping_index].filename_strindex]
        assert attributes(data, one.attribute_indices) == (
            {"profile.frame.type": "kernel"} if module in ("[kernel]", "[nf_tables]") else {}
        )
        marked.add(module)
    assert {"[kernel]", "[nf_tables]", "worker", "[jit]"} <= marked


def test_the_core_is_told_when_one_was_chosen(store: Path) -> None:
    data = read(store, Select((START_NS, END_NS), cpus=frozenset({0})))
    cores = {attributes(data, sample.attribute_indices)["cpu.logical_number"] for sample in profiles(data)[0].samples}
    assert cores == {0}


def test_json_is_the_same_message(store: Path) -> None:
    made = json_format.Parse(written(otlp.write_json, store), profiles_pb2.ProfilesData())
    assert made == read(store)


def test_other_events_are_counted(cycles: Path) -> None:
    data = read(cycles)
    assert kind(data, profiles(data)[1].sample_type) == ("cycles:P", "count")


@pytest.mark.parametrize("write", [otlp.write, otlp.write_json])
def test_nothing_is_a_valid_message(write: Callable[[Source, BinaryIO], None], store: Path) -> None:
    assert written(write, store, Select((0, 1)))
