"""The supervisor of the exec loop."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

from necroscope.lab.scenarios.exec_loop import supervisor


def test_it_counts_what_it_started_without_a_rest(tmp_path: Path) -> None:
    program, rest, count = tmp_path / "program", tmp_path / "rest", tmp_path / "count"
    shutil.copy(shutil.which("false") or "/bin/false", program)
    script = tmp_path / "script"
    script.write_text(supervisor(program, rest, count, 0.05))
    process = subprocess.Popen(["sh", str(script)])
    try:
        time.sleep(0.5)
        assert not count.exists()
        rest.touch()
        ends = time.monotonic() + 10
        while not count.exists() and time.monotonic() < ends:
            time.sleep(0.05)
        counted = count.read_text()
        time.sleep(0.3)
        assert count.read_text() == counted
    finally:
        process.kill()
        process.wait()
    assert int(counted) > 5
