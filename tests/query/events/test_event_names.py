"""An event is found by its id, by the beginning of it, and by its kind; what nothing is called lists what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.errors import BadInput
from necroscope.query.events.event_names import EventName, find_event, kinds_there, no_such
from necroscope.store.read.reader import Snapshot, Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from stage.recorded import START_NS

RESET = Event(START_NS + 2 * NS, "nic-reset", "kmsg", "eth0", "reset")
LATER = Event(START_NS + 5 * NS, "nic-reset", "kmsg", "eth1", "reset again")
LIVE = Event(START_NS + 9 * NS, "job-failed", "mark", "", "job 7")


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    """Two events in a segment, one in the journal."""
    writer = Writer(tmp_path)
    writer.add_events([RESET, LATER])
    writer.seal()
    writer.add_events([LIVE])
    writer.flush()
    return Store(tmp_path).snapshot()


@pytest.mark.parametrize("event", [RESET, LATER, LIVE])
def test_an_event_by_its_id_and_by_the_beginning_of_it(snapshot: Snapshot, event: Event) -> None:
    for name in (str(event.id), event.short_id, f"{event.id:016x}", f"{event.id:016x}"[:4]):
        found = find_event(snapshot, name)
        assert found is not None
        assert (found.id, found.at_ns, found.kind, found.subject) == (event.id, event.at_ns, event.kind, event.subject)


def test_of_a_kind_the_last(snapshot: Snapshot) -> None:
    found = find_event(snapshot, "nic-reset")
    assert found is not None
    assert (found.at_ns, found.subject) == (LATER.at_ns, "eth1")


@pytest.mark.parametrize("name", ["", "nope", "12345", "9" * 30, "٣", "fff", f"{(RESET.id + 1) % (1 << 64):016x}"])
def test_what_names_none(snapshot: Snapshot, name: str) -> None:
    assert find_event(snapshot, name) is None


def test_the_beginning_of_several_ids_is_none_of_them() -> None:
    one, other = (Event(at, "mark", "mark", stored_id=0xABCD000000000000 + at) for at in (1, 2))
    with pytest.raises(BadInput, match="abcd is the beginning of several ids") as error:
        EventName("abcd").meant([one, other])
    assert "abcd000000000001 (mark)" in error.value.hint
    assert EventName("abcd000000000002").meant([other]) == other


def test_a_kind_comes_before_the_beginning_of_an_id() -> None:
    kind, other = Event(1, "abcd", "mark", stored_id=5), Event(2, "mark", "mark", stored_id=0xABCD << 48)
    assert EventName("abcd").meant([kind, other]) is kind


def test_what_is_there_is_listed_the_nearest_first(snapshot: Snapshot) -> None:
    assert kinds_there(snapshot) == {"nic-reset": 2, "job-failed": 1}
    assert no_such("event", "job-faild", ["cgroup-rmdir", "nic-reset", "job-failed"]).hint == (
        "kinds of events there: job-failed, nic-reset, cgroup-rmdir"
    )
    many = no_such("event", "x", [f"kind-{number:02}" for number in range(20)]).hint
    assert many.endswith("kind-11 and 8 more")
    assert no_such("event", "x", []).hint == "it has no events at all"
