"""The catalogue of mechanisms: `mechanisms.toml`, and what users add in folders of their own.

A users' entry with the id of one of ours takes its place. A broken file is left out with a warning that names its
line; everything else stays in force. docs/mechanisms.md describes the fields.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from necroscope.diagnose.mechanism import PLACEHOLDER, Advice, Check, Judged, Match, Mechanism, judge, match
from necroscope.verdict import Remedy

__all__ = ["Advice", "Catalogue", "Check", "Judged", "Match", "Mechanism", "Warned", "judge", "match"]
__all__ += ["catalogue", "load", "mechanisms"]

DEFAULT = (Path("/etc/necroscope/mechanisms.d"),)
_ID = re.compile(r"[a-z][a-z0-9-]{1,39}")
_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_*?]*|\*[A-Za-z0-9_*?]+")
# A command may have braces of the shell's: ${HOME}, {}, {a,b}.
_IN_COMMAND = re.compile(r"(?<!\$)\{(?!subject\})[A-Za-z_][^\s,;{}]*\}")
_FACT = re.compile(r"[a-z][a-z0-9_]{1,79}")
_HEADER = re.compile(r"\s*\[\[\s*mechanisms\s*\]\]")
_NAMES = ("functions", "leaves", "within", "without")
_KINDS = ("unit", "container", "process", "cgroup", "device", "cpu", "kernel")
_HINT = "docs/mechanisms.md describes the fields; the file is left out until it is mended"
_FILE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Warned:
    """A file that was left out: where (with the line, if known), what is wrong, and what to do."""

    where: str
    message: str
    hint: str = _HINT


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every mechanism in force, and what was left out."""

    mechanisms: tuple[Mechanism, ...]
    warnings: tuple[Warned, ...] = ()


class Broken(ValueError):
    """An entry that is not right: which entry (counted from 0; None: the file), which key, and what is wrong."""

    def __init__(self, message: str, entry: int | None = None, key: str = "") -> None:
        super().__init__(message)
        self.entry, self.key = entry, key


def mechanisms(folders: Sequence[Path] = DEFAULT) -> tuple[Mechanism, ...]:
    """Every mechanism in force."""
    return catalogue(folders).mechanisms


def catalogue(folders: Sequence[Path] = DEFAULT) -> Catalogue:
    """Ours, then those of each folder's `*.toml` files by name; a later one takes the place of an earlier id."""
    known = {one.id: one for one in _shipped()}
    warnings: list[Warned] = []
    for folder in folders:
        try:
            files = sorted(path for path in folder.glob("*.toml") if path.is_file()) if folder.is_dir() else []
        except OSError as error:
            warnings.append(Warned(str(folder), f"cannot be read: {error.strerror}", "make it readable"))
            continue
        for path in files:
            read = _read(path)
            if isinstance(read, Warned):
                warnings.append(read)
            else:
                known |= {one.id: one for one in read}
    return Catalogue(tuple(known.values()), tuple(warnings))


@cache
def _shipped() -> tuple[Mechanism, ...]:
    return load(resources.files("necroscope.diagnose").joinpath("mechanisms.toml").read_text("utf-8"), "")


def _read(path: Path) -> tuple[Mechanism, ...] | Warned:
    try:
        with path.open("rb") as file:
            data = file.read(_FILE_BYTES + 1)
        if len(data) > _FILE_BYTES:
            return Warned(str(path), f"is larger than {_FILE_BYTES:,} bytes", "split it")
        text = data.decode("utf-8")
    except OSError as error:
        return Warned(str(path), f"cannot be read: {error.strerror}", "make it readable")
    except UnicodeDecodeError:
        return Warned(str(path), "is no UTF-8 text")
    try:
        return load(text, str(path))
    except tomllib.TOMLDecodeError as error:
        return Warned(str(path), f"is no TOML: {error}")
    except Broken as error:
        line = _line(text, error)
        return Warned(f"{path}, line {line}" if line else str(path), str(error))


def load(text: str, source: str) -> tuple[Mechanism, ...]:
    """Mechanisms from TOML. What is wrong is a `TOMLDecodeError`, or `Broken` with the entry and its key."""
    tables = tomllib.loads(text)
    unknown = set(tables) - {"mechanisms"}
    if unknown:
        raise Broken(f"{min(unknown)!r} is unknown; entries are [[mechanisms]]")
    entries = tables.get("mechanisms", [])
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise Broken("entries are [[mechanisms]], with two brackets")
    found: dict[str, Mechanism] = {}
    for number, table in enumerate(entries):
        one = _mechanism(table, number, source)
        if one.id in found:
            raise Broken(f"{one.id} is there twice", number, "id")
        found[one.id] = one
    return tuple(found.values())


# -- one entry -------------------------------------------------------------------------------------------


def _mechanism(table: dict[str, Any], number: int, source: str) -> Mechanism:
    def wrong(key: str, message: str) -> Broken:
        return Broken(f"{table.get('id', 'an entry')}: {message}", number, key)

    known = {one.name: one for one in fields(Mechanism)}
    accepted = set(known) - {"advice", "source"} | {"remedies"}
    for key in table:
        if key not in accepted:
            raise wrong(key, f"{key!r} is unknown; keys are {', '.join(sorted(accepted))}")
    for key in ("id", "title", "expensive", "references"):
        if not table.get(key):
            raise wrong(key, f"{key} is missing")
    made: dict[str, Any] = {"source": source}
    for key, value in table.items():
        made["advice" if key == "remedies" else key] = _value(key, value, wrong)
    return Mechanism(**made)


_Wrong = Callable[[str, str], Broken]


def _value(key: str, value: Any, wrong: _Wrong) -> Any:
    """One field, checked: a mistyped field must not wait for an incident to be noticed."""
    if key in ("confirm", "refute"):
        return tuple(_check(one, key, wrong) for one in _tables(value, key, wrong))
    if key == "remedies":
        return tuple(_advice(one, wrong) for one in _tables(value, key, wrong))
    if key in (*_NAMES, "references"):
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            raise wrong(key, f"{key} must be a list of texts")
        for one in value if key in _NAMES else ():
            if not _PATTERN.fullmatch(one):
                raise wrong(key, f"{one!r} in {key} is no name of a function (wildcards are * and ?)")
        return tuple(value)
    return _plain(key, value, wrong)


def _plain(key: str, value: Any, wrong: _Wrong) -> Any:
    allowed: dict[str, tuple[str, ...]] = {
        "role": ("culprit", "walker", "kernel"),
        "grows": ("", "zombies", "directories"),
    }
    if key in allowed and value not in allowed[key]:
        raise wrong(key, f"{key} must be one of {', '.join(repr(one) for one in allowed[key])}")
    if key == "least_share" and not (_number(value) and 0 < value <= 1):
        raise wrong(key, "least_share must be above 0 and at most 1")
    if key == "priority" and not (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 100):
        raise wrong(key, "priority must be a whole number from 0 to 100")
    if key == "needs_kernel_time" and not isinstance(value, bool):
        raise wrong(key, "needs_kernel_time must be true or false")
    if key in ("id", "title", "expensive") and not isinstance(value, str):
        raise wrong(key, f"{key} must be a text")
    if key == "id" and not _ID.fullmatch(value):
        raise wrong(key, "an id is of small letters, digits and hyphens, at most 40")
    return float(value) if key == "least_share" else value


def _tables(value: Any, key: str, wrong: _Wrong) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise wrong(key, f"{key} must be a list of tables, {{ ... }}")
    return value


def _check(table: dict[str, Any], key: str, wrong: _Wrong) -> Check:
    bounds = {name: table[name] for name in ("at_least", "at_most") if name in table}
    if set(table) - {"fact", "because", "at_least", "at_most"} or not bounds:
        raise wrong(key, f"a check in {key} has fact, because, and at_least or at_most")
    if not isinstance(table.get("fact"), str) or not _FACT.fullmatch(table["fact"]):
        raise wrong(key, f"a check in {key} has no name of a fact")
    if not isinstance(table.get("because"), str) or not table["because"]:
        raise wrong(key, f"the check of {table['fact']} does not say because of what")
    if set(PLACEHOLDER.sub("", table["because"])) & set("{}"):
        raise wrong(
            key, f"`because` of {table['fact']} may have {{value}}, {{percent}} and {{limit}}, and no other braces"
        )
    if not all(_number(value) for value in bounds.values()):
        raise wrong(key, f"the bounds of {table['fact']} must be numbers")
    return Check(table["fact"], table["because"], **{name: float(value) for name, value in bounds.items()})


def _advice(table: dict[str, Any], wrong: _Wrong) -> Advice:
    texts = {name: table.get(name, "") for name in ("action", "command", "text", "risk", "cost")}
    kinds, purges = table.get("for", []), table.get("purges_existing", False)
    if set(table) - {*texts, "for", "purges_existing"} or not all(isinstance(one, str) for one in texts.values()):
        raise wrong("remedies", "a remedy has action, text, risk, cost, command, for and purges_existing")
    if not texts["action"] or not texts["text"] or not texts["risk"] or not texts["cost"]:
        raise wrong("remedies", "a remedy needs action, text, risk and cost")
    if not isinstance(kinds, list) or not set(kinds) <= set(_KINDS) or not isinstance(purges, bool):
        raise wrong("remedies", f"`for` is a list of {', '.join(_KINDS)}; purges_existing is true or false")
    if "{subject}" in texts["command"] and not kinds:
        raise wrong("remedies", "a command with {subject} needs `for`: the kinds of subject it suits")
    if other := _IN_COMMAND.search(texts["command"]):
        raise wrong("remedies", f"{other[0]} in a command is unknown; there is {{subject}}")
    return Advice(Remedy(**texts, purges_existing=purges), tuple(kinds))


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _line(text: str, error: Broken) -> int | None:
    """The line of an entry's key, else of its header."""
    if error.entry is None:
        return None
    lines = text.splitlines()
    headers = [number for number, line in enumerate(lines, 1) if _HEADER.match(line)]
    if error.entry >= len(headers):
        return None
    begin, *rest = headers[error.entry :]
    own = range(begin, rest[0] if rest else len(lines) + 1)
    return next((n for n in own if re.match(rf"\s*{re.escape(error.key)}\s*=", lines[n - 1])), begin)
