"""`fix` on a real systemd and a real container engine: growth stops, and undoing brings back every byte."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stage.podman import LEAKY, container_engine
from stage.processes import wait_for
from stage.program import Program, Ran
from stage.systemd import SystemdStage, booted_systemd, leaky_unit

pytestmark = [pytest.mark.root, pytest.mark.bpf]

LEAKING, INNOCENT = "leaking.service", "walking.service"
WALKER = """[Unit]
Description=Reads statistics of all cgroups, and harms nobody
[Service]
ExecStart=/bin/sh -c 'while sleep 0.2; do cat /sys/fs/cgroup/memory/memory.stat /sys/fs/cgroup/memory.stat; done'
StandardOutput=null
StandardError=null
[Install]
WantedBy=multi-user.target
"""


def unit_state(stage: SystemdStage) -> dict[str, str]:
    """Every file and link below /etc/systemd/system and /run/systemd/system, with bytes, mode and owner."""
    found = {}
    for top in ("etc/systemd/system", "run/systemd/system"):
        for folder, names, files in os.walk(stage.root / top):
            for name in (*names, *files):
                path = Path(folder) / name
                status = path.lstat()
                content = str(path.readlink()) if path.is_symlink() else ""
                if path.is_file() and not path.is_symlink():
                    content = hashlib.sha256(path.read_bytes()).hexdigest()
                found[str(path.relative_to(stage.root))] = (
                    f"{status.st_mode:o} {status.st_uid} {status.st_gid} {content}"
                )
    return found


class Fixing:
    """The program against one systemd, with a state folder of its own."""

    def __init__(self, stage: SystemdStage, state: Path) -> None:
        self._env = {"NECROSCOPE_SYSTEM_BUS": str(stage.bus), "NECROSCOPE_FIX_STATE": str(state)}

    def __call__(self, *arguments: object) -> Ran:
        return Program()("fix", *arguments, env=self._env)

    def applied(self, *arguments: object) -> dict[str, object]:
        ran = self(*arguments, "--apply", "--yes", "--json")
        assert ran.code == 0, (ran.out, ran.err)
        assert ran.document["ending"] == "applied"
        return ran.document

    def undone(self, name: object) -> None:
        ran = self("--undo", name, "--json")
        assert (ran.code, ran.document["ending"]) == (0, "undone"), (ran.out, ran.err)


@pytest.fixture(scope="module")
def stage() -> Iterator[SystemdStage]:
    with booted_systemd() as stage:
        stage.add_unit(LEAKING, leaky_unit())
        stage.add_unit(INNOCENT, WALKER)
        wait_for(lambda: leaks(stage) >= 3, "a crash loop", patience_s=20)
        yield stage
        stage.run("sh", "-c", "systemctl stop 'leaking*' walking.service; rm -f /dev/shm/leak-*", check=False)


@pytest.fixture
def fixing(stage: SystemdStage, tmp_path: Path) -> Fixing:
    return Fixing(stage, tmp_path / "state")


def leaks(stage: SystemdStage) -> int:
    """Zombies are made one per file: what was left behind so far."""
    return len(list((stage.root / "dev/shm").glob("leak-*")))


def grows(stage: SystemdStage, seconds: float = 1.5) -> bool:
    before = leaks(stage)
    time.sleep(seconds)
    return leaks(stage) > before


@pytest.mark.systemd
@pytest.mark.parametrize("action", ["disable-unit", "neutralise-unit", "stop-unit"])
def test_growth_stops_and_undo_restores_every_byte(stage: SystemdStage, fixing: Fixing, action: str) -> None:
    before = unit_state(stage)
    assert grows(stage)
    plan = fixing(action, LEAKING)
    assert plan.code == 0, plan.err
    assert unit_state(stage) == before
    assert grows(stage), "a dry run changes nothing"
    name = fixing.applied(action, LEAKING)["id"]
    assert not grows(stage)
    assert stage.show(LEAKING, "ActiveState") in ("inactive", "failed")
    assert stage.show(INNOCENT, "ActiveState") == "active"
    if action == "disable-unit":
        assert stage.show(LEAKING, "UnitFileState") == "disabled"
    if action == "neutralise-unit":
        stage.start_unit(LEAKING)
        assert not grows(stage), "whoever starts it starts /bin/true"
    fixing.undone(name)
    assert unit_state(stage) == before
    assert stage.show(LEAKING, "UnitFileState") == "enabled"
    assert grows(stage, 2.5)


@pytest.mark.systemd
def test_restarts_are_limited_and_the_unit_runs_on_after_undo(stage: SystemdStage, fixing: Fixing) -> None:
    before = unit_state(stage)
    name = fixing.applied("limit-restarts", LEAKING)["id"]
    assert stage.show(LEAKING, "StartLimitBurst") == "5"
    stage.run("systemctl", "kill", "--signal=KILL", LEAKING, check=False)
    for _ in range(6):
        stage.run("systemctl", "restart", LEAKING, check=False)
    wait_for(lambda: stage.show(LEAKING, "ActiveState") == "failed", "the limit", patience_s=20)
    assert not grows(stage)
    fixing.undone(name)
    assert unit_state(stage) == before
    assert grows(stage, 2.5)


@pytest.mark.systemd
def test_what_cannot_be_masked_is_refused_and_what_can_is_masked(stage: SystemdStage, fixing: Fixing) -> None:
    refused = fixing("mask-unit", LEAKING)
    assert refused.code == 3
    assert "neutralise-unit leaking.service" in refused.err
    shipped = stage.root / "usr/local/lib/systemd/system"
    if os.access(shipped.parent, os.W_OK):
        before = unit_state(stage)
        name = fixing.applied(
            "mask-unit", "man-db.timer" if stage.show("man-db.timer", "LoadState") == "loaded" else "fstrim.timer"
        )["id"]
        assert unit_state(stage) != before
        fixing.undone(name)
        assert unit_state(stage) == before


@pytest.mark.systemd
def test_a_unit_that_hears_nobody_is_killed_in_its_own_time_and_that_is_told(
    stage: SystemdStage, fixing: Fixing
) -> None:
    script = 'trap "" TERM; while :; do sleep 1; done'
    text = f"[Service]\nExecStart=/bin/sh -c '{script}'\nTimeoutStopSec=1s\n"
    stage.add_unit("deaf.service", text, enable=False)
    wait_for(lambda: stage.show("deaf.service", "SubState") == "running", "a deaf unit")
    time.sleep(0.3)
    document = fixing.applied("stop-unit", "deaf.service")
    assert "SIGKILL" in str(document["steps"])


@pytest.mark.systemd
@pytest.mark.parametrize("name", ["dbus.service", "systemd-journald.service", "basic.target", "dbus.socket", "-.mount"])
def test_the_system_is_protected(stage: SystemdStage, fixing: Fixing, name: str) -> None:
    for action in ("stop-unit", "mask-unit"):
        ran = fixing(action, "--", name) if name.startswith("-") else fixing(action, name)
        assert ran.code == 3, ran.out
        assert "protected" in ran.err


@pytest.mark.systemd
def test_a_unit_that_something_protected_requires_is_protected(stage: SystemdStage, fixing: Fixing) -> None:
    stage.add_unit("needed.service", "[Service]\nExecStart=/bin/sleep 1000\n", enable=False)
    stage.add_unit(
        "sshd.service", "[Unit]\nRequires=needed.service\n[Service]\nExecStart=/bin/sleep 1000\n", enable=False
    )
    wait_for(lambda: stage.show("needed.service", "SubState") == "running", "a unit that is needed")
    ran = fixing("stop-unit", "needed.service")
    assert ran.code == 3
    assert "would stop sshd.service" in ran.err


@pytest.mark.systemd
def test_a_unit_file_that_somebody_changed_stops_the_plan_and_the_undo(stage: SystemdStage, fixing: Fixing) -> None:
    stage.add_unit("changing.service", "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n")
    wait_for(lambda: stage.show("changing.service", "SubState") == "running", "a unit")
    shown = fixing("neutralise-unit", "changing.service", "--json").document["id"]
    file = stage.root / "etc/systemd/system/changing.service"
    file.write_text(file.read_text().replace("1000", "2000"))
    ran = fixing(shown, "--apply", "--yes")
    assert ran.code == 3
    assert "were changed since" in ran.err
    assert stage.show("changing.service", "ActiveState") == "active"
    document = fixing.applied("neutralise-unit", "changing.service")
    ours = stage.root / str(document["steps"][1]["target"]).lstrip("/")  # type: ignore[index]
    ours.write_text(ours.read_text() + "# somebody was here\n")
    ran = fixing("--undo", document["id"])
    assert ran.code == 3
    assert "changed since" in ran.err
    assert "somebody was here" in ours.read_text()


@pytest.mark.containers
def test_a_container_is_stopped_for_good_and_started_again(tmp_path: Path) -> None:
    with container_engine() as engine:
        engine.run("leaky", LEAKY)
        engine.run("innocent", "exec busybox sleep 1000")
        left = engine.state
        wait_for(lambda: len(list(left.iterdir())) >= 3, "a crash loop", patience_s=30)
        env = {"NECROSCOPE_CONTAINER_SOCKET": engine.socket, "NECROSCOPE_FIX_STATE": str(tmp_path / "state")}
        before = engine.inspect("leaky", "{{json .HostConfig.RestartPolicy}} {{.Id}} {{json .Config}}")
        ran = Program()("fix", "stop-container", "leaky", "--apply", "--yes", "--json", env=env)
        assert (ran.code, ran.document["ending"]) == (0, "applied"), (ran.out, ran.err)
        count = len(list(left.iterdir()))
        time.sleep(3)
        assert len(list(left.iterdir())) == count
        assert engine.inspect("innocent", "{{.State.Running}}") == "true"
        undone = Program()("fix", "--undo", ran.document["id"], env=env)
        assert undone.code == 0, undone.err
        assert engine.inspect("leaky", "{{json .HostConfig.RestartPolicy}} {{.Id}} {{json .Config}}") == before
        wait_for(lambda: len(list(left.iterdir())) > count, "the crash loop again", patience_s=20)
