"""The mappings of one flush: by process, up to a rank."""

from __future__ import annotations

import numpy as np
import pytest

from necroscope.sense.perf.format.sideband import Mappings
from necroscope.sense.perf.tasks.fresh_mappings import FreshMappings


def _mappings(*rows: tuple[int, int]) -> Mappings:
    """Process and start of each."""
    pids, starts = np.array(rows, np.uint64).reshape(-1, 2).T
    file = np.arange(len(rows), dtype=np.int32)
    return Mappings(starts, pids.astype(np.uint32), starts, starts + np.uint64(16), starts, file)


@pytest.fixture
def fresh() -> FreshMappings:
    """Process 7 has three, of ranks 1, 4 and 9, process 5 one; read in no order."""
    maps = _mappings((7, 900), (5, 500), (7, 100), (7, 400))
    return FreshMappings.of(maps, np.array([9, 2, 1, 4]))


@pytest.mark.parametrize(
    ("pid", "after", "up_to", "starts"),
    [(7, 0, 9, [100, 400, 900]), (7, 1, 4, [400]), (7, 4, 8, []), (7, 9, 99, []), (5, 0, 9, [500]), (6, 0, 9, [])],
)
def test_a_process_has_what_came_after_one_rank_and_up_to_another(
    fresh: FreshMappings, pid: int, after: int, up_to: int, starts: list[int]
) -> None:
    assert fresh.rows(pid, after, up_to)[:, 0].tolist() == starts


def test_later_rows_come_with_their_ranks(fresh: FreshMappings) -> None:
    table, ranks = fresh.rows_and_ranks(7, 1)
    assert (table[:, 0].tolist(), ranks.tolist()) == ([400, 900], [4, 9])
    table, ranks = fresh.rows_and_ranks(6, 0)
    assert (len(table), len(ranks)) == (0, 0)


@pytest.mark.parametrize("maps", [None, _mappings()])
def test_none_at_all(maps: Mappings | None) -> None:
    assert FreshMappings.of(maps, np.zeros(0, np.int64)).rows(7, 0, 9).shape == (0, 4)
