"""The worker of the page-fault storm."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from necroscope.lab.scenarios.page_fault_storm import touch


def _faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def test_each_page_is_a_fault_each_time() -> None:
    for _ in range(2):
        before = _faults()
        assert touch(-1, 4) == 1024
        assert _faults() - before >= 1024


def test_pages_of_a_file_are_copied_and_the_file_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(b"x" * (1 << 20))
    fd = os.open(file, os.O_RDWR)
    before = _faults()
    assert touch(fd, 1) == 256
    os.close(fd)
    assert _faults() - before >= 256
    assert file.read_bytes() == b"x" * (1 << 20)
