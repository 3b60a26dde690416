"""Kinds of starvation: `starvation_kinds.toml`, loaded."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

from necroscope.config import CpuLimits


@dataclass(frozen=True, slots=True)
class Kind:
    """What counts as a starved core. `busy`: None is what the settings say, less `less`."""

    name: str
    seconds: float
    busy: float | None = None
    kernel: float = 0.0
    interrupts: float = 0.0
    waited: float = 0.0
    sampled: bool = False
    less: float = 0.0
    help: str = ""

    def busy_of(self, limits: CpuLimits) -> float:
        """The share of time that a core must be busy."""
        return limits.busy - self.less if self.busy is None else self.busy


@dataclass(frozen=True, slots=True)
class Kinds:
    """Kinds by how they are found: by the cores' counters, by these and who waited, by samples alone."""

    counted: tuple[Kind, ...]
    waited: tuple[Kind, ...]
    sampled: tuple[Kind, ...]

    @classmethod
    def of(cls, kinds: Iterable[Kind]) -> Kinds:
        """Of all kinds, the plainest first."""
        every = tuple(kinds)
        return cls(
            tuple(one for one in every if not one.sampled and not one.waited),
            tuple(one for one in every if not one.sampled and one.waited),
            tuple(one for one in every if one.sampled),
        )


@cache
def kinds() -> Kinds:
    """The kinds that ship with the program."""
    return load(resources.files("necroscope.query.case.cores").joinpath("starvation_kinds.toml").read_text("utf-8"))


def load(text: str) -> Kinds:
    """Kinds from TOML; a mistake in it is a `KeyError`, `TypeError` or `ValueError` that names the entry."""
    return Kinds.of(Kind(**table) for table in tomllib.loads(text)["kinds"])
