"""A real systemd as PID 1 of a container of its own, on the host's own /usr: the lab's, for tests.

with booted_systemd() as stage:
    stage.add_unit("leaky.service", leaky_unit())
    ... stage.bus, stage.root, stage.leader, stage.cgroup ...
    stage.stop_unit("leaky.service")
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import pytest

from necroscope.lab.environment.systemd import SystemdNode as SystemdStage
from necroscope.lab.environment.systemd import booted, leaky_unit, missing, wanted_mounts

__all__ = ["SystemdStage", "booted_systemd", "leaky_unit"]

_SERIAL = count(1)


@contextlib.contextmanager
def booted_systemd(binds: Sequence[Path] = (), options: Sequence[str] = ()) -> Iterator[SystemdStage]:
    """Boot a systemd, and take it down again whatever happens. Skips the test where it cannot be had."""
    if lacking := missing():
        pytest.skip(f"needs {lacking}")
    name = f"necroscope-stage-{os.getpid()}-{next(_SERIAL)}"
    cgroups = [mount / name for mount in wanted_mounts()]
    for path in cgroups:
        path.mkdir()
    with booted(name, cgroups, binds=binds, options=options) as node:
        yield node
