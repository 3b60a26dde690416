"""A minute of the soak (five in CI, by $NECROSCOPE_SOAK_S; three hours by `make soak`): nothing grows.

It takes its time on purpose: what leaks shows with time alone. It costs the rest of the suite nothing but that.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bench.soak import Seen, judged

SECONDS = float(os.environ.get("NECROSCOPE_SOAK_S", "60"))


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 120)
@pytest.mark.skipif(not shutil.which("perf"), reason="needs perf (Debian: linux-perf)")
def test_nothing_grows_under_changing_load(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench.soak", "--seconds", str(SECONDS), "--every", "5"]
    ran = subprocess.run([*command, "--log", str(tmp_path / "log")], capture_output=True, text=True)
    found = json.loads(ran.stdout)
    assert (ran.returncode, found["broken"]) == (0, []), ran.stdout + ran.stderr
    assert found["scrapes"] >= SECONDS / 10
    assert found["rss_mb"][1] < 1.15 * found["rss_mb"][0]


def _looks(rss_per_hour: float = 0.0, descriptors_per_hour: float = 0.0) -> list[Seen]:
    return [
        Seen(
            60.0 * n, "", int(1e8 * (1 + rss_per_hour * n / 60)), 0, int(40 + descriptors_per_hour * n / 60), 9, n, 5, 9
        )
        for n in range(1, 181)
    ]


def test_the_judge_of_three_hours() -> None:
    assert judged(_looks(0.005), [0.01] * 100)["broken"] == []
    assert judged(_looks(0.02), [0.01] * 100)["broken"]
    assert judged(_looks(0.0, 5.0), [0.01] * 100)["broken"]
    assert judged(_looks(), [0.01] * 90 + [0.2] * 10)["broken"] == ["a scrape takes 200 ms at p99"]
