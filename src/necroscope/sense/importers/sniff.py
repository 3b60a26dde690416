"""Which importer a file is for, from its first 64 KiB (unpacked). Names of files do not count."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO, Literal

from necroscope.errors import BadInput
from necroscope.sense.importers.logs import ray_lines, stamps
from necroscope.sense.importers.logs.wrapping import unwrap
from necroscope.sense.importers.perf_script.lines import parse_head
from necroscope.sense.importers.perf_script.timeless import is_flat, is_frame
from necroscope.sense.importers.profiles.folded_lines import is_column_head, is_comment, parse_line
from necroscope.sense.importers.profiles.pprof import is_pprof
from necroscope.sense.importers.source import Source

Kind = Literal["perf-data", "perf-script", "folded", "pprof", "mpstat", "dmesg", "journal-json", "ray"]
HEAD_BYTES = 64 << 10
_LINES = 400
_MOSTLY, _HALF, _THIRD = 0.9, 0.5, 1 / 3
_HINT = "what can be read is in docs/importing.md"
_UNPACK_IT = "unpack it, and give what is in it: tar -xf FILE"


def kind_of(file: Path | BinaryIO) -> Kind:
    """The kind of a file. `BadInput`, with a sentence, for empty files, for what is no text, and for unknown text."""
    with Source(file) as source:
        head = source.beginning(HEAD_BYTES)
        if head.startswith((b"PERFILE2", b"2ELIFREP")):
            return "perf-data"
        if is_pprof(head):
            return "pprof"
        if not head and source.cut:
            raise BadInput(f"{source.name} is damaged: nothing of it can be unpacked", "copy it again")
        return kind_of_text(head, source.name)


def kind_of_text(head: bytes, name: str) -> Kind:
    """The kind of a file that begins so."""
    if not head.strip():
        raise BadInput(f"{name} is empty", _HINT)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadInput(f"{name} is text in UTF-16", "save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE")
    if b"\0" in head:
        archive = head[257:262] == b"ustar"
        raise BadInput(
            f"{name} is {'an archive' if archive else 'no text and no perf.data'}", _UNPACK_IT if archive else _HINT
        )
    if is_column_head(head):
        return "folded"
    if head.lstrip()[:1] in (b"{", b"["):
        kind = _json(head)
        if kind is not None:
            return kind
    lines = [line.rstrip(b"\r") for line in head.split(b"\n")[:_LINES]]
    inner = [unwrap(line).line for line in lines]
    counts: dict[Kind, int] = {
        "perf-script": sum(_is_sample(line) for line in lines),
        "ray": sum(ray_lines.parse_line(line).at_ns is not None for line in lines),
        "dmesg": sum(stamps.parse_line(line) is not None for line in inner),
    }
    best = max(counts, key=counts.__getitem__)
    if counts[best]:
        return best
    if head.startswith(b"# ========") or b"\n# ========" in head[:200]:
        return "perf-script"  # a header longer than the head
    content = [line for line in lines[:-1] or lines if not is_comment(line)]
    if sum(map(is_frame, content)) > len(content) * _THIRD or sum(map(is_flat, content)) > len(content) * _MOSTLY:
        return "perf-script"
    if _is_folded(content):
        return "folded"
    if any(stamps.parse_line(line) is not None or stamps.looks_dated(line) for line in lines):
        return "dmesg"  # of a container, or in a language that the importer has to complain about
    raise BadInput(f"{name} is nothing that can be imported", _HINT)


def _is_folded(content: list[bytes]) -> bool:
    """Nearly all lines end in a count; or most of them, and these are stacks of several frames."""
    stacks = [line for line in content if b"\t" not in line and parse_line(line) is not None]
    deep = sum(b";" in line for line in stacks)
    share = len(stacks) / len(content) if content else 0.0
    return share > _MOSTLY or (share > _HALF and deep > _HALF * len(stacks))


def _json(head: bytes) -> Kind | None:
    first = head.split(b"\n", 1)[0]
    if re.match(rb'\s*\{\s*"sysstat"\s*:', head):
        return "mpstat"
    if b'"__REALTIME_TIMESTAMP"' in head:
        return "journal-json"
    if b'"message"' in first and (b'"asctime"' in first or b'"source_type"' in first):
        return "ray"
    return None


def _is_sample(line: bytes) -> bool:
    if line.startswith((b"\t", b"#", b"[")) or len(line) > 4096:
        return False
    found = parse_head(line)
    return found is not None and bool(found.comm)
