"""Which events count where nobody chooses."""

from __future__ import annotations

from pathlib import Path

from necroscope.clock import NS
from necroscope.query.samples.event_kinds import kinds, narrowed, one_kind
from necroscope.query.select import FOLDED, Select
from necroscope.sense.importers.profiles import folded
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from stage.looked import One, batch
from stage.recorded import START_NS

WINDOW = (START_NS, START_NS + NS)


def _store(folder: Path, **counts: int) -> Store:
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    for event, count in counts.items():
        writer.add_samples(batch([One(START_NS + n, event=event.replace("_", "-")) for n in range(count)]))
    writer.seal()
    writer.add_samples(batch([One(START_NS + 5 * NS, event="cycles"), One(START_NS + NS, event="cycles")]))
    writer.flush()
    return Store(folder)


def test_samples_of_a_window_by_event(tmp_path: Path) -> None:
    store = _store(tmp_path, cpu_clock=3, page_faults=2)
    assert kinds(store.snapshot(), WINDOW) == {"cpu-clock": 3, "page-faults": 2, "cycles": 1}
    assert kinds(store.snapshot(), (START_NS + 2 * NS, START_NS + 9 * NS)) == {"cycles": 1}
    assert kinds(store.snapshot(), (0, 1)) == {}


def test_the_more_frequent_kind_counts() -> None:
    assert one_kind({"cpu-clock": 3}) == one_kind({}) == one_kind({"cycles": 1, "ref-cycles": 2}) == (frozenset(), "")
    kept, note = one_kind({"cpu-clock": 3, "task-clock": 1, "cycles:P": 2})
    assert kept == {"cpu-clock", "task-clock"}
    assert note.startswith("samples of cycles:P are left out")


def test_a_selection_becomes_one_of_one_kind(tmp_path: Path) -> None:
    snapshot, notes = _store(tmp_path, cpu_clock=3).snapshot(), list[str]()
    assert narrowed(snapshot, Select(WINDOW), notes).events == {"cpu-clock"}
    assert len(notes) == 1
    chosen = Select(WINDOW, events=frozenset({"cycles"}))
    assert narrowed(snapshot, chosen, notes) == chosen
    assert len(notes) == 1


def test_folded_stacks_count_where_nothing_else_is(tmp_path: Path) -> None:
    assert folded.EVENT == FOLDED
    snapshot = _store(tmp_path, folded=3).snapshot()
    assert narrowed(snapshot, Select((START_NS, START_NS + 9)), []).events == {FOLDED}
    assert narrowed(snapshot, Select(WINDOW), []).events == frozenset()
