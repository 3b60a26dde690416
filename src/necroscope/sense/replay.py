"""Readings that a capture keeps for sensors that ask sockets or kernel memory: values <-> JSON.

`encode` writes any frozen value of ours; `decode` rebuilds it and trusts nothing: a missing or mistyped
field is `Unavailable`, an unknown one (a capture by a newer version) is ignored.
"""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.vocabulary import model
from necroscope.vocabulary.model import Reading

T = TypeVar("T")

_RECORDS = {kind.__name__: kind for kind in get_args(model.Record)}


def replay(host: Host, sensor: str) -> Reading:
    """The reading of `sensor` that the captured host holds."""
    return decode(Reading, host.recorded(sensor))


def encode(value: Any) -> Any:
    """A JSON value. Records carry their type's name, so that a reading can be rebuilt."""
    if is_dataclass(value) and not isinstance(value, type):
        out = {field.name: encode(getattr(value, field.name)) for field in fields(value)}
        return {"is": type(value).__name__, **out} if type(value).__name__ in _RECORDS else out
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    return value


def decode(kind: type[T], value: Any) -> T:
    """Rebuild a value of ours from JSON; `Unavailable` when it does not fit."""
    try:
        return _decode(kind, value)  # type: ignore[no-any-return]
    except (TypeError, ValueError, KeyError, RecursionError) as error:
        raise Unavailable(f"a captured {kind.__name__.lower()} cannot be read", "capture the host again") from error


def _decode(kind: Any, value: Any) -> Any:
    if kind == model.Record:
        return _decode(_RECORDS[value["is"]], value)
    if is_dataclass(kind) and isinstance(kind, type):
        if not isinstance(value, dict):
            raise TypeError(value)
        hints = _hints(kind)
        return kind(**{name: _decode(hints[name], value[name]) for name in hints if name in value})
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        if value is None:
            return _none_allowed(kind)
        return _decode(next(arg for arg in get_args(kind) if arg is not type(None)), value)
    if origin is tuple:
        return _tuple(get_args(kind), value)
    if origin is Literal:
        return _member(get_args(kind), value)
    return _scalar(kind, value)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _none_allowed(kind: Any) -> None:
    if type(None) not in get_args(kind):
        raise TypeError(kind)


def _tuple(inner: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise TypeError(value)
    if len(inner) == 2 and inner[1] is Ellipsis:
        return tuple(_decode(inner[0], item) for item in value)
    return tuple(_decode(kind, item) for kind, item in zip(inner, value, strict=True))


def _member(allowed: tuple[Any, ...], value: Any) -> Any:
    if value not in allowed:
        raise ValueError(value)
    return value


def _scalar(kind: Any, value: Any) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        raise TypeError(value)
    return value
