"""Which importer a file is for, from its first 64 KiB (unpacked). Names of files do not count."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO, Literal

from necroscope.errors import BadInput
from necroscope.sense.importers import log_stamps, ray_lines
from necroscope.sense.importers.log_wrapping import unwrap
from necroscope.sense.importers.script_lines import parse_head
from necroscope.sense.importers.source import Source

Kind = Literal["perf-data", "perf-script", "folded", "mpstat", "dmesg", "journal-json", "ray"]
HEAD_BYTES = 64 << 10
_LINES = 400
_FOLDED = re.compile(rb"[^\t]*[^\s;](?:;[^\t]*)?\s+\d{1,18}(?:\.\d+)?(?:\s+\d{1,18})?\s*")
_HINT = "what can be read is in docs/importing.md"


def kind_of(file: Path | BinaryIO) -> Kind:
    """The kind of a file. `BadInput`, with a sentence, for empty files, for what is no text, and for unknown text."""
    with Source(file) as source:
        head = _head(source)
        if head.startswith((b"PERFILE2", b"2ELIFREP")):
            return _perf_data(source)
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
        raise BadInput(f"{name} is no text and no perf.data", _HINT)
    if head.lstrip()[:1] in (b"{", b"["):
        kind = _json(head)
        if kind is not None:
            return kind
    lines = [line.rstrip(b"\r") for line in head.split(b"\n")[:_LINES]]
    inner = [unwrap(line).line for line in lines]
    counts: dict[Kind, int] = {
        "perf-script": sum(_is_sample(line) for line in lines),
        "ray": sum(ray_lines.parse_line(line).at_ns is not None for line in lines),
        "dmesg": sum(log_stamps.parse_line(line) is not None for line in inner),
    }
    best = max(counts, key=counts.__getitem__)
    if counts[best]:
        return best
    if head.startswith(b"# ========") or b"\n# ========" in head[:200]:
        return "perf-script"  # a header longer than the head
    told = [line for line in lines[:-1] or lines if line.strip() and not line.startswith(b"#")]
    if told and sum(_FOLDED.fullmatch(line) is not None for line in told) > len(told) * 0.9:
        return "folded"
    if any(log_stamps.parse_line(line) is not None or log_stamps.looks_dated(line) for line in lines):
        return "dmesg"  # of a container, or in a language that the importer has to complain about
    raise BadInput(f"{name} is nothing that can be imported", _HINT)


def _perf_data(source: Source) -> Kind:
    if source.packing:
        raise BadInput(f"{source.name} is a packed perf.data", "unpack it first: it is read at many places at once")
    return "perf-data"


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


def _head(source: Source) -> bytes:
    parts: list[bytes] = []
    size = 0
    while size < HEAD_BYTES and (data := source.read(HEAD_BYTES - size)):
        parts.append(data)
        size += len(data)
    return b"".join(parts)
