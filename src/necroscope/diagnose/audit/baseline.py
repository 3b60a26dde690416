"""A golden image as a list, and how a node differs from it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from necroscope.errors import BadInput
from necroscope.vocabulary.conclusions.audit import ON, Deviation, Workload
from necroscope.vocabulary.model import Subject

SCHEMA = "necroscope.baseline/1"
_HINT = "write one on the golden image: `necroscope audit --write-baseline FILE`"
# systemd makes these by itself, from what it finds.
_MADE = ("generated", "transient", "")


@dataclass(frozen=True, slots=True)
class Listed:
    """One unit or container of the image: `on` says that a boot starts it."""

    kind: str
    name: str
    on: bool
    state: str


def listed(workloads: Iterable[Workload]) -> list[Listed]:
    """What a baseline is made of: unit files and containers, by name."""
    found = []
    for one in workloads:
        if one.unit is not None and one.unit.unit_file_state not in _MADE:
            state = one.unit.unit_file_state.removesuffix("-runtime")
            found.append(Listed("unit", one.name, one.unit.unit_file_state in ON, state))
        elif one.container is not None:
            found.append(Listed("container", one.name, True, one.container.image))
    return sorted(found, key=lambda one: (one.kind != "unit", one.name))


def parse_baseline(text: str, name: str) -> list[Listed]:
    """A baseline's entries; `BadInput` names what is wrong with the file."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{name} is not TOML: {error}.", _HINT) from error
    if table.get("schema") != SCHEMA:
        raise BadInput(f"{name} is no baseline: its schema is not {SCHEMA}.", _HINT)
    found = []
    for kind in ("unit", "container"):
        for row in table.get(kind, []):
            if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in ("name", "state")):
                raise BadInput(f"{name}: each [[{kind}]] has a name and a state.", _HINT)
            found.append(Listed(kind, row["name"], kind == "container" or row["state"] in ON, row["state"]))
    return found


def deviations(baseline: Iterable[Listed], workloads: Iterable[Workload]) -> tuple[Deviation, ...]:
    """What a node has, lacks, starts or does not start other than the image."""
    every = list(workloads)
    before = {(one.kind, one.name): one for one in baseline}
    now = {(one.kind, one.name): one for one in listed(every)}
    active = {one.name for one in every if one.active}
    return (*_added(before, now, active), *_changed(before, now))


_Index = dict[tuple[str, str], Listed]


def _added(before: _Index, now: _Index, active: set[str]) -> Iterator[Deviation]:
    for key, one in now.items():
        if key not in before and (one.on or one.name in active):
            how = "which a boot starts" if one.on else "which runs now"
            yield Deviation("added", _subject(one), f"is not in the golden image, {how} ({one.state})")


def _changed(before: _Index, now: _Index) -> Iterator[Deviation]:
    for key, was in before.items():
        one = now.get(key)
        if one is None and was.on:
            yield Deviation("missing", _subject(was), f"was {was.state} in the golden image, and is not here")
        elif one is not None and one.on != was.on:
            text = f"was {was.state} in the golden image, and is {one.state}"
            yield Deviation("enabled" if one.on else "disabled", _subject(one), text)
        elif one is not None and one.kind == "container" and one.state != was.state:
            yield Deviation("enabled", _subject(one), f"had the image {was.state}, and has {one.state}")


def _subject(one: Listed) -> Subject:
    return Subject("unit" if one.kind == "unit" else "container", one.name)
