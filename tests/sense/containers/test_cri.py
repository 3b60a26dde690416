"""Containers of a CRI runtime, from the JSON of `crictl ps -a`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.sense.containers.cri import parse_containers, read_cri
from necroscope.sense.host import Host
from necroscope.vocabulary.model import ContainerState

NOW_NS = 1_700_000_100_000_000_000


def container(identity: str, attempt: int | None, state: str, created_ns: int, pod: str = "web-0") -> dict[str, object]:
    """One element of ListContainersResponse.containers, as protobuf JSON writes it (runtime.v1 of the CRI API)."""
    metadata: dict[str, object] = {"name": "app"} if attempt is None else {"name": "app", "attempt": attempt}
    return {
        "id": identity,
        "podSandboxId": f"sandbox-of-{pod}",
        "metadata": metadata,
        "image": {"image": "sha256:0123", "annotations": {}},
        "imageRef": "sha256:0123",
        "state": state,
        "createdAt": str(created_ns),
        "labels": {
            "io.kubernetes.container.name": "app",
            "io.kubernetes.pod.name": pod,
            "io.kubernetes.pod.namespace": "shop",
        },
        "annotations": {"io.kubernetes.container.restartCount": str(attempt or 0)},
    }


def listing(*containers: object) -> bytes:
    return json.dumps({"containers": list(containers)}).encode()


def test_the_newest_attempt_is_the_container_and_the_others_are_its_past() -> None:
    output = listing(
        container("ccc", 7, "CONTAINER_RUNNING", NOW_NS - 3_000_000_000),
        container("aaa", 5, "CONTAINER_EXITED", NOW_NS - 90_000_000_000),
        container("bbb", 6, "CONTAINER_EXITED", NOW_NS - 50_000_000_000),
        container("ddd", None, "CONTAINER_RUNNING", NOW_NS - 5_000_000_000, pod="db-0"),
    )
    assert parse_containers(output, "containerd", NOW_NS) == [
        ContainerState(
            "containerd", "ccc", "shop/web-0/app", "sha256:0123", "running", 7, age_s=3.0, past_ids=("aaa", "bbb")
        ),
        ContainerState("containerd", "ddd", "shop/db-0/app", "sha256:0123", "running", 0, age_s=5.0),
    ]


def test_a_container_without_labels_has_its_own_name() -> None:
    bare = {"id": "a", "metadata": {"name": "tool", "attempt": 2}, "state": "CONTAINER_EXITED"}
    assert parse_containers(listing(bare), "crio", NOW_NS) == [
        ContainerState("crio", "a", "tool", "", "exited", restarts=2)
    ]


@pytest.mark.parametrize("output", [b"", b"{", b"[]", b'{"containers": 3}', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_list_is_unavailable(output: bytes) -> None:
    with pytest.raises(Unavailable):
        parse_containers(output, "crio", NOW_NS)


def test_hostile_elements_are_left_out_or_poor() -> None:
    output = listing(None, 3, {}, {"id": 7}, {"id": "a", "metadata": [], "createdAt": {}, "labels": 3, "state": None})
    assert parse_containers(output, "crio", NOW_NS) == [ContainerState("crio", "a", "", "", "")]


def test_crictl_is_asked_at_the_socket_that_exists(tmp_path: Path) -> None:
    commands: list[list[str]] = []

    def crictl(command: Sequence[str], timeout_s: float) -> bytes:
        commands.append(list(command))
        return listing(container("a", 1, "CONTAINER_RUNNING", 1))

    socket = tmp_path / "crio.sock"
    socket.touch()
    (state,) = read_cri(Host(), 1.0, [str(tmp_path / "absent.sock"), str(socket)], crictl)
    assert (state.engine, state.id) == ("crio", "a")
    assert commands == [["crictl", "--runtime-endpoint", f"unix://{socket}", "ps", "-a", "-o", "json"]]


def test_no_socket_and_no_crictl_are_distinguished(tmp_path: Path) -> None:
    def absent(command: Sequence[str], timeout_s: float) -> bytes:
        raise Unavailable("crictl is not installed")

    with pytest.raises(Unavailable, match="no CRI socket"):
        read_cri(Host(), 1.0, [str(tmp_path / "absent.sock")], absent)
    (tmp_path / "containerd.sock").touch()
    with pytest.raises(Unavailable, match="crictl is not installed"):
        read_cri(Host(), 1.0, [str(tmp_path / "containerd.sock")], absent)
