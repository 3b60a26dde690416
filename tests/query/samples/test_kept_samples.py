"""Samples that several parts of a question are about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from necroscope.query.profile.profile import Profile, profile
from necroscope.query.remembered import remembering
from necroscope.query.samples import chunks as reading
from necroscope.query.samples.kept_samples import Kept, keeping
from necroscope.query.select import Select
from necroscope.store.read.reader import Store
from stage.incident import SMAPS, Played, at


@pytest.mark.parametrize(
    ("select", "windows", "covered"),
    [
        (Select((10, 20), cpus=frozenset({1})), [(10, 20)], True),
        (Select((10, 20), cpus=frozenset({1, 2})), [(10, 20), (50, 60)], True),
        (Select((10, 20), cpus=frozenset({1, 3})), [(10, 20)], False),
        (Select((10, 20)), [(10, 20)], False),
        (Select((10, 20), cpus=frozenset({1}), pids=frozenset({5})), [(10, 20)], False),
        (Select((10, 20), cpus=frozenset({1})), [(10, 31)], False),
        (Select((10, 20), cpus=frozenset({1})), [(10, 20), (40, 45)], False),
    ],
)
def test_what_is_kept_covers_a_question_or_not(select: Select, windows: list[tuple[int, int]], covered: bool) -> None:
    assert Kept(frozenset({1, 2}), ((5, 30), (50, 60))).covers(select, windows) is covered


@pytest.fixture
def store(tmp_path: Path) -> Store:
    node = Played(3, 60)
    node.usual()
    node.does(1, 40, 46, 0.75, "walker", 9, frames=SMAPS, mode="system", cgroup="/w")
    return node.write(tmp_path)


QUIET = [(at(5), at(10) - 1), (at(20), at(25) - 1)]


def _of(store: Store, cpu: int) -> Profile:
    return profile(store, Select((at(40), at(46) - 1), cpus=frozenset({cpu})), QUIET)


def _rows(made: Profile) -> list[tuple[Any, ...]]:
    counts = made.counts
    columns = (counts.task, counts.stack, counts.window, counts.samples, counts.weight)
    return sorted(
        (str(counts.tasks[task]), counts.stacks[stack], window, samples, weight)
        for task, stack, window, samples, weight in zip(*(one.tolist() for one in columns), strict=True)
    )


def test_a_profile_of_kept_samples_is_the_same_and_segments_are_read_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = [_rows(_of(store, cpu)) for cpu in (0, 1)]
    assert plain[0] != plain[1]
    opened: list[Path] = []
    real = reading.opened

    def counted(segment: Any, table: str, **options: Any) -> Any:
        opened.append(segment.path)
        return real(segment, table, **options)

    monkeypatch.setattr(reading, "opened", counted)
    with remembering(), keeping({0, 1}, [(at(40), at(46) - 1), *QUIET]):
        assert [_rows(_of(store, cpu)) for cpu in (0, 1, 0)] == [*plain, plain[0]]
        assert len(opened) == len(set(opened)) > 1
        # Another core is read for itself.
        assert _rows(_of(store, 2)) != plain[0]
        assert len(opened) == 2 * len(set(opened))


def test_damage_is_told_of_kept_samples_too(store: Store) -> None:
    for segment in store.snapshot().segments:
        path = segment.file("stacks")
        path.write_bytes(path.read_bytes()[:-20])
    with remembering(), keeping({0, 1}, [(at(40), at(46) - 1), *QUIET]):
        made = _of(store, 1)
    assert not made.counts.task.size
    assert all(note.endswith("stacks.parquet is damaged and left out") for note in made.notes)
    assert made.notes
