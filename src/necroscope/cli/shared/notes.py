"""Words about what could not be read: on stderr, each once, whatever a verb does with them itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import click

_said: ContextVar[list[str] | None] = ContextVar("said", default=None)


def say(notes: Iterable[str]) -> None:
    """Say them now."""
    from necroscope.show.plain import plain

    notes = list(notes)
    for note in notes:
        click.echo(f"necroscope: {plain(note)}", err=True)
    heard(notes)


def heard(notes: Iterable[str]) -> None:
    """They are part of the answer."""
    said = _said.get()
    if said is not None:
        said += notes


@contextmanager
def all_said() -> Iterator[None]:
    """At the end, what was noticed within and neither said nor heard is said."""
    from necroscope.store.read.damage_noticed import noticing

    said: list[str] = []
    token = _said.set(said)
    try:
        with noticing() as found:
            yield
    finally:
        say([note for note in found if not any(note in one for one in said)])
        _said.reset(token)
