"""Containers as their engines tell them: the sensor, and which engines it asks.

Sources: Docker-compatible sockets (`docker_containers.py`), the CRI (`cri.py`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import ClassVar

from necroscope.errors import Unavailable
from necroscope.sense import command
from necroscope.sense.containers import cri
from necroscope.sense.containers.docker_containers import read_engine
from necroscope.sense.environment import CONTAINER_SOCKET, users
from necroscope.sense.host import Host
from necroscope.sense.replay import replay
from necroscope.vocabulary.model import ContainerState, Reading, Sample, Signal, Unseen

SOCKETS = ("/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock")
CRI_BUDGET_S = 0.5
# Of a container that is made anew at every death, the last ids are kept; a path shows as many digits of one.
_PAST_IDS, _SHORT = 20, 12


class Containers:
    """The sensor. `sockets` replaces the usual places of a Docker-compatible API, `cri_sockets` those of a CRI."""

    name: ClassVar[str] = "containers"
    signals: ClassVar[tuple[Signal, ...]] = (
        Signal("containers", "containers", "gauge", "Containers by engine and state", ("engine", "state")),
        Signal("container_restarts", "restarts", "counter", "Restarts of a container by its engine", ("container",)),
        Signal("container_known", "containers", "gauge", "1: a name with its id, or a past one", ("container", "id")),
        Signal("container_deaths", "deaths", "gauge", "Deaths under one name in the last hour", ("container",)),
    )

    def __init__(
        self,
        sockets: Sequence[str] | None = None,
        cri_sockets: Sequence[str] = cri.SOCKETS,
        run: command.Runner = command.run,
    ) -> None:
        self._sockets = sockets
        self._cri_sockets = cri_sockets
        self._run = run

    def read(self, host: Host) -> Reading:
        """All containers of all engines that answer. `Unavailable` where none does."""
        if host.captured:
            return replay(host, self.name)
        found: list[ContainerState] = []
        unseen: list[Unseen] = []
        engines = 0
        for path in _existing(host, self._sockets or named_sockets()):
            engines += 1
            with self._noting(unseen):
                states, notes = read_engine(host, path)
                found += states
                unseen += [Unseen(self.name, note) for note in notes]
        if any(host.exists(path) for path in self._cri_sockets):
            engines += 1
            with self._noting(unseen):
                found += cri.read_cri(host, CRI_BUDGET_S, self._cri_sockets, self._run)
        if not engines:
            hint = f"none of the usual sockets exists; ${CONTAINER_SOCKET} may name another"
            raise Unavailable("no container engine answers here", hint)
        return Reading(_samples(found), tuple(found), tuple(unseen))

    @contextlib.contextmanager
    def _noting(self, unseen: list[Unseen]) -> Iterator[None]:
        """An engine that cannot be asked is noted; the others are asked all the same."""
        try:
            yield
        except Unavailable as error:
            unseen.append(Unseen(self.name, error.message, error.hint))


def _samples(states: list[ContainerState]) -> tuple[Sample, ...]:
    counts: dict[tuple[str, str], int] = {}
    samples: list[Sample] = []
    for state in states:
        counts[state.engine, state.state] = counts.get((state.engine, state.state), 0) + 1
        ids = (state.id, *state.past_ids[-_PAST_IDS:])
        samples += [Sample("container_known", 1, (state.name, one[:_SHORT])) for one in dict.fromkeys(ids) if one]
        if state.restarts:
            samples.append(Sample("container_restarts", state.restarts, (state.name,)))
        if state.deaths:
            samples.append(Sample("container_deaths", state.deaths, (state.name,)))
    return (*(Sample("containers", count, key) for key, count in sorted(counts.items())), *samples)


def usual_sockets() -> list[str]:
    """Sockets that are there, each once."""
    return _existing(Host(), named_sockets())


def named_sockets() -> list[str]:
    """Those that are named first: by this program's own variable, and for an ordinary user by $DOCKER_HOST."""
    named = [os.environ.get(CONTAINER_SOCKET, ""), users("DOCKER_HOST")]
    return [*(path for one in named if (path := one.removeprefix("unix://")).startswith("/")), *SOCKETS]


def _existing(host: Host, paths: Sequence[str]) -> list[str]:
    """Sockets that are there, each once: /var/run is /run on most systems."""
    found: dict[str, str] = {}
    for path in paths:
        real = os.path.realpath(host.live_path(path))
        if host.exists(real):
            found.setdefault(real, path)
    return list(found.values())
