"""pprof files: our own exports and those of others, written here field by field; hostile bytes crash nothing."""

from __future__ import annotations

import contextlib
import gzip
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from perf import recorded

from necroscope.errors import BadInput
from necroscope.sense.importers.profiles.pprof import LOST, Pprof
from necroscope.sense.importers.profiles.protobuf_wire import Malformed, fields, numbers, signed
from necroscope.sense.importers.sniff import kind_of
from necroscope.sense.importers.source import CUT_SHORT, Placing
from necroscope.sense.perf.samples import SampleBatch

AT_NS = 1_767_323_045_000_000_000


def number(value: int) -> bytes:
    """A varint."""
    value &= (1 << 64) - 1
    made = b""
    while value > 127:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])


def one(field: int, value: int | bytes) -> bytes:
    """A field of a message."""
    if isinstance(value, int):
        return number(field << 3) + number(value)
    return number(field << 3 | 2) + number(len(value)) + value


def profile(*samples: bytes, types: tuple[tuple[int, int], ...] = ((1, 2),), default: int = 0) -> bytes:
    """What Go writes, of two functions in one file; the second location has `inlined` in `outer`."""
    strings = [
        "",
        "samples",
        "count",
        "cpu",
        "nanoseconds",
        "main",
        "outer",
        "inlined",
        "/usr/bin/app",
        "pid",
        "thread",
    ]
    parts = [one(1, one(1, kind) + one(2, unit)) for kind, unit in types]
    parts += [one(2, sample) for sample in samples]
    parts += [one(3, one(1, 1) + one(5, 8)), one(5, one(1, 1) + one(2, 5)), one(5, one(1, 2) + one(2, 6))]
    parts += [one(5, one(1, 3) + one(2, 7)), one(4, one(1, 1) + one(2, 1) + one(4, one(1, 1)))]
    parts += [one(4, one(1, 2) + one(2, 1) + one(4, one(1, 3)) + one(4, one(1, 2))), one(4, one(1, 3) + one(2, 1))]
    parts += [one(6, text.encode()) for text in (*strings, "web")]
    return b"".join([*parts, one(9, AT_NS), one(10, 5_000_000_000), one(14, default)])


def sample(locations: tuple[int, ...], values: tuple[int, ...], *labels: bytes, packed: bool = True) -> bytes:
    ids = b"".join(map(number, locations))
    body = one(1, ids) if packed else b"".join(one(1, place) for place in locations)
    return body + one(2, b"".join(map(number, values))) + b"".join(one(3, label) for label in labels)


def read(tmp_path: Path, data: bytes, placing: Placing | None = None) -> tuple[list[SampleBatch], tuple[str, ...]]:
    path = tmp_path / "cpu.pb.gz"
    path.write_bytes(data)
    reader = Pprof(path, placing or Placing())
    return list(reader.rows()), reader.notes()


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_profile_of_go(tmp_path: Path, packed: bool, pack: type[bytes]) -> None:
    labels = one(1, 9) + one(3, 4711), one(1, 10) + one(2, 11), one(1, 6) + one(2, 6)
    data = pack(
        profile(sample((2, 1), (3, 30), *labels, packed=packed), sample((3, 1), (4, 40), packed=packed),
                types=((1, 2), (3, 4)))
    )  # fmt: skip
    path = tmp_path / "cpu.pb.gz"
    path.write_bytes(data)
    assert kind_of(path) == "pprof"
    batches, notes = read(tmp_path, data)
    assert [line[:6] for line in recorded.samples(batches)] == [
        ("web", 4711, -1, -1, recorded.samples(batches)[0][4], 3),
        ("", -1, -1, -1, recorded.samples(batches)[1][4], 4),
    ]
    assert recorded.stacks(batches) == [
        (("inlined", "app"), ("outer", "app"), ("main", "app")),
        (("[unknown]", "app"), ("main", "app")),
    ]
    assert all(AT_NS <= line[4] < AT_NS + 5_000_000_000 for line in recorded.samples(batches))
    assert notes == (LOST, "of its values samples is kept, not cpu", "1 labels of samples are not kept")


def test_the_default_or_the_last_value_counts_where_no_samples_are_given(tmp_path: Path) -> None:
    for default, weight in ((3, 30), (0, 7)):
        data = profile(sample((1,), (30, 7)), types=((3, 4), (6, 2)), default=default)
        assert [line[5] for line in recorded.samples(read(tmp_path, data)[0])] == [weight]


def test_what_cannot_be_used_is_counted(tmp_path: Path) -> None:
    good = sample((1,), (5,))
    data = profile(good, sample((1,), (-3,)), sample((), (3,)), sample((1,), (1 << 62,)), sample((1,), (0,)))
    batches, notes = read(tmp_path, data)
    assert [line[5] for line in recorded.samples(batches)] == [5]
    assert "3 samples could not be used: they have no stack, or a value below zero" in notes


def test_a_cut_profile_gives_what_is_there(tmp_path: Path) -> None:
    data = profile(*[sample((1,), (5,))] * 100)
    batches, notes = read(tmp_path, data[: len(data) - 40])
    assert len(recorded.samples(batches)) == 100
    assert CUT_SHORT in notes
    packed = gzip.compress(data)
    assert CUT_SHORT in read(tmp_path, packed[: len(packed) - 12])[1]


def test_our_own_export_comes_back(tmp_path: Path) -> None:
    pytest.importorskip("google.protobuf")
    import numpy as np

    from necroscope.query.samples.sample_counts import SampleCounts, Task
    from necroscope.show.export.pprof import parts

    rows = (np.array([0, 0]), np.array([0, 1]), np.array([0, 0]), np.array([3, 4]), np.array([30.0, 40.0]))
    stacks = ("main\x1fapp\x1eread\x1f[kernel]\x1e", "main\x1fapp\x1e[unknown]\x1flibc.so.6\x1e")
    counts = SampleCounts(((AT_NS, AT_NS + 9),), (Task(5, 6, "worker", "/a"),), stacks, *rows, event="cpu-clock")
    data = b"".join(part.SerializeToString() for part in parts(counts))
    batches, _ = read(tmp_path, gzip.compress(data))
    assert [(line[0], line[1], line[2], line[5]) for line in recorded.samples(batches)] == [
        ("worker", 5, 6, 3),
        ("worker", 5, 6, 4),
    ]
    assert recorded.stacks(batches) == [
        (("read", "[kernel]"), ("main", "app")),
        (("[unknown]", "libc.so.6"), ("main", "app")),
    ]
    assert batches[0].cgroups == ("/a",)


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("necroscope.sense.importers.profiles.pprof._BYTES", 1 << 20)
    with pytest.raises(BadInput, match="unpacks to more than 1 MiB"):
        read(tmp_path, gzip.compress(profile(sample((1,), (5,))) + bytes(4 << 20)))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_flipped_bytes_crash_nothing(tmp_path: Path, data: st.DataObject) -> None:
    text = bytearray(profile(sample((2, 1), (3,)), sample((3,), (4,), one(1, 9) + one(3, 1 << 63))))
    for _ in range(data.draw(st.integers(1, 6))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    try:
        batches, _ = read(tmp_path, bytes(text))
    except BadInput:
        return
    assert sum(map(len, batches)) > 0


@given(st.binary(max_size=200))
def test_any_bytes_are_fields_or_malformed(data: bytes) -> None:
    found = []
    with contextlib.suppress(Malformed):
        for field, value in fields(data, 0, len(data)):
            found.append((field, value))
    assert len(found) <= len(data)
    assert all(0 <= value[0] <= value[1] <= len(data) for _, value in found if isinstance(value, tuple))


def test_numbers_of_64_bits() -> None:
    assert [signed(one) for one in (0, 5, (1 << 64) - 1, 1 << 63)] == [0, 5, -1, -(1 << 63)]
    assert numbers(number(300) + number(1), (0, 3)) == [300, 1]
    with pytest.raises(Malformed):
        list(fields(b"\x08" + b"\xff" * 20, 0, 21))


def test_reading_takes_time_in_proportion(tmp_path: Path) -> None:
    """Ten times as many samples of one stack: about ten times as long, never a hundred."""
    spent = []
    for count in (2_000, 20_000):
        data = profile(*[sample((2, 1), (3,))] * count)
        began = time.process_time()
        read(tmp_path, data)
        spent.append(time.process_time() - began)
    assert spent[1] < 40 * spent[0]
