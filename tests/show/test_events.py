"""Events in a terminal: whole times, nothing wider than the terminal, nothing that could move a cursor."""

from __future__ import annotations

import pytest

from necroscope.clock import NS, iso
from necroscope.query.cores.patterns import Pattern
from necroscope.query.events.event_list import EventList, ListedEvent
from necroscope.show.events import event_lines, events_document, left_out
from necroscope.vocabulary.event import Event

AT_NS = 1_767_323_045_678_000_000
LONG = Event(AT_NS, "nic-tx-timeout", "kmsg", "eth0", "usecs since napi " * 40, uncertainty_ns=NS)
SHORT = Event(AT_NS + NS, "mark", "mark", "", "deployed")
DEEP = Event(AT_NS + 2 * NS, "unit-failure", "systemd", "/a" * 60, "\x1b[2J")


def _list(*events: Event, patterns: tuple[Pattern, ...] | None = None) -> EventList:
    listed = (ListedEvent(event, iso(event.at_ns), event.kind.startswith("nic")) for event in events)
    return EventList(tuple(listed), {"cgroup-mkdir": 1200}, patterns, ())


@pytest.mark.parametrize("width", [40, 80, 132])
def test_lines_fit_and_times_are_whole(width: int) -> None:
    lines = list(event_lines(_list(LONG, SHORT, DEEP), width))
    assert max(map(len, lines)) <= max(width, 2 + 24 + 2 + 7 + 2 + len("nic-tx-timeout") + 14)
    assert [line[:26] for line in lines if not line.startswith("   ")] == [
        f"▲~{iso(LONG.at_ns)}",
        f"  {iso(SHORT.at_ns)}",
        f"  {iso(DEEP.at_ns)}",
    ]
    assert not any("\x1b" in line for line in lines)


def test_what_does_not_fit_goes_below_and_ends_somewhere() -> None:
    lines = list(event_lines(_list(LONG), 80))
    assert lines[0] == f"▲~{iso(LONG.at_ns)}  {LONG.short_id}  nic-tx-timeout  eth0"
    assert all(line.startswith(" " * 28 + "usecs") or line.strip() for line in lines[1:])
    assert (len(lines), lines[-1][-2:]) == (5, " …")


def test_piped_an_event_is_a_line() -> None:
    lines = list(event_lines(_list(LONG, SHORT)))
    assert len(lines) == 2
    assert lines[0].count("usecs since napi") == 40
    assert lines[1] == f"  {iso(SHORT.at_ns)}  {SHORT.short_id}  mark  deployed"


def test_patterns_stand_among_events_without_an_id() -> None:
    pattern = Pattern("single-core-saturation", AT_NS + 1, AT_NS + NS, 3, "core 3 was full")
    lines = list(event_lines(_list(SHORT, patterns=(pattern,)), 120))
    assert lines[0] == f"  {iso(AT_NS)}  -------  single-core-saturation  cpu 3  core 3 was full"
    assert [one["cpu"] for one in events_document(_list(patterns=(pattern,)))["patterns"]] == [3]
    assert "patterns" not in events_document(_list())


def test_what_is_left_out_is_counted() -> None:
    assert left_out(_list()) == "not shown: 1,200 cgroup-mkdir (--all shows them)"
    assert left_out(EventList((), {}, None, ())) == ""
