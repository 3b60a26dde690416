"""Which recordings were imported already, so that importing one twice adds nothing.

    STORE/imported/FINGERPRINT.json    {"file": "perf.data", "samples": ..., "whole": true, "segments": [names], ...}

The note is written with `whole` false right before the segments appear, and with `whole` true after it. An import that
was killed in between left some of its segments: the next one finds their names and removes them first. When retention
has taken all of them, the recording may be imported again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from necroscope.store.private_files import make_folder, write_synced
from necroscope.store.read.catalog import Segment, parse_segment, sync_path
from necroscope.store.regular_file import read_regular

_PIECES, _PIECE_BYTES = 64, 4096
_ENDS_BYTES = 1 << 18
# The name of `Note.options` on disk since the first version.
_OPTIONS = "told"


@dataclass(frozen=True, slots=True)
class Note:
    """What is known of an import. `options` is what the user said about the file (when and where it was recorded), as
    text: with other options the file comes out differently."""

    file: str
    samples: int
    segments: tuple[str, ...]
    whole: bool
    options: str = ""


def fingerprint(path: Path) -> str:
    """A name for a file's contents: from its size, its beginning and end, and pieces in between.

    Not every byte is read: two recordings differ nearly everywhere, as every record has its time."""
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        digest = hashlib.blake2b(size.to_bytes(8, "little"), digest_size=16)
        digest.update(os.pread(file.fileno(), _ENDS_BYTES, 0))
        digest.update(os.pread(file.fileno(), _ENDS_BYTES, max(0, size - _ENDS_BYTES)))
        for piece in range(_PIECES):
            digest.update(os.pread(file.fileno(), _PIECE_BYTES, size * piece // _PIECES))
    return digest.hexdigest()


def fingerprint_of_stream(read: Callable[[], Iterable[bytes]]) -> str:
    """The same name for bytes that come one after the other, as those of a packed file. `read` begins anew each time:
    how many there are is known after the first one."""
    size, head, tail = 0, b"", b""
    for block in read():
        size += len(block)
        head += block[: max(0, _ENDS_BYTES - len(head))]
        tail = (tail + block)[-_ENDS_BYTES:]
    digest = hashlib.blake2b(size.to_bytes(8, "little"), digest_size=16)
    digest.update(head)
    digest.update(tail)
    pieces, begin = [b""] * _PIECES, 0
    for block in read():
        for piece in range(_PIECES):
            wanted = size * piece // _PIECES
            pieces[piece] += block[max(0, wanted - begin) : max(0, wanted + _PIECE_BYTES - begin)]
        begin += len(block)
    for one in pieces:
        digest.update(one)
    return digest.hexdigest()


def note_of(store: Path, mark: str) -> Note | None:
    """The note of an earlier import; None when there is none that can be read."""
    try:
        document = json.loads(read_regular(_place(store, mark)))
        segments = tuple(map(str, document["segments"]))
        options = str(document.get(_OPTIONS, ""))
        return Note(str(document["file"]), int(document["samples"]), segments, document["whole"] is True, options)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def still_there(note: Note, segments: Iterable[Segment]) -> bool:
    """Whether any rows of an import are left, in the segments it made or in what these were merged into."""
    made = [one for name in note.segments if (one := parse_segment(Path(name))) is not None]
    return any(
        one.first <= mine.first and mine.last <= one.last and one.overlaps((mine.from_ns, mine.to_ns))
        for one in segments
        for mine in made
    )


def merged(note: Note, segments: Iterable[Segment]) -> bool:
    """Whether rows of an import are in segments together with those of others."""
    segments = list(segments)
    names = {one.path.name for one in segments}
    return still_there(replace(note, segments=tuple(name for name in note.segments if name not in names)), segments)


def take_note(store: Path, mark: str, note: Note) -> None:
    """Remember an import; survives the machine."""
    place = _place(store, mark)
    make_folder(place.parent)
    temporary = place.with_name(f".{place.name}")
    document = asdict(note)
    document[_OPTIONS] = document.pop("options")
    write_synced(temporary, json.dumps(document).encode() + b"\n")
    temporary.rename(place)
    sync_path(place.parent)


def _place(store: Path, mark: str) -> Path:
    return store / "imported" / f"{mark}.json"
