"""A real container engine of the test's own: the lab's podman, for tests.

with container_engine() as engine:
    container = engine.run("leaky", LEAKY)
    ... engine.socket, container.id, container.cgroup ...
    engine.remove("leaky")
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from necroscope.lab.environment.podman import LEAKY, ContainerEngine, engine, missing

__all__ = ["LEAKY", "ContainerEngine", "container_engine"]

_SERIAL = count(1)


@contextlib.contextmanager
def container_engine() -> Iterator[ContainerEngine]:
    """Set up a podman with a running API service, and take everything down again whatever happens."""
    if lacking := missing():
        pytest.skip(f"needs {lacking}")
    name = f"necroscope-stage-{os.getpid()}-{next(_SERIAL)}-pod"
    with engine(Path(tempfile.mkdtemp(prefix="necroscope-stage-")), name) as made:
        yield made
