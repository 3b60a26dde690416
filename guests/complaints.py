"""What a guest's kernel complained of: its own lines only, not those that a job wrote into its log."""

from __future__ import annotations

import re

_COMPLAINT = re.compile(
    r"WARNING: |BUG: |Oops|Call [Tt]race|Kernel panic|detected stall|blocked for more than|Unable to handle kernel"
)


def complaints(kmsg: bytes, console: str) -> list[str]:
    """The complaints in `/dev/kmsg`; in the console's text where a guest left no log, as one that panicked."""
    lines = _own_lines(kmsg) if kmsg else console.splitlines()
    return [line.strip() for line in lines if _COMPLAINT.search(line)]


def _own_lines(kmsg: bytes) -> list[str]:
    """Texts of records `PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT` whose facility is the kernel's."""
    found = []
    for line in kmsg.decode("utf-8", "replace").splitlines():
        head, _, text = line.partition(";")
        priority = head.partition(",")[0]
        if priority.isdigit() and int(priority) < 8:
            found.append(text)
    return found
