"""An incident whose walker is innocent, and a healthy control, made for real, recorded and judged; nothing is left.

The seeds' incident itself is made by tests/cli/lab/test_demo.py. Other work on the machine may keep a control from
being calm, or an incident from showing: then another seed is played, three at the most. A wrong answer is never
forgiven.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from necroscope.lab.catalogue import find
from necroscope.lab.runner import missing
from stage.machine import picture
from stage.program import Program

pytestmark = [pytest.mark.root, pytest.mark.bpf, pytest.mark.timeout(720)]

SEEDS = (1, 2, 3)


@pytest.mark.parametrize("name", ["moved-memory-leak", "healthy-idle"])
def test_the_answer_is_right(necroscope: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    if lacking := missing(find(name)):
        pytest.skip(f"needs {'; '.join(lacking)}")
    token = f"necroscope-token-{os.getpid()}-{time.monotonic_ns()}"
    monkeypatch.setenv("NECROSCOPE_TEST_TOKEN", token)
    before, runs = picture(token), []
    for seed in SEEDS:
        runs.append(_played(necroscope, name, seed, tmp_path))
        assert picture(token) == before
        assert runs[-1]["mark"] != "wrong", runs
        assert runs[-1]["at_once"] != "wrong", runs
        if runs[-1]["happened"] and runs[-1]["mark"] == "right":
            break
    assert (runs[-1]["happened"], runs[-1]["mark"]) == (True, "right"), runs
    assert runs[-1]["answered_s"] < 30


def _played(necroscope: Program, name: str, seed: int, folder: Path) -> dict[str, Any]:
    arguments = ("--only", name, "--seeds", seed, "--for", "25s", "--store", folder, "--disposable-machine")
    ran = necroscope("lab", "score", *arguments, "--json", "-q", timeout_s=230)
    document = json.loads(ran.out)
    (run,) = document["runs"]
    good = run["happened"] and run["mark"] in ("right", "abstained") and run["at_once"] != "wrong"
    assert ran.code == (0 if good else 1)
    assert document["left_out"] == []
    truth = json.loads((folder / f"{name}-{seed}" / "truth.json").read_text())
    assert truth["symptom"]["kind"] in ("nic-reset", "nic-tx-timeout", "netdev-watchdog")
    assert (folder / f"{name}-{seed}" / "store" / "format.json").exists()
    return dict(run)
