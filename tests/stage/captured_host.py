"""Captured hosts as text that can be reviewed: one file that lays out a folder which `Host(root)` reads.

    # a comment, up to the first entry
    -- /proc/uptime --
    86400.00 43200.00
    -- /sys/fs/cgroup/memory/docker/ --

An entry whose path ends in a slash is a directory. A file's text runs to the next entry and ends in a newline.
"""

from __future__ import annotations

import re
from pathlib import Path

_ENTRY = re.compile(r"^-- (/\S+) --\n", re.MULTILINE)


def lay_out(text: str, folder: Path) -> Path:
    """Write the host below `folder`; returns the folder."""
    parts = _ENTRY.split(text)[1:]
    for path, body in zip(parts[::2], parts[1::2], strict=True):
        target = folder / path.lstrip("/")
        if path.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(body, "utf-8")
    return folder
