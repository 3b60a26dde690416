"""Container engines over their Docker-compatible sockets: one container by name, its restart policy, stop and start.

A container in a crash loop is down for moments: whether it runs is seen over a while, not in one look.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from necroscope import clock
from necroscope.act.node.doors import ContainerView
from necroscope.errors import BadInput, Unavailable
from necroscope.sense.containers.docker_api import ANSWER_LIMIT_BYTES, Json, mapping, number, text
from necroscope.sense.containers.engines import usual_sockets
from necroscope.sense.ownership import check_socket

ASK_S = 5.0
STEADY_S, _POLL_S = 1.5, 0.1
STOP_S, START_S, STOP_TRIES_S = 10, 30.0, 60.0
_GONE, _UNCHANGED = 404, 304
_MANAGED = {
    "io.kubernetes.container.name": "a kubelet",
    "com.docker.swarm.service.name": "a swarm service",
    "com.amazonaws.ecs.container-name": "an ECS agent",
    "com.hashicorp.nomad.alloc_id": "a Nomad agent",
}


class LiveEngine:
    """The engines behind the usual sockets, or the given ones."""

    def __init__(self, sockets: Sequence[str] | None = None) -> None:
        self._sockets = tuple(sockets) if sockets is not None else tuple(usual_sockets())

    def container(self, name: str) -> ContainerView | None:
        """The one container of this name or id, seen for long enough to tell whether it runs."""
        found = [view for path in self._sockets if (view := self._steady(path, name)) is not None]
        if len({view.id for view in found}) > 1:
            raise BadInput(f"Two engines know a container {name}.", "give its id")
        return found[0] if found else None

    def set_policy(self, view: ContainerView, policy: str) -> None:
        """Set its restart policy."""
        name, _, times = policy.partition(":")
        wanted = {"RestartPolicy": {"Name": name, "MaximumRetryCount": int(times or 0)}}
        _call(view.socket, "POST", f"/containers/{view.id}/update", ASK_S, wanted)

    def stop(self, view: ContainerView) -> str:
        """Stop it; one that is just down between two runs is told again until it stays down."""
        began = clock.elapsed_s()
        while True:
            with contextlib.suppress(Unavailable):  # it may be neither up nor down at this moment
                _call(view.socket, "POST", f"/containers/{view.id}/stop", view.stop_timeout_s + START_S)
            now = self._steady(view.socket, view.id)
            if now is None or not now.running:
                return f"stopped in {clock.elapsed_s() - began:.1f} s"
            if clock.elapsed_s() - began > STOP_TRIES_S + view.stop_timeout_s:
                raise Unavailable(f"container {view.name} is still running after {clock.elapsed_s() - began:.0f} s")

    def start(self, view: ContainerView) -> str:
        """Start it."""
        _call(view.socket, "POST", f"/containers/{view.id}/start", START_S)
        return ""

    def _steady(self, path: str, name: str) -> ContainerView | None:
        first = _inspect(path, name)
        if first is None:
            return None
        view, restarts = first
        ends = clock.elapsed_s() + STEADY_S
        while not view.running and clock.elapsed_s() < ends:
            clock.sleep(_POLL_S)
            again = _inspect(path, view.id)
            if again is None:
                return None
            view = again[0]
            if again[1] != restarts:
                return ContainerView(**{**_fields(view), "running": True})
        return view


def _fields(view: ContainerView) -> dict[str, Any]:
    return {name: getattr(view, name) for name in ContainerView.__slots__}


def _inspect(path: str, name: str) -> tuple[ContainerView, int] | None:
    """A container and its restarts; None where this engine knows none, or does not answer."""
    try:
        status, server, answer = _ask(path, "GET", f"/containers/{quote(name, safe='')}/json", ASK_S)
    except FileNotFoundError:
        return None
    if status == _GONE:
        return None
    if status != http.client.OK or not isinstance(answer, dict):
        raise Unavailable(f"the container engine at {path} does not tell of {name} (HTTP status {status})")
    return _view(path, server, answer), number(answer, "RestartCount") or 0


def _view(path: str, server: str, answer: Json) -> ContainerView:
    state, host, config = mapping(answer, "State"), mapping(answer, "HostConfig"), mapping(answer, "Config")
    policy = mapping(host, "RestartPolicy")
    times, name = number(policy, "MaximumRetryCount") or 0, text(policy, "Name") or "no"
    engine = "podman" if server.lower().startswith("libpod") else "docker"
    identity = text(answer, "Id")
    if not (identity.isalnum() and identity.isascii()):
        raise Unavailable(f"the container engine at {path} tells no id that can be used")
    return ContainerView(
        id=identity,
        name=text(answer, "Name").removeprefix("/"),
        running=state.get("Running") is True or state.get("Restarting") is True,
        policy=f"{name}:{times}" if times else name,
        stop_timeout_s=number(config, "StopTimeout") or STOP_S,
        engine=engine,
        socket=path,
        # podman sets it at creation only, as far as the Docker-compatible API goes
        sets_policy=engine != "podman",
        started_by=_starter(mapping(config, "Labels")),
        cgroup=text(host, "CgroupParent"),
    )


def _starter(labels: Json) -> str:
    """Who starts it again, by its labels."""
    if unit := text(labels, "PODMAN_SYSTEMD_UNIT"):
        return f"unit {unit}"
    return next((who for label, who in _MANAGED.items() if text(labels, label)), "")


# -- HTTP over a unix socket -------------------------------------------------------------------------------


def _call(path: str, method: str, place: str, within_s: float, body: Json | None = None) -> None:
    status, _, answer = _ask(path, method, place, within_s, body)
    if status >= http.client.BAD_REQUEST:
        words = text(answer, "message") if isinstance(answer, dict) else ""
        raise Unavailable(f"the container engine refuses: {words or f'HTTP status {status}'}")


def _ask(path: str, method: str, place: str, within_s: float, body: Json | None = None) -> tuple[int, str, Any]:
    """Status, server and JSON of one answer. `FileNotFoundError` where no engine is there at all."""
    with _connected(path, within_s) as connection:
        try:
            data = json.dumps(body) if body is not None else None
            connection.request(method, place, data, {"Content-Type": "application/json"} if data else {})
            response = connection.getresponse()
            read = response.read(ANSWER_LIMIT_BYTES + 1)
        except (OSError, http.client.HTTPException) as error:
            raise Unavailable(f"the container engine at {path} did not answer ({type(error).__name__})") from error
    try:
        answer = json.loads(read) if read and len(read) <= ANSWER_LIMIT_BYTES else None
    except (ValueError, RecursionError):
        answer = None
    return response.status, response.headers.get("Server", ""), answer


@contextlib.contextmanager
def _connected(path: str, within_s: float) -> Iterator[http.client.HTTPConnection]:
    check_socket(path)
    peer = socket.socket(socket.AF_UNIX)
    connection = http.client.HTTPConnection("localhost")
    try:
        peer.settimeout(within_s)
        try:
            peer.connect(path)
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise FileNotFoundError(path) from error
        except OSError as error:
            raise Unavailable(f"the container engine at {path} may not be asked", "run as root") from error
        connection.sock, connection.auto_open = peer, 0
        yield connection
    finally:
        connection.close()
        peer.close()
