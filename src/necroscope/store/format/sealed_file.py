"""A sealed Parquet file whose bytes are checked before anybody believes them: only the pieces that are read.

The footer is checked when the file is opened, a row group when it is read. Files that are older than manifests have
Parquet's own page checksums checked, which leave footers and page headers out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from necroscope.store.format.manifest import NAME, Damaged, Listed, checksum, manifest_of
from necroscope.store.format.tables import CORE_PEAKS, SEGMENT, SYMPTOMS
from necroscope.store.read import older_events
from necroscope.store.read.catalog import Segment
from necroscope.store.regular_file import open_regular

Columns = Sequence[str] | None

TABLES = tuple(table.name for table in (*SEGMENT, CORE_PEAKS, SYMPTOMS))
"""What a segment or a roll-up may have."""

UNREADABLE = (pa.ArrowException, OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What reading a damaged file of an old store may raise; a sealed one with a manifest raises `Damaged`."""


class SealedFile:
    """A table of a segment. What is read is what was sealed, or `Damaged` is raised."""

    def __init__(self, path: Path, listed: Listed | None, **options: Any) -> None:
        self._path, self._listed = path, listed
        self._fd = open_regular(path)
        self._right: set[int] = set()
        try:
            if listed is not None:
                self._check_end(listed)
            self._file = pq.ParquetFile(path, page_checksum_verification=listed is None, **options)
        except BaseException:
            os.close(self._fd)
            raise
        self.metadata = self._file.metadata
        self.num_row_groups: int = self._file.num_row_groups
        self._older = older_events.lacking(path.stem, self._file.schema_arrow.names)

    @property
    def schema_arrow(self) -> pa.Schema:
        """Names and types of the columns."""
        there = self._file.schema_arrow
        return older_events.with_fields(there) if self._older else there

    def read(self, columns: Columns = None, use_threads: bool = False) -> pa.Table:
        """All rows."""
        self._check(range(self.num_row_groups))
        return self._with_fields(columns, lambda some: self._file.read(columns=some, use_threads=use_threads))

    def read_row_group(self, number: int, columns: Columns = None, use_threads: bool = False) -> pa.Table:
        """The rows of one row group."""
        return self.read_row_groups((number,), columns, use_threads)

    def read_row_groups(self, numbers: Sequence[int], columns: Columns = None, use_threads: bool = False) -> pa.Table:
        """The rows of some row groups."""
        self._check(numbers)
        read = self._file.read_row_groups
        return self._with_fields(columns, lambda some: read(numbers, columns=some, use_threads=use_threads))

    @property
    def verifiable(self) -> bool:
        """Whether a manifest tells what was sealed."""
        return self._listed is not None

    def verify(self) -> None:
        """Check every byte. `Damaged` when one is another."""
        self._check(range(len(self._listed.pieces) if self._listed else 0))

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _with_fields(self, columns: Columns, read: Callable[[Columns], pa.Table]) -> pa.Table:
        if not self._older:
            return read(columns)
        return older_events.filled(read(older_events.needed(columns)), columns)

    def _check_end(self, listed: Listed) -> None:
        if os.fstat(self._fd).st_size != listed.bytes:
            raise Damaged(f"{self._path} does not have the size that it was sealed with")
        self._check((len(listed.pieces) - 1,))

    def _check(self, pieces: Sequence[int]) -> None:
        for piece in pieces:
            if self._listed is not None and piece not in self._right:
                if checksum(self._fd, *self._listed.span(piece)) != self._listed.pieces[piece][1]:
                    raise Damaged(f"{self._path} is not what was sealed")
                self._right.add(piece)


def open_sealed(segment: Segment, table: str, **options: Any) -> SealedFile | None:
    """The file of a table; None when the segment has no rows of it.

    `FileNotFoundError`: the segment is gone. `Damaged`, and others of `UNREADABLE`: the file cannot be believed.
    """
    manifest = manifest_of(segment)
    if manifest is not None and table not in manifest:
        return None
    path = segment.file(table)
    try:
        return SealedFile(path, None if manifest is None else manifest[table], **options)
    except FileNotFoundError as error:
        if not segment.path.exists():
            raise
        if manifest is None:
            return None
        raise Damaged(f"{path} is missing") from error


def damage_of(segment: Segment) -> list[str]:
    """Names of the files of a segment or roll-up that are not what was sealed; every byte is read.

    Of one that is older than manifests, those that cannot be read. A segment that went meanwhile has none.
    """
    try:
        manifest = manifest_of(segment)
    except FileNotFoundError:
        return []
    except OSError:
        return [NAME]
    names = manifest if manifest is not None else [table for table in TABLES if segment.file(table).exists()]
    return [segment.file(name).name for name in names if not _whole(segment, name)]


def _whole(segment: Segment, table: str) -> bool:
    try:
        file = open_sealed(segment, table)
        if file is not None:
            with file:
                if file.verifiable:
                    file.verify()
                else:
                    file.read()
    except FileNotFoundError:
        return True
    except UNREADABLE:
        return not segment.path.exists()
    return True
