"""Options that take kinds of events, and what the shell completes them with: the kinds of the recording at hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

# Kinds of marks come from anybody: only what is one plain word goes to a shell.
_WORD = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


def event_option(words: str) -> Callable[[F], F]:
    """`--event`, which takes ids and kinds."""
    return click.option("--event", metavar="ID|KIND", shell_complete=complete_kinds, help=words)


def complete_kinds(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Kinds that begin so: those that the program knows, and those of the recording that is asked, where it is read."""
    from necroscope.sense.log.symptoms import catalogue
    from necroscope.vocabulary.event_sentence import OWN_KINDS

    known = {*catalogue().kinds, *OWN_KINDS, *_recorded(context.params.get("store"))}
    return sorted(kind for kind in known if kind.startswith(begun) and _WORD.fullmatch(kind))


def _recorded(store: Path | None) -> set[str]:
    """Kinds in a store; none where there is no store, or it cannot be read: a shell waits for the answer."""
    from necroscope.errors import NecroscopeError
    from necroscope.query.events.event_names import kinds_there
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store

    try:
        return set(kinds_there(Store(to_read(store)).snapshot()))
    except (NecroscopeError, OSError):
        return set()
