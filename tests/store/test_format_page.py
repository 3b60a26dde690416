"""docs/store-format.md, followed literally by a stranger who has DuckDB and PyArrow and not necroscope."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from necroscope.clock import NS
from necroscope.sense.cpu.times import Cpu
from necroscope.store.read.catalog import journals
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from stage.recorded import LOOP, START_NS, look, second, stack

PAGE = (Path(__file__).parents[2] / "docs" / "store-format.md").read_text("utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
(SQL,) = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store named STORE: two segments."""
    place = tmp_path_factory.mktemp("stranger")
    writer = Writer(place / "STORE", flush_s=1e9, signals=Cpu.signals)
    for number in range(10):
        shift = 0 if number < 5 else 3600
        writer.add_samples(second(number + shift))
        writer.add_signals(START_NS + (number + shift) * NS, look(number), "cpu")
        if number == 4:
            writer.seal()
    writer.close()
    assert len(list((place / "STORE" / "segments").iterdir())) == 2
    return place


def follow(code: str, folder: Path, then: str = "") -> str:
    """Run a recipe in a process that cannot import necroscope."""
    block = "import sys; sys.modules['necroscope'] = None\n"
    command = [sys.executable, "-W", "error", "-c", block + code + then]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_hottest_stacks(folder: Path) -> None:
    lines = sorted(follow(PYTHON[0], folder).splitlines())
    assert lines == [
        "60 do_syscall_64;memory_stat_show;mem_cgroup_iter",
        "70 main;read;do_syscall_64;vfs_read",
        "70 main;spin",
    ]


def test_samples_of_a_window(folder: Path) -> None:
    then = "print(table.num_rows, len(chosen), min(table['at_ns'].to_pylist()), table['thread'].to_pylist()[:3])"
    assert follow(PYTHON[1], folder, then) == f"100 1 {START_NS} [0, 2, 1]\n"


def test_values_of_a_signal(folder: Path) -> None:
    rows = duckdb.sql(SQL.replace("STORE", str(folder / "STORE"))).fetchall()
    expected = sorted(
        (
            '{{"cpu":"{}","mode":"{}"}}'.format(*sample.labels),
            START_NS + (number + (0 if number < 5 else 3600)) * NS,
            sample.value,
        )
        for number in range(10)
        for sample in look(number)
        if sample.signal == "cpu_time_seconds"
    )
    assert [(labels, at_ns, value) for at_ns, labels, value in rows] == expected


def test_the_id_of_a_stack(folder: Path) -> None:
    assert follow(PYTHON[2], folder, "print(stack_id)") == f"{stack(LOOP).stack_id}\n"


def test_every_recipe_is_followed() -> None:
    assert len(PYTHON) == 3


def test_the_journal_as_drawn(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9)
    writer.add_events([Event(START_NS, "mark", "mark", "x", "first")])
    writer.flush()
    writer.add_events([Event(START_NS + 1, "mark", "mark", "x", "second")])
    writer.flush()
    data = next(iter(journals(tmp_path).values())).read_bytes()
    assert [row["text"] for row in read_events(data)] == ["first", "second"]
    writer.close()


def read_events(data: bytes) -> list[dict[str, Any]]:
    """Written from the drawing alone."""
    assert data[:8] == b"necroj1\n"
    (number,) = struct.unpack_from("<Q", data, 8)
    offset, index, rows = 16, 0, []
    kinds = {"unsigned 64-bit": pa.uint64(), "64-bit": pa.int64(), "text": pa.string()}
    kinds |= {"32-bit": pa.int32(), "double": pa.float64()}
    section = PAGE.partition("### `events.parquet`")[2].partition("###")[0]
    columns = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.MULTILINE)
    schema = pa.schema([(name, kinds[kind.removesuffix(", may be null")]) for name, kind in columns])
    while offset < len(data):
        length, checksum = struct.unpack_from("<II", data, offset)
        payload = data[offset + 8 : offset + 8 + length]
        assert checksum == zlib.crc32(struct.pack("<QQI", number, index, length) + payload)
        (size,) = struct.unpack_from("<I", payload)
        sections = pa.decompress(payload[4:], size, "zstd", asbytes=True)
        name = sections[1 : 1 + sections[0]].decode()
        (batch,) = struct.unpack_from("<I", sections, 1 + len(name))
        body = sections[5 + len(name) : 5 + len(name) + batch]
        assert name == "events"
        rows += pa.ipc.read_record_batch(pa.py_buffer(body), schema).to_pylist()
        offset, index = offset + 8 + length, index + 1
    return rows
