"""pprof's format, read by a decoder of our own (wire format only), by pprof itself and by speedscope where they are."""

from __future__ import annotations

import gzip
import io
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from necroscope.query.select import Select
from necroscope.show.export import pprof
from stage.exported import END_NS, ODD, opened_in_speedscope, source, total_ns, working
from stage.recorded import PERIOD_NS, START_NS

Fields = list[tuple[int, int | bytes]]


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data: bytes) -> Fields:
    """Numbers and values of a message's fields; the format knows varints and bytes only."""
    found: Fields = []
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            found.append((key >> 3, data[at : at + value]))
            at += value
        else:
            assert key & 7 == 0
            found.append((key >> 3, value))
    return found


def numbers(data: bytes, wanted: int) -> list[int]:
    """A number's values, packed or not."""
    found: list[int] = []
    for number, value in fields(data):
        if number == wanted and isinstance(value, bytes):
            at = 0
            while at < len(value):
                one, at = varint(value, at)
                found.append(one)
        elif number == wanted and isinstance(value, int):
            found.append(value)
    return found


def number(data: bytes, wanted: int) -> int:
    return next(iter(numbers(data, wanted)), 0)


def messages(data: bytes, wanted: int) -> list[bytes]:
    return [value for number, value in fields(data) if number == wanted and isinstance(value, bytes)]


@dataclass
class Read:
    """A profile, by the numbers of profile.proto."""

    data: bytes
    texts: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.texts = [text.decode() for text in messages(self.data, 6)]

    def types(self) -> list[tuple[str, str]]:
        return [(self.texts[number(one, 1)], self.texts[number(one, 2)]) for one in messages(self.data, 1)]

    def samples(self) -> list[tuple[tuple[tuple[str, str], ...], list[int], dict[str, str | int]]]:
        """Frames outermost first, values, labels."""
        mappings = {number(one, 1): self.texts[number(one, 5)] for one in messages(self.data, 3)}
        functions = {number(one, 1): self.texts[number(one, 2)] for one in messages(self.data, 5)}
        frames = {
            number(one, 1): (functions[number(messages(one, 4)[0], 1)], mappings[number(one, 2)])
            for one in messages(self.data, 4)
        }
        return [
            (
                tuple(frames[one] for one in reversed(numbers(sample, 1))),
                numbers(sample, 2),
                {self.texts[number(one, 1)]: self._label(one) for one in messages(sample, 3)},
            )
            for sample in messages(self.data, 2)
        ]

    def _label(self, label: bytes) -> str | int:
        return self.texts[number(label, 2)] if numbers(label, 2) else number(label, 3)


def written(store: Path, select: Select | None = None) -> bytes:
    file = io.BytesIO()
    pprof.write(source(store, select), file)
    return file.getvalue()


def test_values_are_samples_and_nanoseconds(store: Path) -> None:
    read = Read(gzip.decompress(written(store)))
    assert read.texts[0] == ""
    assert read.types() == [("samples", "count"), ("cpu", "nanoseconds")]
    assert [sum(column) for column in zip(*(values for _, values, _ in read.samples()), strict=True)] == [
        len(working()),
        total_ns(working()),
    ]
    assert (number(read.data, 9), number(read.data, 10)) == (START_NS, END_NS - START_NS + 1)
    assert number(read.data, 12) == PERIOD_NS
    assert read.texts[number(read.data, 14)] == "cpu"


def test_every_stack_of_every_thread_with_its_labels(store: Path) -> None:
    got: Counter[tuple[object, ...]] = Counter()
    for frames, values, labels in Read(gzip.decompress(written(store))).samples():
        assert "cpu" not in labels
        got[frames, labels["pid"], labels["tid"], labels["thread"], labels.get("cgroup", "")] += values[0]
    assert got == Counter((row.frames, row.pid, row.tid, row.comm, row.cgroup) for row in working())
    assert any(key[0] == ODD for key in got)


def test_the_core_is_a_label_when_one_was_chosen(store: Path) -> None:
    read = Read(gzip.decompress(written(store, Select((START_NS, END_NS), cpus=frozenset({1})))))
    assert {labels["cpu"] for _, _, labels in read.samples()} == {1}
    assert sum(values[0] for _, values, _ in read.samples()) == sum(row.cpu == 1 for row in working())


def test_the_kernel_is_the_first_mapping_and_ids_are_not_zero(store: Path) -> None:
    read = Read(gzip.decompress(written(store)))
    first = messages(read.data, 3)[0]
    assert read.texts[number(first, 5)] == "[kernel]"
    for table in (3, 4, 5):
        ids = [number(one, 1) for one in messages(read.data, table)]
        assert ids == list(range(1, len(ids) + 1))


def test_other_events_are_counted(cycles: Path) -> None:
    read = Read(gzip.decompress(written(cycles)))
    assert read.types() == [("samples", "count"), ("cycles:P", "count")]
    assert sum(values[1] for _, values, _ in read.samples()) == total_ns(working())


def test_written_in_parts_it_is_the_same_profile(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Read(gzip.decompress(written(store)))
    monkeypatch.setattr(pprof, "_ROWS", 7)
    parts = Read(gzip.decompress(written(store)))
    assert len(parts.samples()) > 21
    assert (parts.types(), parts.samples()) == (whole.types(), whole.samples())


def test_the_same_samples_give_the_same_bytes(store: Path) -> None:
    assert written(store) == written(store)


def test_nothing_is_a_valid_profile(store: Path) -> None:
    assert Read(gzip.decompress(written(store, Select((0, 1))))).samples() == []


def test_speedscope_opens_it(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "window.pb.gz"
    file.write_bytes(written(store))
    (profile,) = opened_in_speedscope(file)["profiles"]
    assert (profile["unit"], profile["endValue"]) == ("nanoseconds", total_ns(working()))
