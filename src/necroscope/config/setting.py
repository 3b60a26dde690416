"""What one setting is: a field of a frozen section with its kind, its bounds and its meaning, declared once.

Kinds, and how a file may write them:

    count     a whole number                    97
    number    a number                          0.25
    flag      true or false
    text      a string
    texts     a list of strings                 ["gpu", "nic"]
    words     strings by name                   { zone = "eu-1a" }
    size      bytes, or a string with a unit    "20GiB", "250MB"
    span      seconds, or a string with a unit  "7d", "90s", "500ms"

A setting whose default is None is found out on the node when it is not set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field
from math import isnan
from typing import Any, Literal

Kind = Literal["count", "number", "flag", "text", "texts", "words", "size", "span"]

_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")
_SIZES = {"": 1, "B": 1, "kB": 1_000, "KB": 1_000, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZES |= {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_SPANS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")
_MOST_CHARACTERS = 4_096


@dataclass(frozen=True, slots=True)
class About:
    """What a setting is, beside its name and default. `otherwise` says what holds where it is not set."""

    kind: Kind
    meaning: str
    least: float = 0
    most: float | None = None
    choices: tuple[str, ...] = ()
    otherwise: str = ""


def setting(default: Any, kind: Kind, meaning: str, **more: Any) -> Any:
    """Declare a field of a section."""
    made = About(kind, meaning, **more)
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata={"about": made})
    return field(default=default, metadata={"about": made})


def about(one: Field[Any]) -> About:
    """What was declared of a field."""
    found: About = one.metadata["about"]
    return found


class Unfit(Exception):
    """A value that a setting cannot have; says what it must be."""


def fitting(value: Any, of: About) -> Any:
    """The value as the section keeps it. Raises `Unfit`."""
    made = _READ[of.kind](value)
    if of.choices and made not in of.choices:
        raise Unfit(f"must be one of {', '.join(of.choices)}")
    if of.kind in _NUMERIC and (made < of.least or (of.most is not None and made > of.most)):
        raise Unfit(_bounds(of))
    return made


def _bounds(of: About) -> str:
    most = f" and at most {of.most:g}" if of.most is not None else ""
    return f"must be {_CALLED[of.kind]} of at least {of.least:g}{most}"


def _count(value: Any) -> int:
    if isinstance(value, float):
        raise Unfit("must be a whole number")
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unfit(f"must be {_CALLED['count']} of at least 0")
    return value


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or isnan(value):
        raise Unfit("must be a number of at least 0")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Unfit("must be true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _MOST_CHARACTERS or "\0" in value:
        raise Unfit(f"must be a string of at most {_MOST_CHARACTERS:,} characters")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > 256:
        raise Unfit("must be a list of strings")
    return tuple(_text(one) for one in value)


def _words(value: Any) -> Mapping[str, str]:
    if not isinstance(value, dict) or len(value) > 64:
        raise Unfit("must be names with strings")
    for name in value:
        if not _LABEL.fullmatch(name):
            raise Unfit(f"has the name {name[:64]!r}: names are letters, digits and _")
    return {name: _text(one) for name, one in value.items()}


def _quantity(value: Any, units: Mapping[str, float], called: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    match = _QUANTITY.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or match[2] not in units:
        raise Unfit(f"must be {called}")
    return float(match[1]) * units[match[2]]


def _size(value: Any) -> int:
    return int(_quantity(value, _SIZES, _CALLED["size"]))


def _span(value: Any) -> float:
    return float(_quantity(value, _SPANS, _CALLED["span"]))


_NUMERIC: tuple[Kind, ...] = ("count", "number", "size", "span")
_CALLED: Mapping[Kind, str] = {
    "count": "a number",
    "number": "a number",
    "size": "bytes, or a size as 20GiB",
    "span": "seconds, or a time as 7d or 90s",
}
_READ: Mapping[Kind, Callable[[Any], Any]] = {
    "count": _count,
    "number": _number,
    "flag": _flag,
    "text": _text,
    "texts": _texts,
    "words": _words,
    "size": _size,
    "span": _span,
}
