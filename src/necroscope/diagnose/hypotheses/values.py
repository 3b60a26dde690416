"""Values of an entry's fields, checked strictly: a mistyped field must not wait for an incident to be noticed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from necroscope.diagnose.hypotheses.hypothesis import PLACEHOLDER, Advice, Check, OrderedBy, Storm
from necroscope.vocabulary.model import MODES
from necroscope.vocabulary.verdict import Remedy

_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_*?]*|\*[A-Za-z0-9_*?]+")
# A command may have braces of the shell's: ${HOME}, {}, {a,b}.
_IN_COMMAND = re.compile(r"(?<!\$)\{(?!subject\})[A-Za-z_][^\s,;{}]*\}")
_SAID = re.compile(r"\{(value|percent)\}")
_FACT = re.compile(r"[a-z][a-z0-9_]{1,79}")
_RELEASE = re.compile(r"\d{1,3}\.\d{1,3}")
_SUBJECTS = ("unit", "container", "process", "cgroup", "device", "cpu", "kernel")


class Broken(ValueError):
    """An entry that is not right: of which table, which entry of it (from 0; None: the file), which key, and why."""

    def __init__(self, message: str, table: str = "", entry: int | None = None, key: str = "") -> None:
        super().__init__(message)
        self.table, self.entry, self.key = table, entry, key


Wrong = Callable[[str, str], Broken]
"""From a key and what is wrong with it to the error."""


def text(key: str, value: Any, wrong: Wrong) -> str:
    """A text."""
    if not isinstance(value, str):
        raise wrong(key, f"{key} must be a text")
    return value


def sentence(key: str, value: Any, wrong: Wrong) -> str:
    """A text with no other placeholders than those that are filled in."""
    if set(_SAID.sub("", text(key, value, wrong))) & set("{}"):
        raise wrong(
            key,
            f"{key} may have {{value}} and {{percent}}, and no other braces",
        )
    return str(value)


def names(key: str, value: Any, wrong: Wrong) -> tuple[str, ...]:
    """Names of functions; wildcards are allowed."""
    found = texts(key, value, wrong)
    for one in found:
        if not _PATTERN.fullmatch(one):
            raise wrong(key, f"{one!r} in {key} is no name of a function (wildcards are * and ?)")
    return found


def some_names(key: str, value: Any, wrong: Wrong) -> tuple[str, ...]:
    """At least one of them."""
    if not (found := names(key, value, wrong)):
        raise wrong(key, f"{key} is empty: it names no function")
    return found


def texts(key: str, value: Any, wrong: Wrong) -> tuple[str, ...]:
    """A list of texts."""
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise wrong(key, f"{key} must be a list of texts")
    return tuple(value)


def fact(key: str, value: Any, wrong: Wrong) -> str:
    """The name of a fact."""
    if not isinstance(value, str) or not _FACT.fullmatch(value):
        raise wrong(key, f"{key} must be the name of a fact")
    return value


def facts(key: str, value: Any, wrong: Wrong) -> tuple[str, ...]:
    """Names of facts."""
    return tuple(fact(key, one, wrong) for one in texts(key, value, wrong))


def modes(key: str, value: Any, wrong: Wrong) -> tuple[str, ...]:
    """What a core's time is spent on."""
    found = texts(key, value, wrong)
    if not set(found) <= set(MODES):
        raise wrong(key, f"{key} is a list of {', '.join(MODES)}")
    return found


def flag(key: str, value: Any, wrong: Wrong) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise wrong(key, f"{key} must be true or false")
    return value


def number(key: str, value: Any, wrong: Wrong) -> float:
    """A number."""
    if not is_number(value):
        raise wrong(key, f"{key} must be a number")
    return float(value)


def part(key: str, value: Any, wrong: Wrong) -> float:
    """A share above 0."""
    if not (is_number(value) and 0 < value <= 1):
        raise wrong(key, f"{key} must be above 0 and at most 1")
    return float(value)


def priority(key: str, value: Any, wrong: Wrong) -> int:
    """A whole number from 0 to 100."""
    if not (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 100):
        raise wrong(key, f"{key} must be a whole number from 0 to 100")
    return value


def one_of(*allowed: str) -> Callable[[str, Any, Wrong], str]:
    """One of these texts."""

    def check(key: str, value: Any, wrong: Wrong) -> str:
        if value not in allowed:
            raise wrong(key, f"{key} must be one of {', '.join(repr(one) for one in allowed)}")
        return str(value)

    return check


def checks(key: str, value: Any, wrong: Wrong) -> tuple[Check, ...]:
    """Facts with their bounds."""
    return tuple(_check(one, key, wrong) for one in tables(key, value, wrong))


def _check(table: dict[str, Any], key: str, wrong: Wrong) -> Check:
    bounds = {name: table[name] for name in ("at_least", "at_most") if name in table}
    if set(table) - {"fact", "because", "at_least", "at_most", "usual"} or not bounds:
        raise wrong(key, f"a check in {key} has fact, because, and at_least or at_most")
    if not isinstance(table.get("fact"), str) or not _FACT.fullmatch(table["fact"]):
        raise wrong(key, f"a check in {key} has no name of a fact")
    if not isinstance(table.get("because"), str) or not table["because"]:
        raise wrong(key, f"the check of {table['fact']} does not say because of what")
    if set(PLACEHOLDER.sub("", table["because"])) & set("{}"):
        raise wrong(
            key, f"`because` of {table['fact']} may have {{value}}, {{percent}} and {{limit}}, and no other braces"
        )
    if not all(is_number(value) for value in bounds.values()):
        raise wrong(key, f"the bounds of {table['fact']} must be numbers")
    usual = flag(f"{key}.usual", table.get("usual", False), wrong)
    return Check(table["fact"], table["because"], usual=usual, **{name: float(value) for name, value in bounds.items()})


def remedies(key: str, value: Any, wrong: Wrong) -> tuple[Advice, ...]:
    """What can be done."""
    return tuple(_advice(one, key, wrong) for one in tables(key, value, wrong))


def _advice(table: dict[str, Any], key: str, wrong: Wrong) -> Advice:
    said = {name: table.get(name, "") for name in ("action", "command", "text", "risk", "cost", "below_kernel")}
    kinds, purges = table.get("for", []), table.get("purges_existing", False)
    if set(table) - {*said, "for", "purges_existing"} or not all(isinstance(one, str) for one in said.values()):
        raise wrong(key, "a remedy has action, text, risk, cost, command, for, below_kernel and purges_existing")
    if not said["action"] or not said["text"] or not said["risk"] or not said["cost"]:
        raise wrong(key, "a remedy needs action, text, risk and cost")
    if not isinstance(kinds, list) or not set(kinds) <= set(_SUBJECTS) or not isinstance(purges, bool):
        raise wrong(key, f"`for` is a list of {', '.join(_SUBJECTS)}; purges_existing is true or false")
    if "{subject}" in said["command"] and not kinds:
        raise wrong(key, "a command with {subject} needs `for`: the kinds of subject it suits")
    if other := _IN_COMMAND.search(said["command"]):
        raise wrong(key, f"{other[0]} in a command is unknown; there is {{subject}}")
    below = said.pop("below_kernel")
    if below and not _RELEASE.fullmatch(below):
        raise wrong(key, "below_kernel is a kernel's release, such as 6.6")
    return Advice(Remedy(**said, purges_existing=purges), tuple(kinds), below)


def storm(key: str, value: Any, wrong: Wrong) -> Storm:
    """How a storm of short-lived processes is known."""
    needed = {"processes": number, "seconds_each": number, "kernel": part}
    return Storm(**_fields(key, value, needed, {"loading": names, "loading_share": part}, wrong))


def ordered_by(key: str, value: Any, wrong: Wrong) -> OrderedBy:
    """By whom work of another core is ordered."""
    others = {"least": part, "own_cgroup": flag, "outside": facts, "outside_share": part, "least_unknown": part}
    made = OrderedBy(**_fields(key, value, {"functions": some_names}, others, wrong))
    if len(made.outside) not in (0, 2):
        raise wrong(key, "outside are two facts: what came from outside, and all of it")
    return made


def _fields(key: str, value: Any, needed: dict[str, Any], others: dict[str, Any], wrong: Wrong) -> dict[str, Any]:
    known = needed | others
    if not isinstance(value, dict) or set(value) - set(known) or set(needed) - set(value):
        raise wrong(key, f"{key} is a table of {', '.join(known)}; {', '.join(needed)} must be there")
    return {name: known[name](f"{key}.{name}", one, wrong) for name, one in value.items()}


def tables(key: str, value: Any, wrong: Wrong) -> list[dict[str, Any]]:
    """A list of tables."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise wrong(key, f"{key} must be a list of tables, {{ ... }}")
    return value


def is_number(value: Any) -> bool:
    """Whether a value is a number that can be compared."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
