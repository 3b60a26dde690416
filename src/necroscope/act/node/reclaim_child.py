"""The process that asks the kernel to reclaim a subtree: `python -m necroscope.act.node.reclaim_child DIRECTORY`.

v2: `memory.reclaim` in pieces, until one gives nothing. v1: `memory.force_empty`, once. It may be killed at any moment;
the kernel looks for that between two rounds.
"""

from __future__ import annotations

import os
import sys

PIECE = b"4M"
FILES = ("memory.reclaim", "memory.force_empty")


def main(directory: str) -> int:
    """Reclaim; 0 when the kernel said it was done, 2 where it offers no way."""
    for name in FILES:
        try:
            fd = os.open(f"{directory}/{name}", os.O_WRONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            _write(fd, name)
        finally:
            os.close(fd)
        return 0
    return 2


def _write(fd: int, name: str) -> None:
    try:
        while True:
            os.write(fd, PIECE if name == FILES[0] else b"0")
            if name != FILES[0]:
                return
    except OSError:
        return  # nothing more can be reclaimed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
