"""What a reader of a case is asked to look for beyond the starved core itself: who ordered the work that it did."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from necroscope.vocabulary.case import LineUp


def _never(line_up: LineUp) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Orders:
    """Functions by which work of other cores is ordered, as names in which `*` and `?` are wildcards, and whether their
    callers are to be read for a line-up: that takes the samples of all cores."""

    functions: frozenset[str] = frozenset()
    wanted: Callable[[LineUp], bool] = field(default=_never)


class Names:
    """Names of functions, some of them with `*` for anything and `?` for one character. Each name is matched once."""

    def __init__(self, patterns: Iterable[str]) -> None:
        given = sorted(patterns)
        wild = [one for one in given if "*" in one or "?" in one]
        self._exact = frozenset(given) - frozenset(wild)
        self._regex = re.compile("|".join(map(fnmatch.translate, wild))) if wild else None
        self._known: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        found = self._known.get(name)
        if found is None:
            found = name in self._exact or (self._regex is not None and self._regex.match(name) is not None)
            self._known[name] = found
        return found

    def among(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those names that match, each once, in alphabetical order."""
        return tuple(sorted({name for name in names if name in self}))
