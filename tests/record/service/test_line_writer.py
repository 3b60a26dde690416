"""Lines to somebody who does not read them."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from necroscope.record.service.line_writer import LineWriter, to_journal


def test_lines_arrive_in_order() -> None:
    read, write = os.pipe()
    writer = LineWriter(write)
    for number in range(50):
        writer.write(f"line {number}")
    writer.close()
    os.close(write)
    with os.fdopen(read) as lines:
        assert lines.read().splitlines() == [f"line {number}" for number in range(50)]


def test_nobody_waits_for_a_reader_that_does_not_read_and_what_is_lost_is_told() -> None:
    read, write = os.pipe()
    writer = LineWriter(write)
    began_s = time.monotonic()
    for _ in range(5_000):
        writer.write("x" * 100)
    assert time.monotonic() - began_s < 2.0
    found: list[bytes] = []
    with os.fdopen(read, "rb") as stream:
        reader = threading.Thread(target=lambda: found.append(stream.read()))
        reader.start()
        writer.close()
        os.close(write)
        reader.join(5)
    assert b"lines of this log were dropped: nobody took them" in found[0]


def test_the_journal_is_recognised(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as file:
        own = os.fstat(file.fileno())
        assert to_journal({"JOURNAL_STREAM": f"{own.st_dev}:{own.st_ino}"}, file.fileno())
        assert not to_journal({"JOURNAL_STREAM": f"{own.st_dev}:{own.st_ino + 1}"}, file.fileno())
        assert not to_journal({}, file.fileno())
