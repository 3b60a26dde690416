r"""What others put around the lines of a log: colours, quoting, and the runtimes of containers.

2026-11-16T18:03:22.123456789Z stdout F text           CRI: containerd, CRI-O
2026-11-16T18:03:22.123456789Z text                    kubectl logs --timestamps, docker logs -t
{"log":"text\n","stream":"stdout","time":"2026-..."}   Docker's json-file
\x1b[32m[12345.678901] \x1b[0m\x1b[33mtext             dmesg --color=always
> [12345.678901] text                                  a mail, a shell's prompt, a list
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime

_COLOUR = re.compile(rb"\x1b\[[\d;]{0,16}[A-Za-z]")
_QUOTE = re.compile(rb"[\s>|#$*`]{1,32}")
_BOM = b"\xef\xbb\xbf"
_RUNTIME = re.compile(
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) "
    rb"(?:std(?:out|err) [FP] |(?=\[|\d{4}-\d\d-\d\d ))"
)
_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A line as it was written. `arrived_ns`: when a container's runtime got it, UTC; None where there was none."""

    line: bytes
    arrived_ns: int | None = None


def unwrap(line: bytes) -> Unwrapped:
    """A line without what others put around it; quoting stays, as text may begin so."""
    if b"\x1b" in line:
        line = _COLOUR.sub(b"", line)
    line = line.removeprefix(_BOM)
    if line.startswith(b'{"log":'):
        return _of_docker(line)
    if line[:2] == b"20" and (found := _RUNTIME.match(line)) is not None:
        arrived_ns = _utc_ns(found[1].decode(), (found[2] or b"").decode(), found[3].decode())
        if arrived_ns is not None:
            return Unwrapped(line[found.end() :], arrived_ns)
    return Unwrapped(line)


def unquote(line: bytes) -> bytes:
    """The line without marks of quoting before it."""
    found = _QUOTE.match(line)
    return line[found.end() :] if found is not None else line


def _of_docker(line: bytes) -> Unwrapped:
    try:
        entry = json.loads(line)
        text, moment = entry["log"], entry["time"]
        at, mark, rest = moment.partition(".")
        arrived_ns = _utc_ns(at.removesuffix("Z"), rest.removesuffix("Z") if mark else "", "Z")
        return Unwrapped(text.rstrip("\r\n").encode("utf-8", "replace"), arrived_ns)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Unwrapped(line)


def _utc_ns(moment: str, fraction: str, zone: str) -> int | None:
    try:
        at = datetime.fromisoformat(moment + ("+00:00" if zone == "Z" else zone)).astimezone(UTC)
        return int(at.timestamp()) * _S + int(fraction[:9].ljust(9, "0") or "0")
    except (ValueError, OverflowError):
        return None
