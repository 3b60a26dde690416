"""Under `nohup`, in the background, without a terminal: Ctrl-C and hangups are ignored from the beginning."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from stage.program import Program

pytestmark = [pytest.mark.root, pytest.mark.skipif(not shutil.which("perf"), reason="needs perf (Debian: linux-perf)")]

IGNORING = ("setsid", "sh", "-c", 'trap "" INT HUP; exec "$@" </dev/null', "sh")


def test_the_recorder_takes_samples_ends_perf_and_ends_itself(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("record", "--for", "3s", "--store", tmp_path / "store", before=IGNORING)
    assert ran.code == 0, ran.err
    asked = necroscope("sql", "select count(*) as n from samples", "--store", tmp_path / "store", "--json")
    assert json.loads(asked.out)[0]["n"] > 0
    stopped = necroscope(
        "sql", "select kind from events where kind = 'recorder-stopped'", "--store", tmp_path / "store"
    )
    assert "recorder-stopped" in stopped.out


def test_the_shipped_incident_is_explained(necroscope: Program) -> None:
    ran = necroscope("demo", "--shipped", before=IGNORING)
    assert ran.code == 0, ran.err
    assert "ROOT CAUSE FOUND" in ran.out
