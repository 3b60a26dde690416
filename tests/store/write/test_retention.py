"""What goes, and in which order: too old first, then the oldest, windows around symptoms last."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from necroscope.clock import NS, iso
from necroscope.store.format.rows import event_rows
from necroscope.store.format.segment import write_segment
from necroscope.store.read.catalog import Segment
from necroscope.store.read.reader import Store
from necroscope.store.write.retention import (
    DISK_CROWDED,
    GIB,
    OLD,
    STORE_FULL,
    Disk,
    Kept,
    Removal,
    Retention,
    disk_of,
    hours_held,
    near_symptom,
    symptom_times,
    to_remove,
)
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event, event_of
from necroscope.vocabulary.event_sentence import sentence
from stage.recorded import START_NS, second

ROOMY = Disk(1000 * GIB, 500 * GIB)
HOUR = 3600 * NS


def kept(number: int, size: int = 100, near: bool = False) -> Kept:
    """Segments of an hour each, from the first hour on."""
    return Kept(Segment(number, number, number * HOUR, (number + 1) * HOUR - 1, Path(str(number))), size, near)


def numbers(going: list[Removal]) -> list[int]:
    return [one.segment.first for one in going]


def test_within_the_limits_everything_stays() -> None:
    assert to_remove([kept(number) for number in range(9)], Retention(max_bytes=900), ROOMY, 9 * HOUR) == []


def test_the_oldest_go_when_there_are_too_many_bytes() -> None:
    going = to_remove([kept(number) for number in range(9)], Retention(max_bytes=650), ROOMY, 9 * HOUR)
    assert numbers(going) == [0, 1, 2]


def test_windows_around_symptoms_go_last() -> None:
    store = [kept(number, near=number in (0, 2)) for number in range(6)]
    assert numbers(to_remove(store, Retention(max_bytes=300), ROOMY, 6 * HOUR)) == [1, 3, 4]
    assert numbers(to_remove(store, Retention(max_bytes=100), ROOMY, 6 * HOUR)) == [1, 3, 4, 5, 0]


def test_age_takes_everything() -> None:
    store = [kept(number, near=number == 0) for number in range(6)]
    going = to_remove(store, Retention(max_bytes=10_000, max_age_s=3 * 3600), ROOMY, 6 * HOUR)
    assert numbers(going) == [0, 1]


def test_age_counts_back_from_the_newest_row_or_from_now_if_that_is_earlier() -> None:
    store = [kept(number) for number in range(6)]
    rules = Retention(max_bytes=10_000, max_age_s=3 * 3600)
    assert numbers(to_remove(store, rules, ROOMY, 9999 * HOUR)) == [0, 1]
    assert numbers(to_remove(store, rules, ROOMY, 4 * HOUR)) == [0]


def test_whichever_bites_first() -> None:
    store = [kept(number) for number in range(6)]
    assert numbers(to_remove(store, Retention(max_bytes=400, max_age_s=5 * 3600), ROOMY, 6 * HOUR)) == [0, 1]
    assert numbers(to_remove(store, Retention(max_bytes=600, max_age_s=3 * 3600), ROOMY, 6 * HOUR)) == [0, 1]


def test_a_disk_that_others_fill_is_given_room_but_not_everything() -> None:
    store = [kept(number) for number in range(10)]
    rules = Retention(max_bytes=10_000, free_bytes=500, least_bytes=300)
    assert numbers(to_remove(store, rules, Disk(10_000, 350), 10 * HOUR)) == [0, 1]
    assert numbers(to_remove(store, rules, Disk(10_000, 0), 10 * HOUR)) == [0, 1, 2, 3, 4]
    rules = Retention(max_bytes=10_000, free_bytes=5_000, least_bytes=300)
    assert len(to_remove(store, rules, Disk(10_000, 0), 10 * HOUR)) == 7


def test_each_names_its_reason() -> None:
    store = [kept(number) for number in range(10)]
    rules = Retention(max_bytes=750, max_age_s=8.5 * 3600, free_bytes=500, least_bytes=300)
    going = to_remove(store, rules, Disk(10_000, 100), 12 * HOUR)
    assert [(one.segment.first, one.why) for one in going] == [
        (0, OLD),
        (1, STORE_FULL),
        (2, STORE_FULL),
        (3, DISK_CROWDED),
    ]


def test_the_default_limit_is_a_tenth_of_the_disk_and_at_most_20_gib() -> None:
    assert Retention().limit_bytes(Disk(100 * GIB, 0)) == 10 * GIB
    assert Retention().limit_bytes(Disk(1000 * GIB, 0)) == 20 * GIB
    assert Retention().max_age_s == 7 * 24 * 3600


@given(st.lists(st.tuples(st.integers(1, 50), st.booleans()), max_size=20), st.integers(0, 500))
def test_no_more_goes_than_has_to(sizes: list[tuple[int, bool]], limit: int) -> None:
    store = [kept(number, size, near) for number, (size, near) in enumerate(sizes)]
    going = to_remove(store, Retention(max_bytes=limit), ROOMY, HOUR)
    left = sum(one.bytes for one in store) - sum(one.bytes for one in going)
    assert left <= limit
    assert len({one.segment for one in going}) == len(going)
    if going:
        assert left + going[-1].bytes > limit


def test_symptoms_are_found_in_segments(tmp_path: Path) -> None:
    events = [Event(START_NS, "nic-reset", "kmsg", "eth0", ""), Event(START_NS + 1, "cgroup-rmdir", "perf", "/a", "")]
    made = write_segment(tmp_path, {"events": event_rows(events)}, 1, 1)
    assert made is not None
    assert symptom_times(made) == [START_NS]
    made.file("events").write_bytes(b"damaged")
    assert symptom_times(made) == []


def test_near_a_symptom_is_minutes_before_and_one_after() -> None:
    segment = Segment(1, 1, 1000 * NS, 1100 * NS, Path("x"))
    rules = Retention()
    for at_s, near in [(900, False), (940, True), (1050, True), (1399, True), (1401, False)]:
        assert near_symptom(segment, [at_s * NS], rules) is near, at_s


def test_hours_are_bounded_by_bytes_and_age() -> None:
    assert hours_held(3_600_000, Retention(), 100.0) == 10.0
    assert hours_held(3_600_000_000, Retention(), 1.0) == 168.0
    assert hours_held(100, Retention(), 0.0) == 168.0


def test_the_disk_of_a_folder(tmp_path: Path) -> None:
    disk = disk_of(tmp_path)
    assert 0 < disk.free_bytes <= disk.total_bytes


def test_what_went_is_reported_once_for_a_round(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, retention=Retention(max_bytes=1, free_bytes=0))
    for number in range(3):
        writer.add_samples(second(number))
        writer._write_out()
        writer._spool.rotate()
        writer._begin()
    writer.seal()
    writer.flush()
    snapshot = Store(tmp_path).snapshot()
    (event,) = snapshot.live["events"].to_pylist()
    assert (event["kind"], event["source"], event["subject"]) == ("retention", "recorder", "store")
    assert event["at_ns"] == START_NS + 2 * NS + 950_000_000, "not later than the segments it is about"
    window = f"from {iso(START_NS)} to {iso(event['at_ns'])}"
    said = sentence(event_of(event))
    assert said.startswith("3 segments (")
    assert said.endswith(f") {window} went: the store was full")
    writer.close()
