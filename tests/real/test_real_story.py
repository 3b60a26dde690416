"""From a symptom to its end in a real container engine: `why` names the container, `fix` stops it, undo starts it.

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
        seen["why"] = _told("why", env)
        seen["plan"] = Program()("fix", env=env)
        seen["applied"] = _told("fix", env, "--apply", "--yes")
        time.sleep(1.0)
        seen["growth"] = [_left(env), time.sleep(4.0), _left(env)]
        seen["marks"] = _told("events", env, "--kind", "fix")["events"]
        seen["undone"] = Program()("fix", "--undo", seen["applied"]["id"], env=env)
        seen["history"] = _told("fix", env, "--history")["plans"]

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


def _told(verb: str, env: dict[str, str], *arguments: str) -> dict[str, Any]:
    ran = Program()(verb, *arguments, "--json", env=env)
    assert ran.out, (verb, arguments, ran.err)
    return ran.document


def _left(env: dict[str, str]) -> int:
    """Restarts that the engine has counted, by a scan."""
    found = _told("scan", env)["findings"]
    values = [line["value"] for one in found if one["id"] == "crash-loop" for line in one["evidence"][:1]]
    return int(values[0]) if values else 0
