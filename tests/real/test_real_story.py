"""From a symptom to the end of it in a real container engine: `why` names the container, `fix` stops it, undo starts it.

It takes a minute: the incident is made, recorded and explained for real. The same with systemd is what `demo` tells
(tests/cli/lab/test_demo.py).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from necroscope.lab.catalogue import find
from necroscope.lab.runner import missing, run
from necroscope.lab.stage import Stage
from stage.program import Program

pytestmark = [pytest.mark.root, pytest.mark.bpf, pytest.mark.containers, pytest.mark.timeout(400)]


def test_a_container_that_leaks_is_explained_stopped_and_started_again(tmp_path: Path) -> None:
    scenario = find("container-leak")
    if lacking := missing(scenario):
        pytest.skip(f"needs {'; '.join(lacking)}")
    seen: dict[str, Any] = {}

    def story(stage: Stage) -> None:
        own = {"NECROSCOPE_STORE": str(stage.store), "NECROSCOPE_FIX_STATE": str(tmp_path / "state")}
        env = {**stage.environment, **own}
        seen["why"] = Program()("why", "--json", env=env).document
        seen["plan"] = Program()("fix", env=env)
        seen["applied"] = Program()("fix", "--apply", "--yes", "--json", env=env).document
        time.sleep(1.0)
        seen["growth"] = [_left(env), time.sleep(4.0), _left(env)]
        seen["marks"] = Program()("events", "--kind", "fix", "--json", env=env).document["events"]
        seen["undone"] = Program()("fix", "--undo", seen["applied"]["id"], env=env)
        seen["history"] = Program()("fix", "--history", "--json", env=env).document["plans"]

    truth = run(scenario, 1, tmp_path / "run", 20.0, followed_by=story).truth
    subject = truth["subject"]
    assert seen["why"]["cause"]["subject"] == subject
    assert seen["why"]["remedies"][0]["command"] == f"necroscope fix stop-container -- {subject['name']}"
    assert seen["plan"].code == 0, seen["plan"].err
    assert f"PLAN  stop-container {subject['name']}" in seen["plan"].out
    assert (seen["applied"]["ending"], seen["applied"]["subject"]) == ("applied", subject)
    assert seen["growth"][0] == seen["growth"][2]
    assert f"applied: stop-container {subject['name']}" in seen["marks"][-1]["text"]
    assert seen["undone"].code == 0, seen["undone"].err
    assert [one["ending"] for one in seen["history"]] == ["undone"]


def _left(env: dict[str, str]) -> int:
    """Restarts that the engine has counted, by a scan."""
    found = Program()("scan", "--json", env=env).document["findings"]
    values = [line["value"] for one in found if one["id"] == "crash-loop" for line in one["evidence"][:1]]
    return int(values[0]) if values else 0
