"""`doctor`: what it says of a node that can be recorded, and of one that is blind."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from necroscope.show.doctor.checkup import Check, Checkup
from stage.program import Program

pytestmark = pytest.mark.skipif(not shutil.which("perf"), reason="needs perf (Debian: linux-perf)")


def test_the_worst_decides() -> None:
    fine, note, blind, wrong = (Check("a", grade, "") for grade in ("fine", "note", "blind", "wrong"))
    assert [Checkup(checks).exit_code for checks in ((fine, note), (fine, blind), (blind, wrong))] == [0, 3, 1]


@pytest.mark.root
def test_a_node_that_can_be_recorded(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("doctor", "--store", tmp_path / "store", "--json")
    found = json.loads(ran.out)
    assert ran.code == 0, ran.out
    grades = {one["name"]: one["grade"] for one in found["checks"]}
    assert {grades[name] for name in ("samples", "kmsg", "cpu", "memcg", "store")} == {"fine"}
    assert 0 < found["cpu_share"] < 0.5
    assert 50_000_000 < found["memory_bytes"] < 500_000_000
    assert found["bytes_per_s"] > 100
    assert 1 < found["hours"] <= 168
    assert not (tmp_path / "store").exists(), "it changes nothing"


@pytest.mark.root
def test_without_perf_it_is_blind_and_says_how_not_to_be(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("doctor", "--store", tmp_path, env={"NECROSCOPE_PATH": "/nowhere"}, columns=80)
    assert ran.code == 3
    assert ran.out.startswith("This node cannot be recorded in full.\n")
    assert "? samples: no samples are taken: perf is not installed" in ran.out
    assert "CAP_PERFMON" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.root
def test_a_store_without_room_is_wrong(necroscope: Program, tmp_path: Path) -> None:
    file = tmp_path / "necroscope.toml"
    file.write_text("[store]\nmin_free_bytes = '900TiB'\n[record]\nperf = false\n")
    ran = necroscope("doctor", "--store", tmp_path / "store", "--config", file)
    assert ran.code == 1
    assert "less than is to stay free" in ran.out
    assert [path.name for path in tmp_path.iterdir()] == ["necroscope.toml"]
