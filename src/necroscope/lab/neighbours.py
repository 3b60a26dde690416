"""Machines that somebody needs: beside a kubelet or foreign containers the lab makes no incidents unless told to."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from necroscope.errors import Unavailable
from necroscope.lab.cleaning import hierarchies
from necroscope.lab.undo_log import PREFIX

# a cgroup that a container engine made: sixty-four hexadecimal digits in its name, or a pod of an orchestrator
_CONTAINER = re.compile(r"[0-9a-f]{64}|^kubepods|pod[0-9a-f]{8}[-_]")
_HINT = "give --disposable-machine where nobody needs this machine"


def foreign_containers() -> list[str]:
    """Cgroups of containers with processes in them that are not the lab's, at most ten."""
    found: dict[str, None] = {}
    for mount in hierarchies():
        with contextlib.suppress(OSError):
            for procs in mount.rglob("cgroup.procs"):
                path = str(procs.parent.relative_to(mount))
                ours = path.startswith(PREFIX) or ("/" not in path and path == ".")
                if not ours and any(map(_CONTAINER.search, procs.parent.parts)) and procs.read_text().strip():
                    found["/" + path] = None
    return list(found)[:10]


def refuse_neighbours() -> None:
    """`Unavailable` where containers run that are not the lab's, or a kubelet serves."""
    if Path("/var/lib/kubelet/pods").is_dir():
        raise Unavailable("pods of a kubelet live on this machine, and an incident would hit them", _HINT)
    if found := foreign_containers():
        raise Unavailable(f"containers run on this machine ({found[0]}), and an incident would hit them", _HINT)
