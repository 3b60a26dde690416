"""Sealed tables, which others may merge, remove or damage meanwhile: what is bad costs its file and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from necroscope.errors import BadInput
from necroscope.query.stopping import wanted
from necroscope.store.format.sealed_file import UNREADABLE, SealedFile, open_sealed
from necroscope.store.read.catalog import Segment
from necroscope.store.read.damage_noticed import notice

T = TypeVar("T")

_TRIES = 3
_DAMAGED = " is damaged and left out"


def again(look: Callable[[], T]) -> T:
    """What a look finds; when a segment was merged away during it, of another look."""
    for _ in range(_TRIES):
        try:
            return look()
        except FileNotFoundError:
            continue
    raise BadInput("The store changes faster than it can be read.", "ask about a shorter window")


def opened(segment: Segment, table: str, **options: Any) -> SealedFile | None:
    """The file of a table; None when the segment has no rows of it. `FileNotFoundError`: the segment is gone."""
    wanted()
    return open_sealed(segment, table, **options)


@contextmanager
def damage(path: Path, notes: list[str] | None) -> Iterator[None]:
    """Around reading a file: damage ends the block and is noted. Without `notes` it is `BadInput`."""
    try:
        yield
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        if notes is None:
            raise BadInput(f"{path} is damaged.", "move its folder out of the store to go on without it") from error
        if (note := f"{path}{_DAMAGED}") not in notes:
            notes.append(note)
        notice((note,))


def damaged(notes: Iterable[str], *tables: str) -> list[str]:
    """Those notes that are about a damaged file; with `tables`, of one of these."""
    ends = tuple(f"/{table}.parquet{_DAMAGED}" for table in tables) or _DAMAGED
    return [note for note in notes if note.endswith(ends)]
