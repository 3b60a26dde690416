"""Containers of a CRI runtime (containerd, CRI-O), asked through `crictl ps -a -o json`.

The shape is the protobuf JSON of ListContainersResponse in the CRI API (runtime.v1, api.proto): 64-bit numbers are
strings, `createdAt` is in nanoseconds, `metadata.attempt` counts the restarts within one pod sandbox. A restart is a
new container with a higher attempt; earlier ones stay listed until they are collected.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from necroscope.errors import Unavailable
from necroscope.sense import command
from necroscope.sense.containers.docker_api import Json, mapping, number, text
from necroscope.sense.host import Host
from necroscope.sense.ownership import check_socket
from necroscope.vocabulary.model import ContainerState

SOCKETS = ("/run/containerd/containerd.sock", "/run/crio/crio.sock")
MAX_CONTAINERS = 1024
MAX_PAST_IDS = 64

_POD_LABELS = ("io.kubernetes.pod.namespace", "io.kubernetes.pod.name", "io.kubernetes.container.name")


def read_cri(
    host: Host,
    budget_s: float,
    sockets: Sequence[str] = SOCKETS,
    run: command.Runner = command.run,
) -> list[ContainerState]:
    """Containers of the first CRI socket that is there. `Unavailable` when there is none, or no crictl."""
    socket = next((path for path in sockets if host.exists(path)), None)
    if socket is None:
        raise Unavailable("no CRI socket is here")
    check_socket(host.live_path(socket))
    endpoint = f"unix://{host.live_path(socket)}"
    try:
        output = run(["crictl", "--runtime-endpoint", endpoint, "ps", "-a", "-o", "json"], budget_s)
    except Unavailable as error:
        hint = "run as root, with crictl (cri-tools) installed"
        raise Unavailable(f"containers behind {socket} cannot be seen: {error.message}", hint) from error
    engine = socket.rpartition("/")[2].removesuffix(".sock")
    return parse_containers(output, engine, host.clock().realtime_ns)


def parse_containers(output: bytes, engine: str, now_ns: int) -> list[ContainerState]:
    """The newest attempt of every container, the ones before it as `past_ids`. `Unavailable` for what is no list."""
    try:
        listed = mapping(json.loads(output)).get("containers")
    except (ValueError, RecursionError) as error:
        raise Unavailable("the answer of crictl cannot be read") from error
    if not isinstance(listed, list):
        raise Unavailable("the answer of crictl holds no containers")
    groups: dict[tuple[str, str], list[Json]] = {}
    for entry in listed[:MAX_CONTAINERS]:
        if isinstance(entry, dict) and text(entry, "id"):
            groups.setdefault((text(entry, "podSandboxId"), _name(entry)), []).append(entry)
    return [_state(attempts, engine, now_ns) for attempts in groups.values()]


def _state(attempts: list[Json], engine: str, now_ns: int) -> ContainerState:
    attempts = sorted(attempts, key=lambda entry: (_attempt(entry) or 0, number(entry, "createdAt") or 0))
    newest = attempts[-1]
    created_ns = number(newest, "createdAt")
    return ContainerState(
        engine=engine,
        id=text(newest, "id"),
        name=_name(newest),
        image=text(mapping(newest, "image"), "image") or text(newest, "imageRef"),
        state=text(newest, "state").removeprefix("CONTAINER_").lower(),
        restarts=_attempt(newest),
        age_s=max(now_ns - created_ns, 0) / 1e9 if created_ns else None,
        past_ids=tuple(text(entry, "id") for entry in attempts[:-1][-MAX_PAST_IDS:]),
    )


def _name(entry: Json) -> str:
    """namespace/pod/container where the labels of the orchestrator tell, else the container's own name."""
    labels = mapping(entry, "labels")
    parts = [text(labels, label) for label in _POD_LABELS]
    return "/".join(parts) if all(parts) else text(mapping(entry, "metadata"), "name")


def _attempt(entry: Json) -> int | None:
    # Protobuf JSON may leave out a field that is zero.
    metadata = mapping(entry, "metadata")
    return number(metadata, "attempt") if "attempt" in metadata else 0 if metadata else None
