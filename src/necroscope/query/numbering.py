"""Values as places among the different ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

I64s = NDArray[np.int64]
_SMALL = 1 << 22


def numbered(values: NDArray[Any]) -> tuple[I64s, I64s]:
    """Different values, in order, and the place of each value among them: without sorting where they are small."""
    if values.size and int(values.min()) >= 0 and int(values.max()) < _SMALL:
        seen = np.zeros(int(values.max()) + 1, np.bool_)
        seen[values] = True
        found = np.flatnonzero(seen)
        place_of = np.empty(seen.size, np.int64)
        place_of[found] = np.arange(found.size)
        return found, place_of[values]
    # `np.unique` would import masked arrays, for which a flame graph waits a while.
    order = np.argsort(values)
    ordered = values[order]
    fresh = np.ones(values.size, np.bool_)
    fresh[1:] = ordered[1:] != ordered[:-1]
    place = np.empty(values.size, np.int64)
    place[order] = np.cumsum(fresh) - 1
    return ordered[fresh].astype(np.int64), place
