"""Real crash loops that leak one zombie a run, through the program: named, with restarts and zombies that agree."""

from __future__ import annotations

from typing import Any

import pytest

from stage.podman import LEAKY, container_engine
from stage.processes import wait_for
from stage.program import Program
from stage.systemd import booted_systemd, leaky_unit

pytestmark = [pytest.mark.root, pytest.mark.bpf]

RUNS = 14


def _findings(document: dict[str, Any], kind: str, name: str) -> dict[str, dict[str, Any]]:
    subject = {"kind": kind, "name": name}
    return {finding["id"]: finding for finding in document["findings"] if finding["subject"] == subject}


def _value(finding: dict[str, Any], words: str) -> tuple[str, int]:
    return next((line["text"], line["value"]) for line in finding["evidence"] if words in line["text"])


@pytest.mark.systemd
def test_a_unit_that_leaks_is_named_with_restarts_and_zombies(necroscope: Program) -> None:
    with booted_systemd() as stage:
        stage.add_unit("counted.service", leaky_unit(stay_after=RUNS))
        wait_for(lambda: stage.show("counted.service", "SubState") == "running", "a unit that stays up", patience_s=20)
        wait_for(lambda: int(stage.show("counted.service", "NRestarts")) == RUNS, "its restarts")
        document = necroscope("scan", "--json", env={"NECROSCOPE_SYSTEM_BUS": str(stage.bus)}).document
        found = _findings(document, "unit", "counted.service")
        assert set(found) == {"crash-loop", "zombie-memcg"}
        leak, loop = found["zombie-memcg"], found["crash-loop"]
        assert _value(leak, "against") == (f"{RUNS} restarts against {RUNS} zombies: one per restart", RUNS)
        assert _value(loop, "restarts since")[1] == RUNS
        texts = "\n".join(line["text"] for line in loop["evidence"])
        assert "exit-code, status 1" in texts
        assert "wanted by multi-user.target" in texts
        assert "log: state file is corrupt, giving up" in texts
        assert "the journal has no success of it" in texts
        (family,) = [f for f in document["cgroups"]["memory"]["families"] if f["pattern"].endswith("/counted.service")]
        assert {"path": f"{stage.cgroup}/system.slice/counted.service", "zombies": RUNS} in family["repeated"]
        assert "tmpfs" in {pin["kind"] for pin in family["pins"]}
        assert any("leak-counted-" in file for pin in family["pins"] for file in pin["files"])


@pytest.mark.containers
def test_a_container_that_leaks_is_named_with_restarts_and_zombies(necroscope: Program) -> None:
    script = f"[ $(busybox ls /state | busybox wc -l) -lt {RUNS} ] || exec busybox sleep 1000; {LEAKY}"
    with container_engine() as engine:
        engine.run("leaky", script)
        wait_for(lambda: int(engine.inspect("leaky", "{{.RestartCount}}")) == RUNS, "a crash loop", patience_s=30)
        document = necroscope("scan", "--json", env={"NECROSCOPE_CONTAINER_SOCKET": str(engine.socket)}).document
        found = _findings(document, "container", "leaky")
        assert set(found) == {"crash-loop", "zombie-memcg"}
        assert _value(found["zombie-memcg"], "against") == (
            f"{RUNS} restarts against {RUNS} zombies: one per restart",
            RUNS,
        )
        assert _value(found["crash-loop"], "restart count") == (f"restart count {RUNS}", RUNS)
