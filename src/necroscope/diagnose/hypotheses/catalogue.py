"""The catalogue: `mechanisms.toml` and `rivals.toml`, and what users add in files of their own.

Ours are part of the program, read once as its modules are; users' files are read by `explain.mechanism_files`.
A users' entry with the id of one of ours takes its place. A broken file is left out with a warning that names its line;
everything else stays in force. docs/add-a-mechanism.md says how to add one, docs/mechanisms.md describes every field.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import takewhile
from typing import Any

from necroscope.diagnose.hypotheses import values
from necroscope.diagnose.hypotheses.entry import hypothesis
from necroscope.diagnose.hypotheses.hypothesis import Hypothesis, Sort
from necroscope.diagnose.hypotheses.values import Broken

_HINT = "docs/mechanisms.md describes the fields; the file is left out until it is mended"
_SORTS: tuple[Sort, ...] = ("mechanism", "rival")


@dataclass(frozen=True, slots=True)
class Warned:
    """A file that was left out: where (with the line, if known), what is wrong, and what to do."""

    where: str
    message: str
    hint: str = _HINT


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every hypothesis in force, and what was left out.

    `see_through` are functions that are no leaf: steps of loops, and places where held-back samples land. `measures`
    are facts that shares of a suspect's samples make: the name of the fact, and its functions.
    """

    mechanisms: tuple[Hypothesis, ...]
    rivals: tuple[Hypothesis, ...] = ()
    see_through: frozenset[str] = frozenset()
    measures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[Warned, ...] = ()

    @property
    def titles(self) -> dict[str, str]:
        """What each hypothesis is called in a sentence."""
        return {one.id: one.title for one in (*self.rivals, *self.mechanisms)}

    @property
    def roles(self) -> dict[str, str]:
        """Who is on the core, by the id of a mechanism."""
        return {one.id: one.role for one in self.mechanisms}

    def of(self, identity: str) -> Hypothesis | None:
        """The hypothesis of an id."""
        return next((one for one in (*self.mechanisms, *self.rivals) if one.id == identity), None)

    def nameless(self, kind: str) -> Hypothesis | None:
        """The entry for what no other one names: `user` or `kernel`."""
        return next((one for one in self.mechanisms if one.nameless == kind), None)


@dataclass(frozen=True, slots=True)
class _File:
    """What one file holds."""

    mechanisms: dict[str, Hypothesis] = field(default_factory=dict)
    rivals: dict[str, Hypothesis] = field(default_factory=dict)
    see_through: frozenset[str] = frozenset()
    measures: dict[str, tuple[str, ...]] = field(default_factory=dict)


def catalogue(files: Iterable[tuple[str, bytes]] = (), unread: Iterable[Warned] = ()) -> Catalogue:
    """Ours, then those of users' files, each given by its name and contents; a later one takes the place of an earlier
    id. `unread` are warnings about files that could not be read."""
    found, warnings = [_shipped()], list(unread)
    for name, data in files:
        read = _parsed(name, data)
        if isinstance(read, Warned):
            warnings.append(read)
        else:
            found.append(read)
    return _joined(found, warnings)


def load(text: str, source: str) -> Catalogue:
    """The catalogue of one file. What is wrong is a `TOMLDecodeError`, or `Broken` with the entry and its key."""
    return _joined([_loaded(text, source)], ())


def _joined(files: Sequence[_File], warnings: Sequence[Warned]) -> Catalogue:
    mechanisms: dict[str, Hypothesis] = {}
    rivals: dict[str, Hypothesis] = {}
    measures: dict[str, tuple[str, ...]] = {}
    for one in files:
        mechanisms |= one.mechanisms
        rivals |= one.rivals
        measures |= one.measures
    see_through = frozenset[str]().union(*(one.see_through for one in files))
    return Catalogue(tuple(mechanisms.values()), tuple(rivals.values()), see_through, measures, tuple(warnings))


@cache
def _shipped() -> _File:
    """Ours: the only thing that `diagnose` ever reads, and the same whatever the node is."""
    folder = resources.files("necroscope.diagnose.hypotheses")
    mechanisms = _loaded(folder.joinpath("mechanisms.toml").read_text("utf-8"), "")
    rivals = _loaded(folder.joinpath("rivals.toml").read_text("utf-8"), "")
    return _File(mechanisms.mechanisms, rivals.rivals, mechanisms.see_through, mechanisms.measures)


def _parsed(name: str, data: bytes) -> _File | Warned:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return Warned(name, "is no UTF-8 text")
    try:
        return _loaded(text, name)
    except tomllib.TOMLDecodeError as error:
        return Warned(name, f"is no TOML: {error}")
    except Broken as error:
        line = _line(text, error)
        return Warned(f"{name}, line {line}" if line else name, str(error))


def _loaded(text: str, source: str) -> _File:
    tables = tomllib.loads(text)
    unknown = set(tables) - {"mechanisms", "rivals", "stacks"}
    if unknown:
        raise Broken(f"{min(unknown)!r} is unknown; entries are [[mechanisms]] and [[rivals]]")
    found: dict[Sort, dict[str, Hypothesis]] = {sort: _entries(tables, sort, source) for sort in _SORTS}
    return _File(found["mechanism"], found["rival"], *_stacks(tables.get("stacks", {})))


def _entries(tables: dict[str, Any], sort: Sort, source: str) -> dict[str, Hypothesis]:
    entries = tables.get(f"{sort}s", [])
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise Broken(f"entries are [[{sort}s]], with two brackets")
    found: dict[str, Hypothesis] = {}
    for number, table in enumerate(entries):
        one = hypothesis(table, sort, number, source)
        if one.id in found:
            raise Broken(f"{one.id} is there twice", f"{sort}s", number, "id")
        found[one.id] = one
    return found


def _stacks(table: Any) -> tuple[frozenset[str], dict[str, tuple[str, ...]]]:
    """The functions that are no leaf, and facts that are shares of samples."""

    def wrong(key: str, message: str) -> Broken:
        return Broken(f"stacks: {message}")

    if not isinstance(table, dict) or set(table) - {"see_through", "measures"}:
        raise Broken("stacks is one table, [stacks], of see_through and measures")
    measures = table.get("measures", {})
    if not isinstance(measures, dict):
        raise Broken("stacks.measures is a table of facts with their functions")
    see_through = values.names("see_through", table.get("see_through", []), wrong)
    if patterns := [one for one in see_through if "*" in one or "?" in one]:
        raise wrong("see_through", f"see_through has whole names, no wildcards such as {patterns[0]!r}")
    named = {values.fact("measures", key, wrong): values.some_names(key, one, wrong) for key, one in measures.items()}
    return frozenset(see_through), named


def _line(text: str, error: Broken) -> int | None:
    """The line of an entry's key, else of its header."""
    if error.entry is None:
        return None
    header = re.compile(rf"\s*\[\[\s*{error.table}\s*\]\]")
    lines = text.splitlines()
    headers = [number for number, line in enumerate(lines, 1) if header.match(line)]
    if error.entry >= len(headers):
        return None
    begin = headers[error.entry]
    inside = re.compile(rf"\s*\[\[?\s*{error.table}\s*\.|\s*[^\s\[]|\s*$")
    own = list(takewhile(lambda number: inside.match(lines[number - 1]), range(begin + 1, len(lines) + 1)))
    return next((n for n in own if re.match(rf"\s*{re.escape(error.key)}\s*=", lines[n - 1])), begin)
