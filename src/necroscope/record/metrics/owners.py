"""Whom a cgroup's path names: a unit, a pod, or nobody but the cgroup itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

_UNITS = (".service", ".scope")
_ID = re.compile(r"([0-9a-f]{64})(?:\.scope)?$")


def owner_of(path: str) -> str:
    """The innermost unit of a path that systemd would call so; else the path, in which families have `<id>` for ids."""
    for part in reversed(path.split("/")):
        if part.endswith(_UNITS) and "<" not in part:
            return part
    return path


def pod_of(cgroup: str, names: Mapping[str, str]) -> tuple[str, str, str]:
    """Namespace and pod of a container's cgroup; where nobody told that id's name, empty ones and the cgroup.

    `names`: ids of containers with `namespace/pod/container`."""
    found = _ID.search(cgroup)
    name = names.get(found[1], "") if found is not None else ""
    if not name:
        return "", "", cgroup
    namespace, pod, _ = name.split("/")
    return namespace, pod, ""
