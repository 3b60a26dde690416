"""The layout of heat maps, computed once: rows, columns and values from 0 to 1, for whoever draws them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from necroscope.clock import NS
from necroscope.vocabulary.event import Window

F64s = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened, at a column (fractions of one are places in it)."""

    column: float
    kind: str
    text: str
    event_id: int


@dataclass(frozen=True, slots=True)
class Grid:
    """Values by row and column; NaN where nothing is known. `column_ns` is how long a column is."""

    rows: tuple[str, ...]
    values: F64s
    from_ns: int
    column_ns: int
    unit: str
    marks: tuple[Mark, ...] = ()

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return int(self.values.shape[1])


def columns_of(window: Window, most: int, least_ns: int = NS) -> tuple[int, int, int]:
    """Where columns begin, how long each is and how many there are: whole multiples of `least_ns`, at most `most`."""
    from_ns = window[0] // least_ns * least_ns
    span = max(1, window[1] + 1 - from_ns)
    column_ns = least_ns * -(-span // (least_ns * max(1, most)))
    return from_ns, column_ns, -(-span // column_ns)
