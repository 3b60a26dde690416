"""Rows as columns: a frozen dataclass of equally long arrays, cut and joined as one."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Table = TypeVar("Table")


def select(table: Table, rows: NDArray[Any]) -> Table:
    """The rows at these positions, or where the mask is true."""
    return type(table)(*(getattr(table, field.name)[rows] for field in fields(table)))  # type: ignore[arg-type]


def joined(parts: list[Table]) -> Table:
    """All rows of all parts, of which there is at least one."""
    if len(parts) == 1:
        return parts[0]
    names = [field.name for field in fields(parts[0])]  # type: ignore[arg-type]
    return type(parts[0])(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
