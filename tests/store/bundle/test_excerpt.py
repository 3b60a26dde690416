"""A window of a store is a store: every sum and value of the window is the same, and no other row is in it."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from necroscope.clock import NS
from necroscope.errors import BadInput
from necroscope.query.cores.core_time import core_time
from necroscope.query.sql.engine import Engine
from necroscope.store.bundle import excerpt as excerpts
from necroscope.store.bundle.excerpt import Excerpt, excerpt
from necroscope.store.format.signals import SignalLog
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.model import Sample
from stage.everything import JOB, SECONDS, fill, texts_in
from stage.recorded import START_NS

pytestmark = pytest.mark.slow

QUESTIONS = {
    "samples": "select at_ns, cpu, pid, tid, comm, cgroup, event, weight, frames, modules "
    "from samples join stacks using (stack_id)",
    "signals": "select at_ns, name, labels, value from signals",
    "events": "select id, at_ns, kind, source, subject, text, uncertainty_ns from events",
    "zombies": "select at_ns, parent, zombies from zombies",
    "zombie_names": "select * from zombie_names",
    "units": "select * from units",
    "processes": "select * from processes",
}


def answers(store: Store, window: Window) -> dict[str, Counter[str]]:
    with Engine(store, window) as engine:
        return {table: Counter(map(str, engine.ask(question).rows())) for table, question in QUESTIONS.items()}


def taken(store: Path, window: Window, folder: Path, **options: Any) -> tuple[Store, Excerpt]:
    made = excerpt(Store(store), window, folder, **options)
    return Store(folder), made


EVERYTHING = (0, (1 << 63) - 1 - excerpts.LATER_NS)
WINDOWS = [
    EVERYTHING,
    (START_NS + 1, START_NS + SECONDS * NS),
    (START_NS + 4 * NS, START_NS + 4 * NS),
    (START_NS + int(2.5 * NS), START_NS + int(6.5 * NS)),
    (START_NS + int(7.2 * NS), START_NS + int(8.9 * NS)),
]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("sealed", [(), (2, 5), tuple(range(SECONDS))])
def test_every_answer_about_the_window_is_the_same(tmp_path: Path, window: Window, sealed: tuple[int, ...]) -> None:
    writer = fill(tmp_path / "store", sealed)
    try:
        copy, made = taken(tmp_path / "store", window, tmp_path / "copy")
        expected = answers(Store(tmp_path / "store"), window)
        found = answers(copy, EVERYTHING)
        for table in QUESTIONS:
            assert found[table] == expected[table], table
            if table != "signals":
                assert made.rows.get(table, 0) == expected[table].total()
        spent = [core_time(one.snapshot(), [window]).spent_in(window) for one in (Store(tmp_path / "store"), copy)]
        assert spent[0] == pytest.approx(spent[1])
    finally:
        writer.close()


def test_many_small_segments_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excerpts, "ROWS_A_SEGMENT", 100)
    fill(tmp_path / "store").close(merge=False)
    copy, made = taken(tmp_path / "store", WINDOWS[1], tmp_path / "copy")
    assert made.segments >= 3
    assert answers(copy, EVERYTHING) == answers(Store(tmp_path / "store"), WINDOWS[1])


def test_no_word_of_another_time_is_in_the_files(tmp_path: Path) -> None:
    fill(tmp_path / "store").close()
    taken(tmp_path / "store", (START_NS + 4 * NS, START_NS + 5 * NS - 1), tmp_path / "copy")
    words = texts_in(tmp_path / "copy")
    assert f"/docker/4{JOB[1:]}" in words
    assert not {f"/docker/{other}{JOB[1:]}" for other in (3, 5)} & words


def test_progress_and_a_bound_on_bytes(tmp_path: Path) -> None:
    fill(tmp_path / "store").close()
    progress: list[float] = []
    taken(tmp_path / "store", EVERYTHING, tmp_path / "copy", on_progress=progress.append)
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    with pytest.raises(BadInput, match="too large"):
        taken(tmp_path / "store", EVERYTHING, tmp_path / "copy", most_bytes=1000)


def test_a_damaged_segment_costs_itself_only(tmp_path: Path) -> None:
    fill(tmp_path / "store").close(merge=False)
    broken = sorted(tmp_path.glob("store/segments/*/samples.parquet"))[1]
    broken.write_bytes(broken.read_bytes()[:-100])
    copy, made = taken(tmp_path / "store", EVERYTHING, tmp_path / "copy")
    assert made.notes == [f"{broken.parent} is damaged and left out"]
    assert answers(copy, EVERYTHING)["events"].total() == 6 * 6


def test_a_segment_that_went_away_means_another_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "store").close(merge=False)
    snapshot = Store(tmp_path / "store").snapshot()
    monkeypatch.setattr(Store, "snapshot", lambda self, window=None: snapshot)
    gone = snapshot.segments[0].path
    gone.rename(gone.with_name(".gone"))
    with pytest.raises(FileNotFoundError):
        taken(tmp_path / "store", EVERYTHING, tmp_path / "copy")


_LOOKS = st.lists(
    st.dictionaries(
        st.sampled_from(["a", "b", "c"]),
        st.one_of(st.integers(-5, 5).map(float), st.floats(allow_nan=False, width=32), st.just(1e300)),
    ),
    min_size=1,
    max_size=12,
)


@given(_LOOKS, st.integers(0, 13), st.integers(0, 13), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_values_of_any_window_of_any_signals(
    looks: list[dict[str, float]], low: int, length: int, chance: random.Random
) -> None:
    """Also when the clock was set back, so that the looks of a window are not neighbours."""
    log = SignalLog(5, {}, {})
    expected: Counter[tuple[int, str, float]] = Counter()
    window = (low, low + length)
    for number, values in enumerate(looks):
        at_ns = number if chance.random() < 0.8 else chance.randrange(14)
        source = chance.choice(["x", "y"])
        log.add(at_ns, [Sample(name, value) for name, value in values.items()], source)
        if window[0] <= at_ns <= window[1]:
            expected.update((at_ns, name, value) for name, value in values.items())
    assert Counter(_values(excerpts.cut(log.take(), window))) == expected


def _values(tables: dict[str, Any]) -> list[tuple[int, str, float]]:
    """What the page about the format says that the three tables mean."""
    found = []
    read = {name: table.to_pylist() for name, table in tables.items()}
    for series in read.get("series", []):
        changes = [one for one in read["changes"] if one["series"] == series["series"]]
        for tick in read["ticks"]:
            upto = [one for one in changes if one["tick"] <= tick["tick"]]
            if tick["source"] != series["source"] or not upto:
                continue
            last = max(upto, key=lambda one: one["tick"])
            if last["value"] is not None:
                found.append((tick["at_ns"], series["name"], last["value"]))
            elif last["step"] is not None:
                found.append((tick["at_ns"], series["name"], sum(one["step"] or 0 for one in upto) / series["scale"]))
    return found
