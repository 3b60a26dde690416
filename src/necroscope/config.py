"""What an operator may set: TOML -> frozen values. Every setting has a default that is right for most nodes.

# /etc/necroscope/necroscope.toml
[zombies]
warning = 1000
critical = 10000
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from necroscope.errors import BadInput

DEFAULT_FILE = Path("/etc/necroscope/necroscope.toml")


@dataclass(frozen=True, slots=True)
class ZombieLimits:
    """When zombies are worth waking somebody: how many there are, or how fast they come.

    A few hundred are normal on a busy node. `growth_per_hour` counts only from `growing_from` zombies on.
    """

    warning: int = 1_000
    critical: int = 10_000
    growth_per_hour: int = 60
    growing_from: int = 100
    leaked_directories: int = 500


@dataclass(frozen=True, slots=True)
class CrashLoopLimits:
    """How often something must have restarted to be called a crash loop, and how young it then always is."""

    restarts: int = 5
    young_s: float = 300.0


@dataclass(frozen=True, slots=True)
class CpuLimits:
    """When one core counts as saturated in a look, and a quota as biting."""

    busy: float = 0.97
    throttled_periods: float = 0.25


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be set, by section."""

    zombies: ZombieLimits = field(default_factory=ZombieLimits)
    crash_loop: CrashLoopLimits = field(default_factory=CrashLoopLimits)
    cpu: CpuLimits = field(default_factory=CpuLimits)


def load(path: Path | None = None) -> Config:
    """The settings of a file; without one, those of the default file if it is there, else the defaults."""
    if path is None:
        if not DEFAULT_FILE.is_file():
            return Config()
        path = DEFAULT_FILE
    import tomllib

    try:
        return from_table(tomllib.loads(path.read_text("utf-8")), str(path))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.", "give --config a readable TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not TOML: {error}.", "see docs/configuration.md") from error


def from_table(table: dict[str, Any], name: str) -> Config:
    """A configuration from parsed TOML; unknown or mistyped settings are `BadInput`, never ignored."""
    sections = {section.name: section.default_factory for section in fields(Config)}
    given: dict[str, Any] = {}
    for section, values in table.items():
        kind = sections.get(section)
        if not isinstance(kind, type) or not isinstance(values, dict):
            raise BadInput(f"{name} has an unknown section [{section}].", f"sections are {', '.join(sections)}")
        given[section] = kind(**{key: _value(kind, key, value, name) for key, value in values.items()})
    return Config(**given)


def _value(kind: type, key: str, value: Any, name: str) -> int | float:
    known = {setting.name: setting.default for setting in fields(kind)}
    if key not in known:
        raise BadInput(f"{name} has an unknown setting {key!r}.", f"settings there are {', '.join(known)}")
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise BadInput(f"{name}: {key} must be a number of at least 0.", f"its default is {known[key]}")
    if isinstance(known[key], int) and not isinstance(value, int):
        raise BadInput(f"{name}: {key} must be a whole number.", f"its default is {known[key]}")
    return value
