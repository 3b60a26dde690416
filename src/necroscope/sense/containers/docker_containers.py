"""Containers behind one Docker-compatible socket: restarts, exits, age, and deaths under a name.

A container that something removes and starts anew never restarts in the eyes of its engine and is always
seconds old; only the engine's events show that its *name* keeps dying. Docker remembers the last 256 events.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from necroscope import clock
from necroscope.clock import NS
from necroscope.errors import Unavailable
from necroscope.sense.cgroups.hierarchies import parse_memberships
from necroscope.sense.containers import docker_api
from necroscope.sense.containers.docker_api import Connection, Json, Refused, mapping, number, text
from necroscope.sense.host import Host
from necroscope.vocabulary.model import ContainerState

BUDGET_S = 0.5
MAX_CONTAINERS = 256
MAX_PAST_IDS = 64
DEATHS_WINDOW_S = 3600.0
# A name that is gone when we look is reported when it died this often: a finished job dies once.
MIN_DEATHS_OF_ABSENT = 3


def read_engine(host: Host, path: str) -> tuple[list[ContainerState], list[str]]:
    """Containers behind one socket, and what was left out. `Unavailable` when no engine answers there."""
    deadline = clock.elapsed_s() + BUDGET_S
    now_ns = host.clock().realtime_ns
    with (
        contextlib.closing(Connection(path, deadline)) as events,
        contextlib.closing(Connection(path, deadline)) as questions,
    ):
        # The engine gathers its events while the containers are asked for.
        docker_api.ask_for_deaths(events, now_ns - int(DEATHS_WINDOW_S * NS), now_ns)
        entries = _list(questions)
        states, notes = _inspect_all(host, questions, entries, now_ns)
        deaths, whole = docker_api.deaths(events)
    if len(entries) >= MAX_CONTAINERS:
        notes.append(f"only the newest {MAX_CONTAINERS} containers were looked at")
    if not whole:
        notes.append("not all deaths of the last hour arrived in time")
    if not whole and not deaths:
        return states, notes
    return with_deaths(states, count_deaths(deaths), _engine_name(questions.server)), notes


def _list(connection: Connection) -> list[Json]:
    """Rows of the list, those that restart first, then the newest: the time may not last for all."""
    listed = connection.get("/containers/json", all="1", limit=str(MAX_CONTAINERS))
    if not isinstance(listed, list):
        raise Unavailable("the container engine's list of containers cannot be read")
    rows = [row for row in listed[:MAX_CONTAINERS] if isinstance(row, dict) and _identifier(row)]
    return sorted(rows, key=lambda row: (text(row, "State") != "restarting", -(number(row, "Created") or 0)))


def _inspect_all(
    host: Host, connection: Connection, rows: list[Json], now_ns: int
) -> tuple[list[ContainerState], list[str]]:
    """Every container inspected, as long as the time lasts; the rest as the list shows it."""
    states: list[ContainerState] = []
    late = ""
    for row in rows:
        detail: Json = {}
        try:
            detail = {} if late else mapping(connection.get(f"/containers/{_identifier(row)}/json"))
        except Refused:
            pass  # it vanished between the list and the question
        except Unavailable as error:
            late = error.message
        states.append(container_state(host, _engine_name(connection.server), row, detail, now_ns))
    return states, [f"not every container was inspected: {late}"] if late else []


def container_state(host: Host, engine: str, row: Json, detail: Json, now_ns: int) -> ContainerState:
    """A container from its row in the list and its inspection, either of which may be poor."""
    state, policy = mapping(detail, "State"), mapping(detail, "HostConfig", "RestartPolicy")
    created_s = number(row, "Created")
    names = row.get("Names")
    listed_name = names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""
    identity = _identifier(row)
    since_start_s = _seconds_since(text(state, "StartedAt"), now_ns)
    ended = state.get("Running") is False and since_start_s is not None
    return ContainerState(
        engine=engine,
        id=identity,
        name=(text(detail, "Name") or listed_name).removeprefix("/"),
        image=text(row, "Image"),
        state="restarting" if state.get("Restarting") is True else text(state, "Status") or text(row, "State"),
        restarts=number(detail, "RestartCount"),
        exit_status=number(state, "ExitCode") if ended else None,
        oom_killed=state.get("OOMKilled") is True,
        restart_policy=text(policy, "Name"),
        age_s=max(now_ns / NS - created_s, 0.0) if created_s else None,
        since_start_s=since_start_s,
        cgroup=_cgroup(host, number(state, "Pid") or 0, identity),
    )


def _engine_name(server: str) -> str:
    """From the Server header (`Docker/24.0.7 (linux)`, `Libpod/4.3.1 (linux)`): asking for the version is slow."""
    product = server.partition("/")[0].lower()
    return "podman" if product == "libpod" else product or "docker-api"


def _identifier(row: Json) -> str:
    """The id, which is about to become a part of a URL: letters and digits or nothing."""
    identity = text(row, "Id")
    return identity if identity.isalnum() and identity.isascii() and len(identity) <= 128 else ""


def _seconds_since(stamp: str, now_ns: int) -> float | None:
    """Of an RFC 3339 time; Go's zero time (year 1) means never."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    if moment.year < 1970 or moment.tzinfo is None:
        return None
    return max(now_ns / NS - moment.timestamp(), 0.0)


def _cgroup(host: Host, pid: int, identity: str) -> str:
    """The memory cgroup of a running container. The pid may have gone to somebody else: its id must be in the path."""
    content = host.read_or_none(f"/proc/{pid}/cgroup", 1 << 16) if pid > 0 else None
    paths = parse_memberships(content or b"")
    path = paths.get("memory") or paths.get("", "")
    return path if identity and identity in path else ""


# -- deaths --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Deaths:
    """The deaths of one name: how many, of which ids, and the state after the last of them."""

    count: int = 0
    ids: list[str] = field(default_factory=list)
    image: str = ""
    exit_status: int | None = None


def count_deaths(events: Sequence[Json]) -> dict[str, Deaths]:
    """Deaths by container name, from events of the API, oldest first. Counted are those with a failure or no status."""
    by_name: dict[str, Deaths] = {}
    for event in events:
        attributes = mapping(event, "Actor", "Attributes")
        name, identity = text(attributes, "name"), text(mapping(event, "Actor"), "ID") or text(event, "id")
        if text(event, "Action") not in ("die", "died") or not name:
            continue
        known = by_name.setdefault(name, Deaths())
        # whoever ends well and is run again is a job, not a crash loop
        known.count += number(attributes, "exitCode") != 0
        known.image = text(attributes, "image") or known.image
        known.exit_status = number(attributes, "exitCode")
        if identity and identity not in known.ids[-1:]:
            known.ids = [*known.ids, identity][-MAX_PAST_IDS:]
    return by_name


def with_deaths(states: list[ContainerState], by_name: dict[str, Deaths], engine: str) -> list[ContainerState]:
    """The containers with the deaths of their names, and names that keep dying but have no container just now."""
    here = {state.name for state in states}
    gone = [
        ContainerState(engine, deaths.ids[-1] if deaths.ids else "", name, deaths.image, "removed")
        for name, deaths in by_name.items()
        if name not in here and deaths.count >= MIN_DEATHS_OF_ABSENT
    ]
    return [_with_deaths(state, by_name.get(state.name, Deaths())) for state in [*states, *gone]]


def _with_deaths(state: ContainerState, deaths: Deaths) -> ContainerState:
    return replace(
        state,
        exit_status=deaths.exit_status if state.exit_status is None else state.exit_status,
        deaths=deaths.count,
        deaths_window_s=DEATHS_WINDOW_S,
        past_ids=tuple(identity for identity in deaths.ids if identity != state.id),
    )
