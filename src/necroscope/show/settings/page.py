"""The tables of docs/configuration.md, made from the declarations."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any, cast

from necroscope.config.reading import sections
from necroscope.config.setting import about
from necroscope.config.settings import SinkSettings
from necroscope.show.settings.toml import value

_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (10**6, "MB"))
_TIMES = ((86_400, "d"), (3_600, "h"), (60, "min"))


def tables() -> str:
    """One table for each section."""
    parts = [_table(f"`[{name}]`", kind) for name, kind in sections().items()]
    return "\n".join([*parts, _table("`[[sinks]]`", SinkSettings)])


def _table(title: str, kind: type) -> str:
    lines = [f"## {title}", "", "| setting | default | meaning |", "|---|---|---|"]
    lines += [f"| `{one.name}` | {_default(one)} | {about(one).meaning} |" for one in fields(kind)]
    return "\n".join([*lines, ""])


def _default(one: Field[Any]) -> str:
    said, default = about(one), cast(Any, one.default)
    if said.otherwise:
        return said.otherwise
    if said.kind == "size":
        return _in(default, _UNITS)
    if said.kind == "span":
        return f"`{_in(int(default), _TIMES, 's')}`" if default >= 600 else f"{default:g}"
    return str(default) if isinstance(default, int | float) and default is not True else f"`{value(default)}`"


def _in(number: int, units: tuple[tuple[int, str], ...], otherwise: str = "") -> str:
    for size, unit in units:
        if number >= size and number % size == 0:
            return f"{number // size}{unit}" if otherwise else f"{number // size} {unit}"
    return f"{number}{otherwise}"
