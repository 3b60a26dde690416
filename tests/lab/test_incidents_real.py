"""An incident whose walker is innocent, and a healthy control, made for real, recorded and judged.

The seeds' incident itself is made by tests/cli/test_demo.py. Another load on the machine may keep a control from being
calm, or an incident from showing: that is told, and is no defect of the answer.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from necroscope.lab.catalogue import find
from necroscope.lab.runner import missing
from stage.program import Program

pytestmark = [pytest.mark.root, pytest.mark.bpf, pytest.mark.timeout(400)]


@pytest.mark.parametrize("name", ["moved-memory-leak", "healthy-idle"])
def test_the_answer_is_not_wrong(necroscope: Program, tmp_path: Path, name: str) -> None:
    if lacking := missing(find(name)):
        pytest.skip(f"needs {'; '.join(lacking)}")
    arguments = ("--only", name, "--seeds", "1", "--for", "25s", "--store", tmp_path, "--disposable-machine")
    ran = necroscope("lab", "score", *arguments, "--json", "-q", timeout_s=380)
    (run,) = json.loads(ran.out)["runs"]
    truth = json.loads((tmp_path / f"{name}-1" / "truth.json").read_text())
    assert truth["symptom"]["kind"] in ("nic-reset", "nic-tx-timeout", "netdev-watchdog")
    assert (tmp_path / f"{name}-1" / "store" / "format.json").exists()
    if not run["happened"]:
        pytest.skip(f"it did not show here: {truth['happened']['shown']}")
    assert run["mark"] in ("right", "abstained"), run["because"]
    if name == "healthy-idle":
        assert run["mark"] == "right"
        assert ran.code == 0
