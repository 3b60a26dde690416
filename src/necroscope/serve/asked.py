"""What a request asks, from the text of its parameters: typed, bounded, and refused in words when it is nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from necroscope.clock import LAST_NS
from necroscope.errors import BadInput
from necroscope.query.select import Select
from necroscope.vocabulary.event import Window

T = TypeVar("T")
MOST_LISTED = 256
MOST_TEXT = 512


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an endpoint, as OpenAPI tells it. `choices`: nothing else is taken."""

    name: str
    help: str
    kind: str = "string"
    required: bool = False
    choices: tuple[str, ...] = ()
    default: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """The parameters of a request, each at most once."""

    values: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]], parameters: Sequence[Parameter]) -> Asked:
        """Checked against what an endpoint takes."""
        known = {one.name: one for one in parameters}
        values: dict[str, str] = {}
        for name, value in pairs:
            if name not in known:
                raise BadInput(f"There is no parameter {name[:60]!r}.", f"there are: {', '.join(sorted(known))}")
            if name in values:
                raise BadInput(f"{name} is given twice.", "give it once")
            if (choices := known[name].choices) and value not in choices:
                raise BadInput(f"{name} is one of {', '.join(choices)}.", "see /api/v1/openapi.json")
            values[name] = value
        for one in parameters:
            if one.required and one.name not in values:
                raise BadInput(f"{one.name} is missing.", one.help)
        return cls({one.name: values.get(one.name, one.default) for one in parameters})

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    @property
    def window(self) -> Window:
        """`from` and `to`."""
        return window_of(self["from"], self["to"])

    def integer(self, name: str, least: int, most: int) -> int:
        """A whole number within bounds."""
        return _whole(self[name], name, least, most)

    def numbers(self, name: str) -> frozenset[int]:
        """Whole numbers, commas between them."""
        words = _listed(self[name], name)
        return frozenset(_whole(word, name, -1, (1 << 31) - 1) for word in words)

    def words(self, name: str) -> frozenset[str]:
        """Texts as a JSON list."""
        return frozenset(_json_list(self[name], name))

    def text(self, name: str) -> str:
        """A short text."""
        if len(self[name]) > MOST_TEXT:
            raise BadInput(f"{name} is too long.", f"at most {MOST_TEXT} characters")
        return self[name]

    def select(self) -> Select:
        """The samples that are asked for."""
        return Select(
            self.window,
            cpus=self.numbers("cpus"),
            pids=self.numbers("pids"),
            tids=self.numbers("tids"),
            comms=self.words("comms"),
            cgroups=self.words("cgroups"),
        )


def window_of(low: str, high: str) -> Window:
    """A window of UTC nanoseconds, both ends inclusive."""
    window = _whole(low, "from", 0, LAST_NS), _whole(high, "to", 0, LAST_NS)
    if window[1] < window[0]:
        raise BadInput("The window ends before it begins.", "look at from and to")
    return window


def _whole(text: str, name: str, least: int, most: int) -> int:
    try:
        if len(text) > 24 or not text.isascii():
            raise ValueError(text)
        number = int(text)
    except ValueError as error:
        raise BadInput(f"{name} is no whole number.", f"from {least} to {most}") from error
    if not least <= number <= most:
        raise BadInput(f"{name} is out of bounds.", f"from {least} to {most}")
    return number


def _listed(text: str, name: str) -> list[str]:
    words = text.split(",") if text else []
    if len(words) > MOST_LISTED:
        raise BadInput(f"{name} lists too many.", f"at most {MOST_LISTED}")
    return words


def _json_list(text: str, name: str) -> list[str]:
    import json

    if not text:
        return []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name} is no JSON list of texts.", '["/system.slice"]') from error
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found) or len(found) > MOST_LISTED:
        raise BadInput(f"{name} is no JSON list of texts.", f"at most {MOST_LISTED}")
    return found


def as_json(value: Any) -> Any:
    """The value with every text made valid Unicode and numbers that JSON does not know as null."""
    return _mapped(value, _known)


def _known(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str) and not value.isascii():
        from necroscope.show.plain import valid

        return valid(value)
    return value


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return {str(change(str(key))): _mapped(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mapped(item, change) for item in value]
    return change(value)
