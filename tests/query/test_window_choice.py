"""Which window and samples are chosen, by what was asked for and what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.errors import BadInput
from necroscope.query.select import Wanted
from necroscope.query.window_choice import bundle_window, chosen, nothing_there
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from stage.exported import END_NS, RESET, fill, rows
from stage.recorded import START_NS

FIRST_NS, LAST_NS = rows()[0].at_ns, rows()[-1].at_ns


@pytest.fixture(params=["sealed", "journal", "both"], scope="module")
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    sealed = {"sealed": range(6), "journal": (), "both": (1, 3)}[request.param]
    folder = tmp_path_factory.mktemp("store")
    writer = fill(folder, sealed=sealed)
    yield Store(folder)
    writer.close()


def window(store: Store, **options: object) -> tuple[int, int]:
    return chosen(store, Wanted(**options))[0].window  # type: ignore[arg-type]


def test_without_a_time_it_is_the_last_minute_that_has_samples(store: Store) -> None:
    select, words = chosen(store, Wanted())
    assert select.window == (FIRST_NS, LAST_NS)
    assert select.everything
    assert words.startswith("2026-01-02T03:04:05.000Z to 2026-01-02T03:04:10.966Z (6.0 s")


def test_a_minute_and_no_more_and_marks_do_not_count(tmp_path: Path) -> None:
    writer = fill(tmp_path)
    from stage.recorded import second

    writer.add_samples(second(100))
    writer.add_events([Event(START_NS + 3000 * NS, "mark", "mark", "", "much later")])
    writer.close()
    last_ns = int(second(100).at_ns[-1])
    assert window(Store(tmp_path)) == (last_ns - 60 * NS + 1, last_ns)


def test_from_and_to(store: Store) -> None:
    assert window(store, from_ns=START_NS + 5, to_ns=START_NS + 7) == (START_NS + 5, START_NS + 7)
    assert window(store, from_ns=START_NS + 5) == (START_NS + 5, LAST_NS)
    assert window(store, to_ns=START_NS + 7) == (FIRST_NS, START_NS + 7)
    assert window(store, from_ns=END_NS + NS) == (END_NS + NS, END_NS + NS)


def test_around_an_instant(store: Store) -> None:
    assert window(store, at_ns=START_NS) == (START_NS - 10 * NS, START_NS + 2 * NS)
    assert window(store, at_ns=START_NS, before_s=0.0, after_s=0.25) == (START_NS, START_NS + NS // 4)


@pytest.mark.parametrize("name", [str(RESET.id), "nic-reset"])
def test_around_an_event_by_id_or_the_last_of_a_kind(store: Store, name: str) -> None:
    select, words = chosen(store, Wanted(event=name, before_s=1.0, after_s=0.5))
    assert select.window == (RESET.at_ns - NS, RESET.at_ns + NS // 2)
    assert "around nic-reset eth0" in words


def test_cores_processes_threads_cgroups_events(store: Store) -> None:
    options = Wanted(
        cpus=frozenset({1}), processes=("101", "7"), threads=(102,), cgroups=("/a",), event_types=("cycles",)
    )
    select, words = chosen(store, options)
    assert (select.cpus, select.pids, select.comms) == ({1}, {101, 7}, frozenset())
    assert (select.tids, select.cgroups, select.events) == ({102}, {"/a"}, {"cycles"})
    assert words.endswith("cpu 1, process 101 7, thread 102, cgroup /a, event type cycles")


def test_names_are_those_that_the_kernel_keeps(store: Store) -> None:
    select, _ = chosen(store, Wanted(processes=("kube-controller-manager",)))
    assert select.comms == {"kube-controller-manager", "kube-controller"}
    assert select.pids == frozenset()


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Wanted(from_ns=2, to_ns=1), "ends before it begins"),
        (Wanted(before_s=1.0), "need an instant"),
        (Wanted(at_ns=1, from_ns=1), "exclude each other"),
        (Wanted(at_ns=1, event="x"), "exclude each other"),
        (Wanted(event="x", to_ns=3), "exclude each other"),
        (Wanted(event="12345"), "has no event 12345"),
        (Wanted(event="no-such-kind"), "has no event no-such-kind"),
        (Wanted(event="9" * 40), "has no event"),
        (Wanted(processes=("1", "a")), "pids or names"),
    ],
)
def test_what_cannot_be(store: Store, wanted: Wanted, words: str) -> None:
    with pytest.raises(BadInput, match=words) as error:
        chosen(store, wanted)
    assert error.value.hint


def test_a_store_without_samples(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.add_events([Event(START_NS, "mark", "mark", "", "x")])
    writer.close()
    with pytest.raises(BadInput, match="has no samples"):
        chosen(Store(tmp_path), Wanted())


def test_a_bundle_takes_all_rows_of_the_last_ten_minutes(tmp_path: Path) -> None:
    """Marks count, and there need not be samples."""
    writer = Writer(tmp_path)
    writer.add_events([Event(START_NS + minute * 60 * NS, "mark", "mark", "", "x") for minute in range(15)])
    writer.close()
    store, last_ns = Store(tmp_path), START_NS + 14 * 60 * NS
    found, words = bundle_window(store, Wanted())
    assert found == (last_ns - 600 * NS + 1, last_ns)
    assert words.endswith("the last of the recording")
    assert bundle_window(store, Wanted(from_ns=START_NS + 1))[0] == (START_NS + 1, last_ns)
    assert bundle_window(store, Wanted(to_ns=START_NS + 1))[0] == (START_NS, START_NS + 1)
    assert bundle_window(store, Wanted(at_ns=START_NS, before_s=0.0, after_s=1.0))[0] == (START_NS, START_NS + NS)
    assert nothing_there(store, "now").hint.startswith("it goes from 2026-01-02T03:04:05.000Z")
