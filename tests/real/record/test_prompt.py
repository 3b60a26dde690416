"""From event to readable by another process within two seconds; and `record` never loads the query engine."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from necroscope.lab.actors.zombies import ZombieFarm, own_name
from stage.program import Program
from stage.recorders import ask, load, recorder, stop, wait_for_samples

pytestmark = [pytest.mark.root, pytest.mark.skipif(not shutil.which("perf"), reason="needs perf (Debian: linux-perf)")]

# Two seconds are the bar, which bench/starved.py measures; a test shares its machine with others.
LIMIT_S = 4.0
PROBE = """
import sys
from necroscope.cli.main import run
sys.argv = ["necroscope", "record", "-q", "--for", "4s", "--store", sys.argv[1]]
try:
    run()
finally:
    heavy = ("duckdb", "pyarrow", "necroscope.query.sql.engine")
    sys.stdout.write(",".join(name for name in heavy if name in sys.modules))
"""


def test_a_recorder_never_imports_the_engine(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROBE, tmp_path], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "pyarrow", "")
    assert ask(tmp_path, "select count(*) n from samples")[0]["n"] > 0


def _seen_after_s(store: Path, query: str) -> float:
    began_s = time.monotonic()
    while not ask(store, query)[0]["n"]:
        assert time.monotonic() - began_s < 3 * LIMIT_S
    return time.monotonic() - began_s


def test_what_happens_is_readable_soon(tmp_path: Path, necroscope: Program) -> None:
    with load(), recorder(tmp_path) as process, ZombieFarm(own_name("prompt")) as farm:
        wait_for_samples(tmp_path)

        def mark() -> str:
            assert necroscope("mark", "now", "--store", tmp_path).code == 0
            return "select count(*) n from events where kind = 'mark'"

        def cgroup() -> str:
            farm.make_directories(1, "prompt", "job-<n>")
            return (
                f"select count(*) n from events where kind = 'cgroup-mkdir' and subject like '{farm.path}/prompt/job-%'"
            )

        def sample() -> str:
            return f"select count(*) n from samples where at_ns >= {time.time_ns()}"

        happenings: list[Callable[[], str]] = [mark, cgroup, sample]
        for happen in happenings:
            assert _seen_after_s(tmp_path, happen()) < LIMIT_S, happen.__name__
        stop(process)
