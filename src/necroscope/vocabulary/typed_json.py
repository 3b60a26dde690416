"""Values of declared types as JSON, and back: nothing is read that the types do not declare.

A dataclass is an object of its fields, without those that have their default; a tuple is a list. Reading is strict:
unknown keys, other types, numbers that are not finite or larger than any of ours, and lists and texts that are longer
than any of ours are refused with a `Mismatch` that says where. What a later version adds with a default is absent in
older documents, which therefore stay readable.
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

ITEMS_MOST = 100_000
"""Entries of one list."""
TEXT_MOST = 200_000
"""Characters of one text."""
INTEGER_MOST, NUMBER_MOST = (1 << 62) - 1, 1e18
"""Of either sign: sums and differences of two have room in 64 bits, products of ten in a float."""


class Mismatch(ValueError):
    """What is not as declared; `where` is the path to it."""

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(message)
        self.message, self.where = message, where

    def within(self, step: str) -> Mismatch:
        """The same, seen from one level further out."""
        return Mismatch(self.message, f"{step}{self.where}")


@dataclasses.dataclass(frozen=True, slots=True)
class Form:
    """How values of one type are written, and read."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


Special = Mapping[Any, Form]
"""Types, and fields (a class and a name), that have a form of their own."""
_NOTHING: Special = MappingProxyType({})


def form_of(kind: Any, special: Special = _NOTHING) -> Form:
    """The form of a type: of a dataclass, a tuple, a dictionary by text, a Literal, or one of these or None."""
    if kind in special:
        return special[kind]
    if kind in _PLAIN:
        return _PLAIN[kind]
    if dataclasses.is_dataclass(kind):
        return _object(kind, special)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType) and NoneType in arguments and len(arguments) == 2:
        return optional(form_of(next(one for one in arguments if one is not NoneType), special))
    if origin is Literal:
        return _one_of(arguments)
    if origin is tuple and arguments[-1] is Ellipsis:
        return _list(form_of(arguments[0], special))
    if origin is tuple:
        return _row([form_of(one, special) for one in arguments])
    if origin is dict and arguments[0] is str:
        return _dictionary(form_of(arguments[1], special))
    raise TypeError(f"no form for {kind}")


# -- plain values --------------------------------------------------------------------------------------------


def _text(value: Any) -> str:
    if type(value) is not str:
        raise Mismatch("is not a text")
    if len(value) > TEXT_MOST:
        raise Mismatch("is too long a text")
    return value


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise Mismatch("is not a whole number")
    if not -INTEGER_MOST <= value <= INTEGER_MOST:
        raise Mismatch("is too large a number")
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise Mismatch("is not a number")
    if not math.isfinite(value):
        raise Mismatch("is not a finite number")
    if not -NUMBER_MOST <= value <= NUMBER_MOST:
        raise Mismatch("is too large a number")
    return float(value)


def _unsigned(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 64:
        raise Mismatch("is not a number of 64 bits")
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise Mismatch("is neither true nor false")
    return value


_PLAIN = {
    str: Form(str, _text),
    int: Form(operator.index, _integer),
    float: Form(lambda value: _number(float(value)), _number),
    bool: Form(bool, _flag),
}

UNSIGNED_64 = Form(operator.index, _unsigned)
"""An id."""


# -- values made of others -----------------------------------------------------------------------------------


def optional(inner: Form) -> Form:
    """The form of the same, or None."""
    return Form(
        lambda value: None if value is None else inner.write(value),
        lambda value: None if value is None else inner.read(value),
    )


def _one_of(known: tuple[Any, ...]) -> Form:
    def read(value: Any) -> Any:
        if type(value) is not str or value not in known:
            raise Mismatch("is not one of the words that are known")
        return value

    return Form(lambda value: value, read)


def _list(inner: Form) -> Form:
    return Form(
        lambda values: [inner.write(one) for one in values],
        lambda value: tuple(_each(_entries(value), [inner] * len(value))),
    )


def _row(inner: list[Form]) -> Form:
    def read(value: Any) -> tuple[Any, ...]:
        if len(_entries(value)) != len(inner):
            raise Mismatch(f"has not {len(inner)} entries")
        return tuple(_each(value, inner))

    return Form(lambda values: [form.write(one) for form, one in zip(inner, values, strict=True)], read)


def _each(values: list[Any], forms: list[Form]) -> list[Any]:
    found: list[Any] = []
    try:
        for form, value in zip(forms, values, strict=True):
            found.append(form.read(value))
    except Mismatch as error:
        raise error.within(f"[{len(found)}]") from None
    return found


def _entries(value: Any) -> list[Any]:
    if type(value) is not list:
        raise Mismatch("is not a list")
    if len(value) > ITEMS_MOST:
        raise Mismatch("is too long a list")
    return value


def _dictionary(inner: Form) -> Form:
    def read(value: Any) -> dict[str, Any]:
        keys = [_text(key) for key in _fields_of(value)]
        return dict(zip(keys, _each(list(value.values()), [inner] * len(keys)), strict=True))

    return Form(lambda values: {str(key): inner.write(one) for key, one in values.items()}, read)


def _fields_of(value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise Mismatch("is not an object")
    if len(value) > ITEMS_MOST:
        raise Mismatch("has too many keys")
    return value


def _object(kind: Any, special: Special) -> Form:
    hints = _hints(kind)
    fields = [one for one in dataclasses.fields(kind) if one.init]
    own = {one.name: special.get((kind, one.name)) for one in fields}
    forms = {name: form or form_of(hints[name], special) for name, form in own.items()}
    defaults = {one.name: _default(one) for one in fields}
    needed = [name for name, default in defaults.items() if default is dataclasses.MISSING]

    def write(value: Any) -> dict[str, Any]:
        values = ((name, getattr(value, name)) for name in forms)
        return {name: forms[name].write(one) for name, one in values if not _same(one, defaults[name])}

    def read(value: Any) -> Any:
        found: dict[str, Any] = {}
        for name, one in _fields_of(value).items():
            if name not in forms:
                raise Mismatch(f"has an unknown key {name[:40]!r}")
            try:
                found[name] = forms[name].read(one)
            except Mismatch as error:
                raise error.within(f".{name}") from None
        for name in needed:
            if name not in found:
                raise Mismatch(f"lacks {name!r}")
        return kind(**found)

    return Form(write, read)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _default(one: dataclasses.Field[Any]) -> Any:
    return one.default if one.default_factory is dataclasses.MISSING else one.default_factory()


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)
