"""`fix` on a real dockerd, which can change the restart policy of a container that exists; skipped where there is none.

(The container engine of the lab is podman, which cannot: tests/real/test_real_fix.py.)
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from necroscope.lab.cleaning import hierarchies, remove_cgroups
from necroscope.lab.environment.podman import write_image
from stage.processes import wait_for
from stage.program import Program

pytestmark = [
    pytest.mark.root,
    pytest.mark.containers,
    pytest.mark.skipif(not shutil.which("dockerd"), reason="needs dockerd (Debian: docker.io)"),
]


class Docker:
    """A dockerd of the test's own, without network."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.socket = folder, f"{folder}/docker.sock"
        places = {"data-root": "data", "exec-root": "exec", "pidfile": "pid"}
        command = ["dockerd", f"--host=unix://{self.socket}", "--bridge=none", "--iptables=false", "--ip6tables=false"]
        command += [f"--{name}={folder}/{path}" for name, path in places.items()]
        self.cgroup = f"necroscope-stage-{os.getpid()}-docker"
        command.append(f"--cgroup-parent=/{self.cgroup}")
        self.log = (folder / "log").open("wb")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def __call__(self, *arguments: str) -> str:
        command = ["docker", f"--host=unix://{self.socket}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def answers(self) -> bool:
        ran = subprocess.run(["docker", f"--host=unix://{self.socket}", "version"], capture_output=True, timeout=20)
        return ran.returncode == 0

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        remove_cgroups([mount / self.cgroup for mount in hierarchies() if (mount / self.cgroup).exists()])


@pytest.fixture
def docker(tmp_path: Path) -> Iterator[Docker]:
    docker = Docker(tmp_path)
    try:
        wait_for(lambda: docker.answers() or docker.process.poll() is not None, "dockerd", patience_s=40)
        if docker.process.poll() is not None:
            pytest.skip(f"dockerd does not run here: {(tmp_path / 'log').read_text()[-300:]}")
        yield docker
        for name in docker("ps", "--all", "--quiet").split():
            docker("rm", "--force", name)
    finally:
        docker.close()


def test_a_container_is_stopped_its_policy_taken_away_and_both_come_back(docker: Docker, tmp_path: Path) -> None:
    write_image(tmp_path / "image.tar")
    docker("import", str(tmp_path / "image.tar"), "stage:1")
    policy = ("--restart", "on-failure:50")
    loop = ("/bin/sh", "-c", "busybox sleep 0.3; exit 3")
    docker("run", "--detach", "--name", "looping", "--network", "none", *policy, "stage:1", *loop)
    count = "{{.RestartCount}}"
    wait_for(lambda: int(docker("inspect", "--format", count, "looping")) >= 1, "a restart", patience_s=20)
    before = json.loads(docker("inspect", "--format", "{{json .HostConfig}}", "looping"))
    env = {"NECROSCOPE_CONTAINER_SOCKET": docker.socket, "NECROSCOPE_FIX_STATE": str(tmp_path / "state")}
    ran = Program()("fix", "stop-container", "looping", "--apply", "--yes", "--json", env=env)
    assert (ran.code, ran.document["ending"]) == (0, "applied"), (ran.out, ran.err)
    assert [step["kind"] for step in ran.document["steps"]] == ["restart-policy", "stop-container"]
    stopped = int(docker("inspect", "--format", count, "looping"))
    time.sleep(3)
    assert docker("inspect", "--format", "{{.State.Running}} {{.State.Restarting}}", "looping") == "false false"
    assert int(docker("inspect", "--format", count, "looping")) == stopped
    assert docker("inspect", "--format", "{{.HostConfig.RestartPolicy.Name}}", "looping") == "no"
    undone = Program()("fix", "--undo", ran.document["id"], env=env)
    assert undone.code == 0, undone.err
    assert json.loads(docker("inspect", "--format", "{{json .HostConfig}}", "looping")) == before
    # docker counts anew after a start
    wait_for(lambda: int(docker("inspect", "--format", count, "looping")) >= 1, "a restart", patience_s=20)
