"""A window of a recording in a bundle: where its files are in it, and what is checked before anybody reads them.

necroscope/manifest.json             schema, window, whether names were replaced, rows, where it was packed
necroscope/store/format.json         a store, see docs/store-format.md
necroscope/store/segments/NAME/TABLE.parquet, manifest.json
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from necroscope.clock import iso
from necroscope.errors import BadInput
from necroscope.sense.host import RECORDED, Host
from necroscope.store.bundle.archive import MAX_BYTES, SCHEMA, Entry
from necroscope.store.format import manifest
from necroscope.store.format.arrow import schema
from necroscope.store.format.tables import SEGMENT, Table
from necroscope.store.read.catalog import parse_segment
from necroscope.vocabulary.event import Window

if TYPE_CHECKING:
    from necroscope.store.bundle.excerpt import Excerpt
    from necroscope.store.redact.rows import Redactor

# Below what `bundle.unpack` takes, with room for the manifest.
MOST_BYTES = MAX_BYTES - (1 << 20)
# A file says how much it unpacks to; more than this no window has.
MAX_FILE_ROWS = 8_000_000
MAX_FILE_BYTES = 1 << 30
MAX_OTHER_ROWS = 100_000_000

_MANIFEST_BYTES = 1 << 20
_STORE = f"{RECORDED}/store"
_TABLES = {f"{table.name}.parquet": table for table in SEGMENT}


def entries(made: Excerpt, window: Window, redactor: Redactor | None) -> Iterator[Entry]:
    """What goes into the bundle; the manifest comes last."""
    for path in sorted(made.folder.rglob("*")):
        if path.is_file():
            yield Entry(f"{_STORE}/{path.relative_to(made.folder)}", path.read_bytes())
    yield Entry(f"{RECORDED}/manifest.json", json.dumps(_manifest(made, window, redactor)).encode())


def _manifest(made: Excerpt, window: Window, redactor: Redactor | None) -> dict[str, Any]:
    from necroscope.sense.inventory import identify

    here = identify(Host())
    name = here.name if redactor is None else redactor.names.token("host", here.name)
    return {
        "schema": SCHEMA,
        "holds": "recording",
        "window": [iso(window[0]), iso(window[1])],
        "window_ns": list(window),
        "redacted": redactor is not None,
        "packed_on": {"hostname": name, "osrelease": here.kernel},
        "rows": made.rows,
    }


def packed_on(store: Path) -> tuple[str, str]:
    """Name and kernel of the host that packed a store into a bundle; empty for a store that lies elsewhere."""
    manifest = store.parent / "manifest.json"
    try:
        if not manifest.is_file():
            return "", ""
        with manifest.open("rb") as file:
            document = json.loads(file.read(_MANIFEST_BYTES))
        here = document["packed_on"] if document["schema"] == SCHEMA else {}
        return str(here["hostname"]), str(here["osrelease"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "", ""


def is_recording(folder: Path) -> bool:
    """Whether an unpacked bundle holds a recording; else it is a capture of an instant."""
    return _inside(folder).is_dir()


def recording(folder: Path, bundle: Path) -> Path:
    """The store in an unpacked bundle, checked: only files that a window has, of the columns and sizes that it has."""
    if not is_recording(folder):
        raise BadInput(
            f"{bundle} holds one instant of a host, no recording.", f"read it with `necroscope scan --bundle {bundle}`"
        )
    store = _inside(folder)
    others = 0
    for path in sorted(store.rglob("*")):
        if path.is_file() and path != store / "format.json":
            others += _check(path, store, bundle)
    if others > MAX_OTHER_ROWS:
        raise _trap(bundle, "more rows than any window has")
    return store


def _inside(folder: Path) -> Path:
    return folder / _STORE.lstrip("/")


def _check(path: Path, store: Path, bundle: Path) -> int:
    """Refuse a file that no window has. How many rows it has, samples aside."""
    table = _TABLES.get(path.name)
    inside = path.parent.parent == store / "segments" and parse_segment(path.parent) is not None
    if inside and path.name == manifest.NAME and path.stat().st_size <= manifest.MAX_BYTES:
        return 0
    if table is None or not inside:
        raise _trap(bundle, f"{path.name[:60]!r}, which no recording has")
    try:
        with pq.ParquetFile(path) as file:
            metadata, columns = file.metadata, file.schema_arrow
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadInput(f"{bundle} is damaged: its {table.name} cannot be read.", "copy it again") from error
    unpacked = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    if metadata.num_rows > MAX_FILE_ROWS or unpacked > MAX_FILE_BYTES:
        raise _trap(bundle, "more rows than any window has")
    if not _suits(columns, table):
        raise _trap(bundle, f"{table.name} with other columns than a recording has")
    return 0 if table.name == "samples" else int(metadata.num_rows)


def _suits(columns: pa.Schema, table: Table) -> bool:
    """Whether all columns of a table are there. Later versions of this program may have more, earlier ones less."""
    return all(
        columns.field(field.name).type == field.type if field.name in columns.names else field.name in table.later
        for field in schema(table, plain=True)
    )


def _trap(bundle: Path, what: str) -> BadInput:
    return BadInput(f"{bundle} holds {what}.", "it may be a trap, or is of another version; make it again")
