"""Containers behind a Docker-compatible socket, against a scripted engine; `test_crash_loops_real` has a real one."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from necroscope.clock import NS
from necroscope.errors import Unavailable
from necroscope.sense import environment
from necroscope.sense.containers import docker_containers, engines
from necroscope.sense.containers.docker_containers import container_state, count_deaths, with_deaths
from necroscope.sense.containers.engines import Containers
from necroscope.sense.host import Host
from necroscope.sense.replay import encode
from necroscope.vocabulary.model import ContainerState, Reading, Sample, Unseen
from stage.sockets import Answer, http_server, peer

ID = "7f44c052b83019eacc4cdd782ddc37df3a4b5b63984514a9d99442bb732c17ec"
OTHER = "41c7c5b597570b7f6c6bd341ad2ed1fefedb4d65ebfec138b0f79341167b6e1e"
CREATED_S = 1794841810
# The fraction that microseconds leave of 15:10:23.400330826.
STARTED_S = 1794841823.400330
NOW_NS = (CREATED_S + 20) * NS

# Answers of Podman 4.3.1 over the Docker API 1.41, shortened to the fields that are read.
ROW: dict[str, Any] = {
    "Id": ID,
    "Names": ["/leaky"],
    "Image": "localhost/stage:1",
    "Created": CREATED_S,
    "Labels": {},
    "State": "running",
    "Status": "Up Less than a second",
}
DETAIL: dict[str, Any] = {
    "Id": ID,
    "Created": "2026-11-16T15:10:10.296703475Z",
    "State": {
        "Status": "stopped",
        "Running": False,
        "Restarting": False,
        "OOMKilled": False,
        "Pid": 0,
        "ExitCode": 3,
        "StartedAt": "2026-11-16T15:10:23.400330826Z",
        "FinishedAt": "2026-11-16T15:10:23.409624004Z",
    },
    "Name": "/leaky",
    "RestartCount": 109,
    "HostConfig": {"RestartPolicy": {"Name": "always", "MaximumRetryCount": 0}, "CgroupParent": "/necropod"},
}
EVENT: dict[str, Any] = {
    "status": "die",
    "id": ID,
    "from": "localhost/stage:1",
    "Type": "container",
    "Action": "die",
    "Actor": {"ID": ID, "Attributes": {"exitCode": "3", "image": "localhost/stage:1", "name": "leaky"}},
    "time": 1794841810,
    "timeNano": 1794841810419185843,
}


def death(identity: str, name: str = "leaky", status: str = "3") -> dict[str, Any]:
    attributes = {"exitCode": status, "image": "localhost/stage:1", "name": name}
    return {**EVENT, "id": identity, "Actor": {"ID": identity, "Attributes": attributes}}


def engine(rows: object, details: dict[str, object], events: Sequence[object] = ()) -> Any:
    """A script of an engine that knows these containers and remembers these events."""

    def script(path: str, query: dict[str, list[str]]) -> Answer:
        if path == "/containers/json":
            return 200, json.dumps(rows).encode()
        if path == "/events":
            return 200, b"".join(json.dumps(event).encode() + b"\n" for event in events)
        detail = details.get(path.split("/")[2])
        return (200, json.dumps(detail).encode()) if detail else (404, b'{"message": "no such container"}')

    return script


def look(script: Any, server: str = "Docker/24.0.7 (linux)") -> Reading:
    with http_server(script, server) as path:
        return Containers(sockets=[path], cri_sockets=[]).read(Host())


# -- one container -----------------------------------------------------------------------------------------


def test_a_container_that_its_engine_restarts() -> None:
    assert container_state(Host(), "podman", ROW, DETAIL, NOW_NS) == ContainerState(
        engine="podman",
        id=ID,
        name="leaky",
        image="localhost/stage:1",
        state="stopped",
        restarts=109,
        exit_status=3,
        restart_policy="always",
        age_s=20.0,
        since_start_s=NOW_NS / NS - STARTED_S,
    )


def test_what_was_not_inspected_is_unknown() -> None:
    state = container_state(Host(), "docker", ROW, {}, NOW_NS)
    assert (state.name, state.state, state.age_s) == ("leaky", "running", 20.0)
    assert (state.restarts, state.exit_status, state.since_start_s, state.cgroup) == (None, None, None, "")


def test_a_container_that_never_ran_has_no_exit_status() -> None:
    created = {**DETAIL, "State": {**DETAIL["State"], "Status": "created", "StartedAt": "0001-01-01T00:00:00Z"}}
    state = container_state(Host(), "docker", ROW, created, NOW_NS)
    assert (state.since_start_s, state.exit_status) == (None, None)


def test_restarting_and_out_of_memory_are_reported() -> None:
    inner = {**DETAIL["State"], "Restarting": True, "OOMKilled": True, "Status": "running"}
    state = container_state(Host(), "docker", ROW, {**DETAIL, "State": inner}, NOW_NS)
    assert (state.state, state.oom_killed) == ("restarting", True)


def test_the_cgroup_of_a_running_container_is_read_and_not_believed_blindly(tmp_path: Path) -> None:
    (tmp_path / "proc/17").mkdir(parents=True)
    (tmp_path / "proc/17/cgroup").write_text(f"9:name=systemd:/x\n4:memory:/docker/{ID}\n0::/\n")
    running = {**DETAIL, "State": {**DETAIL["State"], "Pid": 17, "Running": True}}
    host = Host(tmp_path)
    assert container_state(host, "docker", ROW, running, NOW_NS).cgroup == f"/docker/{ID}"
    (tmp_path / "proc/17/cgroup").write_text(f"0::/system.slice/docker-{ID}.scope\n")
    assert container_state(host, "docker", ROW, running, NOW_NS).cgroup == f"/system.slice/docker-{ID}.scope"
    (tmp_path / "proc/17/cgroup").write_text("4:memory:/somebody/else\n0::/\n")
    assert container_state(host, "docker", ROW, running, NOW_NS).cgroup == ""


@pytest.mark.parametrize(
    "detail",
    [
        {"State": None, "RestartCount": "many", "HostConfig": [], "Name": 7},
        {"State": {"Pid": -1, "StartedAt": 3, "ExitCode": {}, "Running": 1}, "RestartCount": 1.5},
        {"State": {"StartedAt": "2026-99-99T00:00:00Z", "Pid": 1 << 70}},
    ],
)
def test_hostile_details_make_a_poor_container(detail: dict[str, Any]) -> None:
    state = container_state(Host(), "docker", {"Id": ID, "Names": [[]], "Created": "x"}, detail, NOW_NS)
    assert state == ContainerState("docker", ID, "", "", "")


# -- deaths --------------------------------------------------------------------------------------------------


def test_deaths_are_counted_by_name_across_recreated_containers() -> None:
    known = count_deaths([death("a"), death("a"), death("b", status="9"), death("c", name="job")])
    assert (known["leaky"].count, known["leaky"].ids, known["leaky"].exit_status) == (3, ["a", "b"], 9)
    assert known["job"].count == 1


def test_other_events_and_hostile_ones_are_no_deaths() -> None:
    events: list[dict[str, Any]] = [{**EVENT, "Action": "start"}, {}, {"Action": "die", "Actor": []}, {"Action": 7}]
    assert count_deaths(events) == {}


def test_past_ids_are_bounded_and_deaths_are_not() -> None:
    known = count_deaths([death(f"id{number}") for number in range(500)])
    (state,) = with_deaths([ContainerState("docker", "id499", "leaky", "", "running")], known, "docker")
    assert (state.deaths, state.deaths_window_s) == (500, 3600.0)
    assert state.past_ids == tuple(f"id{number}" for number in range(436, 499))


def test_a_name_that_keeps_dying_is_reported_while_it_is_gone_and_a_finished_job_is_not() -> None:
    known = count_deaths([*(death(f"id{number}") for number in range(3)), death("x", "job"), death("y", "job")])
    assert with_deaths([], known, "docker") == [
        ContainerState(
            *("docker", "id2", "leaky", "localhost/stage:1", "removed"),
            exit_status=3,
            deaths=3,
            deaths_window_s=3600.0,
            past_ids=("id0", "id1"),
        )
    ]


# -- the sensor ------------------------------------------------------------------------------------------------


def test_a_look_at_an_engine() -> None:
    reading = look(engine([ROW], {ID: DETAIL}, [death(OTHER), death(ID)]), "Libpod/4.3.1 (linux)")
    (state,) = reading.records
    assert isinstance(state, ContainerState)
    assert (state.engine, state.restarts, state.deaths, state.past_ids) == ("podman", 109, 2, (OTHER,))
    assert reading.samples == (
        Sample("containers", 1, ("podman", "stopped")),
        Sample("container_known", 1, ("leaky", ID[:12])),
        Sample("container_known", 1, ("leaky", OTHER[:12])),
        Sample("container_restarts", 109, ("leaky",)),
        Sample("container_deaths", 2, ("leaky",)),
    )
    assert reading.unseen == ()


def test_a_container_that_vanishes_before_its_inspection_is_still_listed() -> None:
    other = {**ROW, "Id": OTHER, "Names": ["/other"]}
    reading = look(engine([ROW, other], {OTHER: {**DETAIL, "Name": "/other"}}))
    restarts = {state.name: state.restarts for state in reading.records if isinstance(state, ContainerState)}
    assert restarts == {"leaky": None, "other": 109}
    assert reading.unseen == ()


def test_no_containers_is_a_good_answer() -> None:
    assert look(engine([], {})) == Reading()


def test_more_containers_than_the_limit_are_said_to_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker_containers, "MAX_CONTAINERS", 2)
    rows = [{**ROW, "Id": f"{number:064x}", "Created": number} for number in range(5)]
    reading = look(engine(rows, {}))
    assert len(reading.records) == 2
    assert reading.unseen == (Unseen("containers", "only the newest 2 containers were looked at"),)


@pytest.mark.parametrize("rows", [{"message": "no"}, None, 7])
def test_a_list_that_is_none_is_unseen(rows: object) -> None:
    assert [unseen.reason for unseen in look(engine(rows, {})).unseen] == [
        "the container engine's list of containers cannot be read"
    ]


def test_rows_that_are_hostile_are_left_out() -> None:
    rows: list[object] = [
        None,
        [],
        {"Id": "../../images"},
        {"Id": 7},
        {"Id": ID, "Names": None, "Image": 1, "Created": True},
    ]
    (state,) = look(engine(rows, {})).records
    assert state == ContainerState("docker", ID, "", "", "", deaths=0, deaths_window_s=3600.0)


def test_an_engine_that_hangs_is_unseen() -> None:
    with peer(lambda visitor: None) as path:
        reading = Containers(sockets=[path], cri_sockets=[]).read(Host())
    assert [unseen.reason for unseen in reading.unseen] == ["the container engine did not answer in time"]


def test_a_dead_socket_is_unseen_and_the_next_engine_is_asked(tmp_path: Path) -> None:
    dead = tmp_path / "dead.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(dead))
    with http_server(engine([ROW], {ID: DETAIL})) as path:
        reading = Containers(sockets=[str(dead), path], cri_sockets=[]).read(Host())
    assert len(reading.records) == 1
    assert "ConnectionRefusedError" in reading.unseen[0].reason


def test_no_socket_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no container engine answers here"):
        Containers(sockets=[str(tmp_path / "absent")], cri_sockets=[]).read(Host())


def test_a_socket_under_two_names_is_asked_once(tmp_path: Path) -> None:
    with http_server(engine([ROW], {ID: DETAIL})) as path:
        (tmp_path / "alias").symlink_to(Path(path).parent)
        alias = str(tmp_path / "alias" / Path(path).name)
        assert len(Containers(sockets=[path, alias], cri_sockets=[]).read(Host()).records) == 1


def test_the_users_own_engine_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "privileged", lambda: False)
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/user/7/docker.sock")
    assert engines.named_sockets() == ["/run/user/7/docker.sock", *engines.SOCKETS]
    monkeypatch.setenv("DOCKER_HOST", "tcp://somewhere:2375")
    assert engines.named_sockets() == list(engines.SOCKETS)


def test_with_privileges_only_our_own_variable_names_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "privileged", lambda: True)
    monkeypatch.setenv("DOCKER_HOST", "unix:///home/eve/docker.sock")
    assert engines.named_sockets() == list(engines.SOCKETS)
    monkeypatch.setenv(environment.CONTAINER_SOCKET, "/run/box/docker.sock")
    assert engines.named_sockets() == ["/run/box/docker.sock", *engines.SOCKETS]


@pytest.mark.root
def test_a_strangers_sockets_are_not_asked(tmp_path: Path) -> None:
    def crictl(command: Sequence[str], timeout_s: float) -> bytes:
        raise AssertionError("asked")

    (tmp_path / "containerd.sock").touch()
    os.chown(tmp_path / "containerd.sock", 12345, 0)
    with http_server(engine([ROW], {ID: DETAIL})) as path:
        os.chown(path, 12345, 0)
        reading = Containers([path], [str(tmp_path / "containerd.sock")], crictl).read(Host())
    assert reading.records == ()
    assert [
        f"{path} may be changed" in one.reason
        for one, path in zip(reading.unseen, (path, tmp_path / "containerd.sock"), strict=True)
    ] == [True, True]


def test_a_cri_runtime_is_asked_as_well(tmp_path: Path) -> None:
    def crictl(command: Sequence[str], timeout_s: float) -> bytes:
        return b'{"containers": [{"id": "a", "metadata": {"name": "app", "attempt": 4}, "state": "CONTAINER_RUNNING"}]}'

    (tmp_path / "containerd.sock").touch()
    sensor = Containers(sockets=["/nowhere"], cri_sockets=[str(tmp_path / "containerd.sock")], run=crictl)
    assert sensor.read(Host()).records == (ContainerState("containerd", "a", "app", "", "running", restarts=4),)


def test_a_captured_host_is_replayed_and_its_socket_is_never_asked(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "api.sock")
    sensor = Containers(sockets=["/api.sock"])
    with pytest.raises(Unavailable):
        sensor.read(Host(tmp_path))
    reading = Reading(records=(ContainerState("docker", ID, "leaky", "", "running"),))
    (tmp_path / "necroscope").mkdir()
    (tmp_path / "necroscope/containers.json").write_text(json.dumps(encode(reading)))
    assert sensor.read(Host(tmp_path)) == reading
