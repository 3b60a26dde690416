"""Damage reaches whoever answers somebody, also through readers that keep it to themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.query.events.event_names import find_event
from necroscope.query.events.landmarks import symptoms
from necroscope.store.read.catalog import all_segments
from necroscope.store.read.damage_noticed import notice, noticing
from necroscope.store.read.reader import Store
from stage.everything import fill
from stage.program import Program
from stage.recorded import START_NS


def test_notes_are_kept_once_and_go_outwards() -> None:
    notice(["nobody listens"])
    with noticing() as outer:
        notice(["a"])
        with noticing() as inner:
            notice(["b", "a", "b"])
        notice(["c"])
    assert list(inner) == ["b", "a"]
    assert list(outer) == ["a", "b", "c"]


def test_a_reader_that_drops_its_notes_is_noticed(tmp_path: Path) -> None:
    fill(tmp_path).close(merge=False)
    path = all_segments(tmp_path)[0].file("events")
    path.unlink()
    with noticing() as found:
        find_event(Store(tmp_path).snapshot(), "nic-reset")
        symptoms(Store(tmp_path).snapshot(), (START_NS, START_NS + 10**12))
    assert list(found) == [f"{path} is damaged and left out"]


@pytest.mark.parametrize(
    "verb", [("top",), ("heatmap",), ("flame",), ("why",), ("export", "--format", "folded", "-o", "-")]
)
def test_every_verb_says_so_once(necroscope: Program, tmp_path: Path, verb: tuple[str, ...]) -> None:
    fill(tmp_path).close(merge=False)
    path = all_segments(tmp_path)[-1].file("events")
    path.unlink()
    ran = necroscope(*verb, "--event", "nic-reset", "--store", tmp_path, columns=400)
    said = "".join((ran.out + ran.err).split())  # a story is broken into lines
    assert said.count(f"{path}isdamagedandleftout") == 1
