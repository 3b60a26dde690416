"""The catalogue of roles: `roles.toml`, and what users add in a folder of their own.

A users' entry comes before ours, and takes the place of one of the same id. A broken file is left out with a warning;
everything else stays in force. docs/audit.md describes the fields.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache, lru_cache
from importlib import resources
from typing import Any, get_args

from necroscope.diagnose.hypotheses.catalogue import Warned
from necroscope.vocabulary.conclusions.audit import Role, Workload

_HINT = "docs/audit.md describes the fields; the file is left out until it is mended"
_TEXTS = ("id", "title", "role", "orchestrator")
_LISTS = ("units", "images", "configured")
_KNOWN_ROLES = frozenset(get_args(Role)) - {"unknown"}


@dataclass(frozen=True, slots=True)
class RoleEntry:
    """One kind of unit or container. `configured` are pairs of a path and a word; empty: any content."""

    id: str
    title: str
    role: Role
    units: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    orchestrator: str = ""
    agent: bool = False
    configured: tuple[tuple[str, str], ...] = ()

    def matches(self, workload: Workload) -> bool:
        """Whether a unit or a container is of this kind, by its name or its image's."""
        if workload.unit is not None:
            return bool(self.units and _any_of(self.units).match(workload.unit.name))
        image = bare_image(workload.container.image) if workload.container is not None else ""
        names = (image, image.rpartition("/")[2])
        return bool(self.images) and any(_any_of(self.images).match(name) for name in names)


@dataclass(frozen=True, slots=True)
class Roles:
    """The entries in force, in the order in which they are tried, and the files that were left out."""

    entries: tuple[RoleEntry, ...]
    warnings: tuple[Warned, ...] = ()

    def of(self, workload: Workload) -> RoleEntry | None:
        """The first entry that a workload matches."""
        return next((entry for entry in self.entries if entry.matches(workload)), None)

    @property
    def configured(self) -> tuple[tuple[str, str], ...]:
        """Every file that tells of a configured orchestrator, with the word it must have."""
        return tuple(dict.fromkeys(pair for entry in self.entries for pair in entry.configured))


class BrokenRole(ValueError):
    """What is wrong with an entry."""


def roles_of(files: Sequence[tuple[str, bytes]] = (), unread: Sequence[Warned] = ()) -> Roles:
    """Those of users' files, by name and bytes, the last file first, then ours. A broken file is a warning."""
    own: list[tuple[RoleEntry, ...]] = []
    warnings = list(unread)
    for name, data in files:
        try:
            own.insert(0, parse_roles(data.decode("utf-8")))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError, BrokenRole) as error:
            warnings.append(Warned(name, f"cannot be used: {error}", _HINT))
    entries: dict[str, RoleEntry] = {}
    for one in (*(entry for file in own for entry in file), *_shipped()):
        entries.setdefault(one.id, one)
    return Roles(tuple(entries.values()), tuple(warnings))


def parse_roles(text: str) -> tuple[RoleEntry, ...]:
    """The entries of a file. What is wrong is a `TOMLDecodeError`, or `BrokenRole` that names the entry."""
    tables = tomllib.loads(text)
    rows = tables.get("roles", [])
    if set(tables) - {"roles"} or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BrokenRole("entries are [[roles]], with two brackets")
    found = tuple(_entry(row, number) for number, row in enumerate(rows, 1))
    if len({one.id for one in found}) < len(found):
        raise BrokenRole("an id is there twice")
    return found


def bare_image(image: str) -> str:
    """An image's name without registry, tag and digest: amazon/amazon-ecs-agent."""
    name = image.partition("@")[0]
    head, _, tail = name.rpartition("/")
    name = f"{head}/{tail.partition(':')[0]}" if head else tail.partition(":")[0]
    registry, _, rest = name.partition("/")
    return rest if rest and ("." in registry or ":" in registry or registry == "localhost") else name


@cache
def _shipped() -> tuple[RoleEntry, ...]:
    return parse_roles(resources.files("necroscope.diagnose.audit").joinpath("roles.toml").read_text("utf-8"))


@lru_cache(maxsize=4096)
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)))


def _entry(row: dict[str, Any], number: int) -> RoleEntry:
    name = f"entry {number} ({row.get('id', 'without an id')})"
    if unknown := set(row) - {*_TEXTS, *_LISTS, "agent"}:
        raise BrokenRole(f"{name}: {min(unknown)!r} is unknown")
    if not all(isinstance(row.get(key, ""), str) for key in _TEXTS) or not row.get("id"):
        raise BrokenRole(f"{name}: {', '.join(_TEXTS)} are text, and id must be there")
    if row.get("role") not in _KNOWN_ROLES:
        raise BrokenRole(f"{name}: role is one of {', '.join(sorted(_KNOWN_ROLES))}")
    if not isinstance(row.get("agent", False), bool) or (row.get("agent") and not row.get("orchestrator")):
        raise BrokenRole(f"{name}: agent is true or false, and needs an orchestrator")
    units, images, configured = (_list(row, key, name) for key in _LISTS)
    if not (units or images):
        raise BrokenRole(f"{name}: units or images must be there")
    pairs = tuple((path, word.strip()) for path, _, word in (one.partition(" ") for one in configured))
    if any(not path.startswith("/") for path, _ in pairs):
        raise BrokenRole(f"{name}: configured has absolute paths")
    title, orchestrator = row.get("title", row["id"]), row.get("orchestrator", "")
    return RoleEntry(row["id"], title, row["role"], units, images, orchestrator, row.get("agent", False), pairs)


def _list(row: dict[str, Any], key: str, name: str) -> tuple[str, ...]:
    value = row.get(key, [])
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise BrokenRole(f"{name}: {key} is a list of texts")
    return tuple(value)
