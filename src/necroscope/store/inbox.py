"""Events from other processes: a file each, put down whole, taken up by whoever writes the store.

    STORE/inbox/ID.json     an Event: {"at_ns": ..., "kind": ..., "source": ..., "subject": ..., "text": ..., ...}

So a mark needs no lock, works while the recorder runs, and waits for the next recorder when none does. Readers see it
at once. An event that was taken up and not yet removed is there twice, under one id, and counts once.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

from necroscope.errors import Unavailable
from necroscope.store.catalog import create, sync_path
from necroscope.store.tables import Event, valid_text

MAX_BYTES = 1 << 16


def put(store: Path, event: Event) -> None:
    """Leave an event for the writer of the store."""
    create(store)
    folder = store / "inbox"
    temporary = folder / f".{event.id}.{os.getpid()}"
    try:
        folder.mkdir(mode=0o750, exist_ok=True)
        temporary.write_text(json.dumps(asdict(event)) + "\n")
        sync_path(temporary)
        temporary.rename(folder / f"{event.id}.json")
    except OSError as error:
        raise Unavailable(f"{folder} cannot be written: {error.strerror}", "run as root, or give --store") from error


def waiting(store: Path) -> list[tuple[Path, Event]]:
    """Events that were put and not yet taken up; files that are no event are passed over."""
    try:
        paths = sorted((store / "inbox").glob("*.json"))
    except OSError:
        return []
    return [(path, event) for path in paths if (event := _read(path)) is not None]


def _read(path: Path) -> Event | None:
    try:
        with path.open("rb") as file:
            fields = json.loads(file.read(MAX_BYTES))
        texts = {name: valid_text(str(fields[name])) for name in ("kind", "source", "subject", "text")}
        return Event(at_ns=int(fields["at_ns"]), uncertainty_ns=int(fields["uncertainty_ns"]), **texts)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
