"""Reading while others merge and remove."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from necroscope.errors import BadInput
from necroscope.query.sealed import again, damage, damaged, opened
from necroscope.store.read.catalog import all_segments
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from stage.recorded import START_NS


def test_a_look_is_repeated_when_a_file_is_gone() -> None:
    tries: list[int] = []

    def look() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise FileNotFoundError("merged away")
        return "found"

    assert again(look) == "found"
    assert len(tries) == 3


def test_it_is_not_repeated_forever() -> None:
    def look() -> str:
        raise FileNotFoundError("merged away")

    with pytest.raises(BadInput, match="changes faster"):
        again(look)


def test_a_flipped_byte_is_told_as_damage(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.add_events([Event(START_NS + number, "nic-reset", "kmsg", "eth0", f"line {number}") for number in range(99)])
    writer.close()
    (segment,) = all_segments(tmp_path)
    path = segment.file("events")
    with pq.ParquetFile(path) as file:
        column = file.metadata.row_group(0).column(file.schema_arrow.get_field_index("id"))
        place = column.data_page_offset + column.total_compressed_size - 1
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    notes: list[str] = []
    with damage(path, notes):
        file = opened(segment, "events")
        assert file is not None
        with file:
            file.read()
    assert notes == [f"{path} is damaged and left out"]


def test_notes_of_damage_by_table() -> None:
    notes = ["/s/cores.parquet is damaged and left out", "/s/samples.parquet is damaged and left out", "other"]
    assert damaged(notes) == notes[:2]
    assert damaged(notes, "samples", "stacks") == notes[1:2]
