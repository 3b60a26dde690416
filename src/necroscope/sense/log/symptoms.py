"""The catalogue of complaints: `symptoms.toml`, loaded, and a line of the kernel's log matched against it.

A *kind* says how its lines belong together; a *pattern* recognises one form of line. Matching is cheap and bounded: a
pattern's regular expression runs only on lines that hold its literal, from the line's (or the message's) start, on at
most `LINE_LIMIT` characters.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Literal

from necroscope.vocabulary.symptom_kind import Kind

LINE_LIMIT = 2048

# "ena 0000:20:03.0 eth0: ", "ena 0000:20:03.0: ", "eth0: ", a name also with its state: "eth0 (unregistering): "
_DEVICE = re.compile(
    r"(?:(?P<driver>[A-Za-z][\w.-]{0,39}) (?P<bus>[\w:.-]{1,39}?)(?: (?P<netdev>[^\s:]{1,39})(?: \(\w{1,20}\))?)?"
    r"|(?P<name>[^\s:]{1,39})(?: \(\w{1,20}\))?): ",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One form of line. `part` lines only add to a symptom; a `last` line ends it."""

    kind: Kind
    literal: str
    regex: str
    drivers: tuple[str, ...] = ()
    after: Literal["start", "device"] = "start"
    part: bool = False
    last: bool = False
    constants: tuple[tuple[str, str], ...] = ()
    since: str = ""
    examples: tuple[dict[str, Any], ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Match:
    """What a line says: its pattern and the named values found in it, all as text."""

    pattern: Pattern
    fields: dict[str, str]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Kinds by name, and patterns in the order in which they are tried: the first that fits wins."""

    kinds: dict[str, Kind]
    patterns: tuple[Pattern, ...]

    def match(self, text: str) -> Match | None:
        """The complaint in a line, or None. Never raises, whatever the line."""
        text = text[:LINE_LIMIT]
        prefix: re.Match[str] | None = None
        looked = False
        for pattern in self.patterns:
            if pattern.literal not in text:
                continue
            if pattern.after == "device" and not looked:
                prefix, looked = _DEVICE.match(text), True
            fields = _try(pattern, text, prefix)
            if fields is not None:
                return Match(pattern, fields)
        return None


def _try(pattern: Pattern, text: str, prefix: re.Match[str] | None) -> dict[str, str] | None:
    device: dict[str, str] = {}
    start = 0
    if pattern.after == "device":
        found = _device(pattern, prefix)
        if found is None or prefix is None:
            return None
        device, start = found, prefix.end()
    match = _compiled(pattern.regex).match(text, start)
    if match is None:
        return None
    said = {name: value for name, value in match.groupdict().items() if value and not value.startswith("<")}
    return {**device, **dict(pattern.constants), **said}


def _device(pattern: Pattern, prefix: re.Match[str] | None) -> dict[str, str] | None:
    """Driver and device of a line's prefix, where they suit the pattern.

    A line that names no driver suits patterns of named drivers only: `word: tx timeout` could be anybody's.
    """
    if prefix is None:
        return None
    driver = prefix["driver"] or ""
    netdev = prefix["netdev"] or prefix["name"] or ""
    if driver and pattern.drivers and driver not in pattern.drivers:
        return None
    if not pattern.drivers and not (prefix["driver"] and prefix["netdev"]):
        return None
    if not driver and len(pattern.drivers) == 1:
        driver = pattern.drivers[0]
    named = {"driver": driver, "bus": prefix["bus"] or "", "device": netdev}
    return {name: value for name, value in named.items() if value}


@cache
def _compiled(regex: str) -> re.Pattern[str]:
    # Compiled when first needed: a healthy log needs few of them, and compiling all costs more than reading the log.
    return re.compile(regex, re.ASCII)


# -- loading -----------------------------------------------------------------------------------------


@cache
def catalogue() -> Catalogue:
    """The catalogue that ships with the program."""
    return load(resources.files("necroscope.sense.log").joinpath("symptoms.toml").read_text("utf-8"))


def load(text: str) -> Catalogue:
    """A catalogue from TOML; a mistake in it is a `KeyError`, `TypeError` or `ValueError` that names the entry."""
    tables = tomllib.loads(text)
    kinds = {name: _kind(name, table) for name, table in tables["kinds"].items()}
    return Catalogue(kinds, tuple(_pattern(kinds, table) for table in tables["patterns"]))


def _kind(name: str, table: dict[str, Any]) -> Kind:
    return Kind(**{"name": name, "family": name, **_frozen(table)})


def _pattern(kinds: dict[str, Kind], table: dict[str, Any]) -> Pattern:
    values = _frozen(table)
    constants = tuple(values.pop("set", {}).items())
    return Pattern(**{**values, "kind": kinds[table["kind"]], "constants": constants})


def _frozen(table: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
