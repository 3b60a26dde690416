"""Recordings in which nobody could look, or what was seen is lost: an answer from them is no answer (exit code 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from necroscope.cli.shared.notes import say
from necroscope.errors import Unavailable

if TYPE_CHECKING:
    from necroscope.store.read.reader import Store

INCONCLUSIVE = 3


def refuse_blank(store: Store) -> None:
    """`Unavailable` for a store that somebody wrote and that holds nothing; one that nobody wrote passes."""
    from necroscope.query.unrecorded import nothing_written

    if (missing := nothing_written(store.folder)) is not None:
        raise Unavailable(f"{missing.what[:1].upper()}{missing.what[1:]}.", missing.hint)


def say_unrecorded(store: Store, quiet: bool) -> bool:
    """Say on stderr, unless quiet, what nobody can tell of a recording; whether there is anything."""
    from necroscope.query.sealed import again
    from necroscope.query.unrecorded import unrecorded

    missing = again(lambda: unrecorded(store.folder, store.snapshot(), []))
    say(f"not known: {one.what} ({one.hint})" for one in missing if not quiet)
    return bool(missing)
