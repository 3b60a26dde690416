"""What was found damaged while a question was answered, wherever that was: no answer may keep it to itself.

Readers tell their callers what they leave out, and here as well, as a caller may have no use for it. Whoever answers
somebody outside collects it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_noticed: ContextVar[dict[str, None] | None] = ContextVar("noticed", default=None)


@contextmanager
def noticing() -> Iterator[dict[str, None]]:
    """The notes of everything that is read within, each once and in order. Those around it get them too."""
    outer, found = _noticed.get(), dict[str, None]()
    token = _noticed.set(found)
    try:
        yield found
    finally:
        _noticed.reset(token)
        if outer is not None:
            outer.update(found)


def notice(notes: Iterable[str]) -> None:
    """Something was left out."""
    found = _noticed.get()
    if found is not None:
        found.update(dict.fromkeys(notes))
