"""Events: every field counts for the id, and a stored row becomes the event again."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.clock import NS
from necroscope.query.events.landmarks import events
from necroscope.store import inbox
from necroscope.store.format.rows import event_rows
from necroscope.store.format.tables import EVENTS
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import TYPED, Event, event_of
from stage.recorded import START_NS

PLAIN = Event(START_NS, "nic-reset", "kmsg", "eth0", "ena 0000:00:05.0 eth0: reset")
WHOLE = replace(
    PLAIN,
    uncertainty_ns=5,
    cpu=39,
    device="eth0",
    driver="ena",
    queue=5,
    reason="poll-starvation",
    pid=4711,
    task="trainer",
    cgroup=69212712,
    hierarchy=4,
    path="/kubepods/pod1",
    from_ns=START_NS - NS,
    to_ns=START_NS,
    count=3,
    stall_s=6.6,
    boot="6798175c-742c-4267-8b6e-92eb099ecb72",
)
_INTS = st.none() | st.integers(0, (1 << 31) - 1)
_WORDS = st.text(st.characters(codec="utf-8"), max_size=20)
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    column.name: {"word": _WORDS, "float64": st.none() | st.floats(0, 1e9)}.get(column.type, _INTS)
    for column in EVENTS.columns
    if column.later
}


def test_columns_and_fields_are_the_same() -> None:
    assert tuple(one.name for one in fields(Event)) == (*EVENTS.names[1:], "stored_id")
    assert tuple(column.name for column in EVENTS.columns if column.later) == TYPED


def test_ids_are_fixed_for_ever() -> None:
    at_ns = 1_767_323_045_678_901_234
    assert replace(PLAIN, at_ns=at_ns).id == 774757874115093038, "as in format versions 1 and 2"
    assert replace(WHOLE, at_ns=at_ns, from_ns=at_ns, to_ns=at_ns + NS).id == 7407110890271698238


@pytest.mark.parametrize("name", TYPED)
def test_every_field_counts(name: str) -> None:
    assert replace(WHOLE, **{name: getattr(PLAIN, name)}).id != WHOLE.id
    assert replace(PLAIN, **{name: getattr(WHOLE, name)}).id != PLAIN.id


def test_a_value_in_another_field_is_another_event() -> None:
    assert replace(PLAIN, cpu=3).id != replace(PLAIN, queue=3).id
    assert replace(PLAIN, device="a").id != replace(PLAIN, driver="a").id


@given(st.fixed_dictionaries(_VALUES))
def test_a_row_is_the_event(values: dict[str, Any]) -> None:
    event = replace(PLAIN, **values)
    (row,) = event_rows([event]).to_pylist()
    again = event_of(row)
    assert again == event
    assert (again.id, replace(again, stored_id=None).id) == (event.id, event.id)


def test_numbers_that_no_column_holds_are_left_open() -> None:
    (row,) = event_rows([replace(WHOLE, cpu=1 << 31, pid=1 << 63, queue=-(1 << 40), stall_s=1e300)]).to_pylist()
    assert (row["cpu"], row["pid"], row["queue"], row["stall_s"]) == (None, None, None, None)
    assert row["count"] == 3


@pytest.mark.parametrize("how", ["journal", "sealed", "inbox"])
def test_through_a_store(tmp_path: Path, how: str) -> None:
    writer = Writer(tmp_path, flush_s=1e9)
    if how == "inbox":
        inbox.put(tmp_path, WHOLE)
        inbox.put(tmp_path, PLAIN)
    else:
        writer.add_events([WHOLE, PLAIN])
        writer.flush()
    if how == "sealed":
        writer.seal()
    found = events(Store(tmp_path).snapshot(), (START_NS, START_NS))
    writer.close()
    assert sorted(found, key=lambda one: one.count or 0) == [PLAIN, WHOLE]
    assert {one.id for one in found} == {PLAIN.id, WHOLE.id}
