"""Events from other processes: a file each, put down whole, taken up by whoever writes the store.

    STORE/inbox/ID.json     an Event: {"at_ns": ..., "kind": ..., "source": ..., "subject": ..., "text": ..., ...},
                            without the fields that it leaves open

So a mark needs no lock, works while the recorder runs, and waits for the next recorder when none does. Readers see it
at once. An event that was taken up and not yet removed is there twice, under one id, and counts once. A file that is
no event is put aside by the writer, as ID.bad.
"""

from __future__ import annotations

import errno
import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from necroscope.clock import LAST_NS
from necroscope.errors import BadInput, Unavailable
from necroscope.store.format.tables import EVENTS, valid_text
from necroscope.store.private_files import make_folder, write_synced
from necroscope.store.read.catalog import create
from necroscope.store.regular_file import is_regular, read_regular
from necroscope.vocabulary.event import TYPED, Event, event_of

MAX_BYTES = 1 << 16
MAX_TEXT = 4_000
MAX_SUBJECT = 1_000
_TYPES = {column.name: column.type for column in EVENTS.columns}
_KIND = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def put(store: Path, event: Event) -> None:
    """Leave an event for the writer of the store; `BadInput` for one that no store would take."""
    _refuse(event)
    folder = store / "inbox"
    temporary = folder / f".{event.id}.{os.getpid()}"
    try:
        create(store)
        make_folder(folder)
        write_synced(temporary, json.dumps(event.fields).encode() + b"\n")
        temporary.rename(folder / f"{event.id}.json")
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        hint = "make room on that disk" if error.errno in _NO_ROOM else "run as root, or give --store"
        raise Unavailable(f"{folder} cannot be written: {error.strerror}", hint) from error


@dataclass(frozen=True, slots=True)
class Waiting:
    """Events that were put and not yet taken up, each with its file, and files that are no event, or not any more."""

    events: tuple[tuple[Path, Event], ...] = ()
    damaged: tuple[Path, ...] = ()


def waiting(store: Path) -> Waiting:
    """What lies in the inbox."""
    try:
        paths = sorted((store / "inbox").glob("*.json"))
    except OSError:
        return Waiting()
    found: list[tuple[Path, Event]] = []
    damaged: list[Path] = []
    for path in paths:
        try:
            found.append((path, _read(path)))
        except OSError:
            continue  # taken up in the meantime, or not ours to read
        except (ValueError, KeyError, TypeError, RecursionError):
            damaged.append(path)
    return Waiting(tuple(found), tuple(damaged))


def _refuse(event: Event) -> None:
    if not 0 <= event.at_ns < LAST_NS:
        raise BadInput("The time is out of range.", "times lie from 1970 to 2261")
    if not _KIND.fullmatch(event.kind):
        raise BadInput(
            f"{event.kind[:64]!r} is no kind of event.", "a kind is a word of at most 64 of a-z, 0-9 and -: job-failed"
        )
    if not event.text.strip():
        raise BadInput("The text is empty.", "say what happened")
    sizes = (
        ("text", event.text, MAX_TEXT),
        ("subject", event.subject, MAX_SUBJECT),
        ("device", event.device, MAX_SUBJECT),
    )
    for name, text, most in sizes:
        if len(text) > most:
            raise BadInput(f"The {name} has {len(text):,} characters; at most {most:,} are kept.", "shorten it")


def _read(path: Path) -> Event:
    """Raises what reading, decoding and checking raise. The name is the id, which tells whether a word was changed."""
    if os.path.lexists(path) and not is_regular(path):
        raise ValueError(f"{path} is no file")
    fields = json.loads(read_regular(path, MAX_BYTES))
    at_ns, uncertainty_ns = (_number(fields[name]) for name in ("at_ns", "uncertainty_ns"))
    texts = {name: _text(fields[name]) for name in ("kind", "source", "subject", "text")}
    typed = {name: _typed(name, fields[name]) for name in TYPED if name in fields}
    event = event_of({"at_ns": at_ns, "uncertainty_ns": uncertainty_ns, **texts, **typed})
    if path.stem != str(event.id):
        raise ValueError(f"{path} is not what was put there")
    return event


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < LAST_NS:
        raise ValueError(f"{value!r:.20} is no number of nanoseconds")
    return value


def _typed(name: str, value: Any) -> Any:
    """A value of a field that an event may leave open."""
    if _TYPES[name] in ("text", "word"):
        return _text(value)
    if _TYPES[name] == "float64" and type(value) is float and 0.0 <= value < LAST_NS:
        return value
    return _number(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.20} is no text")
    return valid_text(value)
