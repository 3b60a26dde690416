"""A question that is given up reads no further file."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.query.extent import extent_of_all
from necroscope.query.profile.profile import profile
from necroscope.query.select import Select
from necroscope.query.stopping import Stopped, stoppable, wanted
from necroscope.store.read.reader import Store
from stage.incidents import INCIDENTS, unpacked


def test_without_a_check_everything_is_wanted() -> None:
    wanted()


def test_a_check_counts_within_its_block_only() -> None:
    def refuse() -> None:
        raise Stopped("enough")

    with pytest.raises(Stopped, match="enough"), stoppable(refuse):
        wanted()
    wanted()


def test_a_profile_stops_at_the_next_file(tmp_path: Path) -> None:
    store = Store(unpacked(INCIDENTS / "hog-5.10-v2.ncb", tmp_path))
    window = extent_of_all(store.snapshot())
    assert window is not None
    asked: list[int] = []

    def second() -> None:
        asked.append(1)
        if len(asked) == 2:
            raise Stopped("gone")

    with pytest.raises(Stopped), stoppable(second):
        profile(store, Select(window))
    assert len(asked) == 2
