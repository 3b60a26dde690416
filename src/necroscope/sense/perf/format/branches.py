"""Call chains that the CPU itself kept (`--call-graph lbr`): the user's part of a chain, from the branch stack.

    u64 count | u64 hardware index, if asked for | count times: u64 from, u64 to, u64 flags

With `PERF_SAMPLE_BRANCH_CALL_STACK` returns take calls off again: what is left are the calls that are under way, the
innermost first: `to` of the first is the function that runs, `from` of each is where it was called.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.format.layout import CONTEXT_USER
from necroscope.sense.perf.format.walk import spans

I64s = NDArray[np.int64]
U64s = NDArray[np.uint64]
_ENTRY = 3
_USER = np.uint64(CONTEXT_USER)


def with_calls(words: U64s, start: I64s, depth: I64s, first: I64s, calls: I64s) -> tuple[U64s, I64s]:
    """All chains in a row, and how long each is. `start` and `depth` are where the kernel wrote them, `first` where the
    branch stack's entries begin, `calls` how many there are; a chain without a user's part stays as it is."""
    chain = words[spans(start, depth)]
    ends = np.cumsum(depth)
    marks = np.flatnonzero(chain == _USER)
    row, at = np.unique(np.searchsorted(ends, marks, side="right"), return_index=True)
    mark = np.full(depth.size, -1, np.int64)
    mark[row] = marks[at] - (ends - depth)[row]
    has_calls = (mark >= 0) & (calls > 0)
    kept = np.where(has_calls, mark + 1, depth)
    more = np.where(has_calls, calls + 1, 0)
    longer = kept + more
    begins = np.cumsum(longer) - longer
    made = np.empty(int(longer.sum()), np.uint64)
    made[spans(begins, kept)] = words[spans(start, kept)]
    rows = np.flatnonzero(has_calls)
    made[(begins + kept)[rows]] = words[first[rows] + 1]
    entry = spans(np.zeros(rows.size, np.int64), calls[rows])
    made[spans((begins + kept)[rows] + 1, calls[rows])] = words[np.repeat(first[rows], calls[rows]) + _ENTRY * entry]
    return made, longer
