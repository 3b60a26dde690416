"""Memory cgroups that leak while `scan` looks twice: it must find them growing, below their parent, by their names.

From 7 on files of a tmpfs keep no cgroup: then there is nothing to find, and nothing must be found.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

from guests.jobs.program import document, say
from guests.jobs.zombies import HANDED_ON, Makers, memory_root, version

BEFORE, LOOKS_S = 120, 8


def main() -> int:
    """0 when the leak was found, or none where there is none."""
    root = memory_root()
    parent = root / "leaky"
    parent.mkdir()
    if (root / "cgroup.subtree_control").exists():
        (parent / "cgroup.subtree_control").write_text("+memory")
    stop = threading.Event()
    with Makers(root) as makers:
        for number in range(BEFORE):
            makers.leave(parent / f"shm-{number}", "shm")
        leaking = threading.Thread(target=_leak, args=(makers, parent, stop))
        leaking.start()
        seen = document("scan", "--for", f"{LOOKS_S}s")
        stop.set()
        leaking.join()
    for one in seen["findings"]:
        say(f"{one['severity']} {one['id']} {one['subject']}: {one['title']}; {one['evidence']}")
    leaks = version(os.uname().release) < HANDED_ON
    say(
        f"zombies {seen['cgroups']['memory']['zombies']}, growth {seen['cgroups']['memory']['growth_per_hour']} an hour"
    )
    return 0 if found(seen) == leaks else 1


def found(seen: dict[str, Any]) -> bool:
    """Whether the leak is found where it is, with a growth that was measured."""
    memory = seen["cgroups"]["memory"]
    named = any(one["pattern"] == "/leaky/shm-<n>" and one["zombies"] >= BEFORE for one in memory["families"])
    measured = memory["growth_basis"] == "measured" and memory["growth_per_hour"] > 0
    return (
        named
        and measured
        and any(
            one["id"] == "zombie-memcg" and one["subject"] == {"kind": "cgroup", "name": "/leaky"}
            for one in seen["findings"]
        )
    )


def _leak(makers: Makers, parent: Path, stop: threading.Event) -> None:
    number = BEFORE
    while not stop.wait(0.1):
        makers.leave(parent / f"shm-{number}", "shm")
        number += 1


if __name__ == "__main__":
    sys.exit(main())
