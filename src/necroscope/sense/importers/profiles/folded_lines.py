"""Lines of folded stacks: `main;work;deeper 12`, and what stands above them in gProfiler's `.col` files.

Counts may have fractions (`12.5`). A differential has two counts a line. A frame may be blank: its function had none.
gProfiler writes `# {...}`, a JSON object, in the first line, and before each stack the number of the application's
metadata (where that is enabled) and the name of the container, which may be blank.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

_COUNT = re.compile(rb"(\d{1,18})(?:\.(\d{1,18}))?")
_INDEX = re.compile(rb"\d{1,9}")
HEAD_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """A stack and its count: `whole` and, after the point, `fraction` as written, without zeros at its end. `two`: what
    stands before the count may be a count as well."""

    stack: bytes
    whole: int
    fraction: bytes
    two: bool


def parse_line(line: bytes) -> Line | None:
    """A stack with its count; None for other lines."""
    words = line.rsplit(None, 2)
    if len(words) < 2 or (found := _COUNT.fullmatch(words[-1])) is None:
        return None
    stack = line.rstrip()[: -len(words[-1])].strip()
    two = len(words) == 3 and _COUNT.fullmatch(words[1]) is not None
    return Line(stack, int(found[1]), (found[2] or b"").rstrip(b"0"), two)


def is_comment(line: bytes) -> bool:
    """Lines that tell nothing, and are none of the odd ones."""
    return not line.strip() or line.startswith(b"#")


@dataclass(frozen=True, slots=True)
class ColumnHead:
    """What gProfiler says above the stacks. `columns` are how many fields stand before a stack's own frames."""

    columns: int = 0
    hostname: str = ""
    start_ns: int | None = None


def parse_column_head(text: bytes) -> ColumnHead | None:
    """The first line of a `.col` file; None where it is none."""
    first = text.partition(b"\n")[0]
    if not first.startswith(b"#") or b'"container' not in first[:HEAD_BYTES]:
        return None
    try:
        head: Any = json.loads(first[1:])
    except (ValueError, RecursionError):
        head = {"application_metadata_enabled": b'"application_metadata_enabled": true' in first}
    if not isinstance(head, dict):
        return None
    inner = head.get("metadata")
    metadata = inner if isinstance(inner, dict) else {}
    arguments = metadata.get("run_arguments")
    version = arguments.get("profile_api_version") if isinstance(arguments, dict) else None
    columns = 0 if version == "v1" else 1 + (head.get("application_metadata_enabled") is True)
    start = metadata.get("start_time", head.get("start_time"))
    return ColumnHead(columns, str(metadata.get("hostname") or "")[:256], _time(start))


def is_column_head(text: bytes) -> bool:
    """Whether a text begins as a `.col` file does, also where its first line goes on beyond it."""
    return text.startswith((b"# {", b"#{")) and b'"container' in text[:4096]


def own_frames(stack: bytes, columns: int) -> bytes:
    """A stack without the number of an application and without a blank container."""
    for _ in range(columns - 1):
        first, semicolon, rest = stack.partition(b";")
        stack = rest if semicolon and _INDEX.fullmatch(first) else stack
    return stack[1:] if columns and stack.startswith(b";") else stack


def _time(text: Any) -> int | None:
    try:
        at = datetime.fromisoformat(text)
        return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()) * 1_000_000_000
    except (TypeError, ValueError, OverflowError):
        return None
