"""File and environment -> `Config`. What is not known is refused, with the nearest name that is; never ignored.

    NECROSCOPE_STORE                  the folder of the recording, before `path` of [store]
    NECROSCOPE_SECTION__SETTING       any setting of a section: NECROSCOPE_STORE__MAX_AGE_S=3d, before the file

Two underscores: orchestrators set variables such as NECROSCOPE_METRICS_PORT by themselves, for a service of that name.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from necroscope.config.setting import About, Unfit, about, fitting
from necroscope.config.settings import Config, SinkSettings
from necroscope.errors import BadInput

DEFAULT_FILE = Path("/etc/necroscope/necroscope.toml")
PREFIX, BETWEEN, STORE = "NECROSCOPE_", "__", "NECROSCOPE_STORE"
_MOST_SINKS = 16
_MOST_BYTES = 1 << 20


def load(path: Path | None = None, environment: Mapping[str, str] = os.environ) -> Config:
    """The settings in force: defaults, then the file (the default one where it is there), then the environment."""
    if path is None and DEFAULT_FILE.is_file():
        path = DEFAULT_FILE
    table = parsed(path) if path is not None else {}
    return from_table(_with(table, environment, str(path)), str(path) if path is not None else "the environment")


def parsed(path: Path) -> dict[str, Any]:
    """A file of settings as TOML has it, not looked at yet."""
    try:
        with path.open("rb") as file:
            return tomllib.loads(file.read(_MOST_BYTES).decode())
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.", "give --config a readable TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not TOML: {error}.", "see docs/configuration.md") from error


def from_table(table: Mapping[str, Any], name: str) -> Config:
    """A configuration from parsed TOML; unknown or mistyped settings are `BadInput`, never ignored."""
    kinds = sections()
    given: dict[str, Any] = {}
    for section, values in table.items():
        if section == "labels":
            given[section] = _labels(values, name)
        elif section == "sinks":
            given[section] = _sinks(values, name)
        elif section in kinds and isinstance(values, dict):
            given[section] = _section(kinds[section], section, values, name)
        else:
            raise BadInput(
                f"{name} has an unknown section [{section}].", _nearest(section, (*kinds, "labels", "sinks"))
            )
    return Config(**given)


def sections() -> dict[str, type]:
    """The sections that are tables of settings, by name."""
    kinds = ((one.name, one.default_factory) for one in fields(Config))
    return {name: cast(type, kind) for name, kind in kinds if is_dataclass(kind)}


def _section(kind: type, section: str, values: Mapping[str, Any], name: str) -> Any:
    known = {one.name: one for one in fields(kind)}
    made = {}
    for key, value in values.items():
        if key not in known:
            raise BadInput(f"{name} has an unknown setting {key!r} in [{section}].", _nearest(key, known))
        try:
            made[key] = fitting(value, about(known[key]))
        except Unfit as error:
            default = known[key].default
            hint = f"its default is {default}" if default not in (None, "", ()) else "see docs/configuration.md"
            raise BadInput(f"{name}: {key} in [{section}] {error}.", hint) from error
    return kind(**made)


def _labels(values: Any, name: str) -> Any:
    try:
        return fitting(values, About("words", "labels"))
    except Unfit as error:
        raise BadInput(f"{name}: [labels] {error}.", 'write zone = "eu-1a"') from error


def _sinks(values: Any, name: str) -> tuple[SinkSettings, ...]:
    if not isinstance(values, list) or not all(isinstance(one, dict) for one in values) or len(values) > _MOST_SINKS:
        raise BadInput(f"{name}: sinks must be a list of at most {_MOST_SINKS} tables.", "write [[sinks]]")
    found = tuple(_section(SinkSettings, "sinks", one, name) for one in values)
    for one in found:
        wanted, other = ("command", "url") if one.kind == "command" else ("url", "command")
        if not getattr(one, wanted) or getattr(one, other):
            raise BadInput(f"{name}: a sink of kind {one.kind} needs {wanted}, and no {other}.", "see docs/operate.md")
        if one.url and not one.url.startswith(("http://", "https://")):
            raise BadInput(f"{name}: the url of a sink begins with http:// or https://.", "see docs/operate.md")
        if one.profile and one.kind != "command":
            raise BadInput(f"{name}: only a sink of kind command can be given a profile.", "see docs/operate.md")
    return found


def _with(table: dict[str, Any], environment: Mapping[str, str], name: str) -> dict[str, Any]:
    """The table with what the environment says in place of it."""
    made = {section: dict(values) if isinstance(values, dict) else values for section, values in table.items()}
    for variable, text in sorted(environment.items()):
        section, between, key = variable.removeprefix(PREFIX).partition(BETWEEN)
        if not variable.startswith(PREFIX) or not between:
            continue
        section, key = section.lower(), key if section == "LABELS" else key.lower()
        if section not in (*sections(), "labels"):
            raise BadInput(f"{variable} names no section.", _nearest(section, (*sections(), "labels")))
        _set(made, section, key, text, variable)
    if environment.get(STORE):
        made.setdefault("store", {})["path"] = environment[STORE]
    return made


def _set(table: dict[str, Any], section: str, key: str, text: str, variable: str) -> None:
    part = table.setdefault(section, {})
    if not isinstance(part, dict):
        return  # the file has no table there, which is told when it is looked at
    if section == "labels":
        part[key.lower()] = text
        return
    part[key] = _value(text)
    _section(sections()[section], section, {key: part[key]}, variable)


def _value(text: str) -> Any:
    """A number, a flag or a list as TOML writes it; anything else is text."""
    try:
        found = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return found["value"] if set(found) == {"value"} and not isinstance(found["value"], dict) else text


def _nearest(word: str, known: Iterable[str]) -> str:
    names = list(known)
    near = get_close_matches(word, names, 1, 0.5)
    there = f"there are {', '.join(names)}"
    return f"did you mean {near[0]}? {there}" if near else there
