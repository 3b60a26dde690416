"""How many zombies lie below a memory cgroup, as far as this kernel tells."""

from __future__ import annotations

from pathlib import Path

from necroscope.errors import Unavailable
from necroscope.lab.environment.cgroup_tree import dying_descendants, memory_mount

# on a machine that is being starved a walk takes its time
_WALK_S = 10.0
_TRIES = 3


def zombies_below(cgroup: Path) -> int | None:
    """Zombies below a directory of the memory hierarchy; None where nothing can count them."""
    mount = memory_mount()
    if mount.v2:
        return dying_descendants(cgroup)
    from necroscope.sense.host import Host
    from necroscope.sense.kernel.memcg_walk import walk_memcgs

    path = f"{mount.root.rstrip('/')}/{cgroup.relative_to(mount.path)}"
    most = 0
    for _ in range(_TRIES):
        try:
            walked = walk_memcgs(Host(), _WALK_S, files_of_each=False)
        except Unavailable:
            return None
        most = max(most, sum(row.zombies for row in walked.by_parent if f"{row.path}/".startswith(f"{path}/")))
        if not walked.partial:
            break
    return most
