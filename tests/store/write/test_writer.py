"""The writer: everything given comes back once, whatever happens to the process, the disk or the segments."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from necroscope import clock
from necroscope.clock import NS
from necroscope.errors import BadInput, Unavailable
from necroscope.sense.cpu.times import Cpu
from necroscope.store.format import journal
from necroscope.store.format.segment import read_segment
from necroscope.store.inbox import Waiting, put, waiting
from necroscope.store.read.catalog import all_segments, journals, segments
from necroscope.store.read.reader import Store
from necroscope.store.write import compaction
from necroscope.store.write.retention import Retention
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event, event_of
from necroscope.vocabulary.event_sentence import sentence
from necroscope.vocabulary.model import ParentCount, UnitState
from stage.recorded import LOOP, STACKS, START_NS, batch, look, second, stack


def stored(folder: Path, table: str) -> list[dict[str, Any]]:
    """Rows of a table, sealed and not."""
    snapshot = Store(folder).snapshot()
    parts = [read_segment(one).get(table) for one in snapshot.segments] + [snapshot.live.get(table)]
    return [row for part in parts if part is not None for row in part.to_pylist()]


def times(folder: Path) -> list[int]:
    return sorted(row["at_ns"] for row in stored(folder, "samples"))


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    made = Writer(tmp_path, flush_s=1e9, segment_s=1e9, signals=Cpu.signals)
    yield made
    made.close()


def test_everything_given_comes_back_once(writer: Writer, tmp_path: Path) -> None:
    given = []
    for number in range(6):
        samples = second(number, tell=number == 0)
        given += samples.at_ns.tolist()
        writer.add_samples(samples)
        writer.add_signals(START_NS + number * NS, look(number), "cpu")
        writer.add_events([Event(START_NS + number, "mark", "mark", "x", str(number))])
        writer.add_zombies(START_NS + number, [ParentCount("/docker", number)])
        writer.add_units(START_NS, [UnitState("a.service", "failed", "failed", "exit-code", number)])
        writer.flush()
        if number % 2:
            writer.seal()
    assert times(tmp_path) == sorted(given)
    assert [row["text"] for row in stored(tmp_path, "events")] == list("012345")
    assert sorted(row["zombies"] for row in stored(tmp_path, "zombies")) == [0, 1, 2, 3, 4, 5]
    assert sorted(row["restarts"] for row in stored(tmp_path, "units")) == [0, 1, 2, 3, 4, 5]
    assert len(segments(tmp_path)) == 3
    # A decoder tells a stack once; every segment has all that its samples name.
    for segment in segments(tmp_path):
        ids = {row["stack_id"]: row["frames"] for row in read_segment(segment)["stacks"].to_pylist()}
        assert ids.keys() == {stack(frames).stack_id for frames in STACKS}
        assert all(ids.values())


def test_rows_are_readable_after_a_flush_and_not_before(writer: Writer, tmp_path: Path) -> None:
    writer.add_samples(second(0))
    assert times(tmp_path) == []
    writer.flush()
    assert len(times(tmp_path)) == 20
    assert segments(tmp_path) == []
    writer.seal()
    assert len(times(tmp_path)) == 20
    assert journals(tmp_path) == {}


def test_flush_and_seal_happen_by_themselves(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=0.0, segment_s=1e9, segment_rows=42)
    writer.add_samples(second(0))
    assert len(times(tmp_path)) == 20
    writer.add_samples(second(1))
    assert len(segments(tmp_path)) == 1
    writer.add_samples(second(2))
    assert len(times(tmp_path)) == 60
    assert len(segments(tmp_path)) == 1
    writer.close()
    writer = Writer(tmp_path, segment_s=0.0, flush_s=1e9)
    writer.add_samples(second(3))
    writer.flush()
    assert [(one.first, one.last) for one in segments(tmp_path)] == [(1, 2), (3, 3)]
    writer.close()


def test_nothing_added_makes_nothing(writer: Writer, tmp_path: Path) -> None:
    writer.add_events([])
    writer.add_samples(batch([], []))
    writer.flush()
    writer.seal()
    assert segments(tmp_path) == []
    assert journals(tmp_path) == {}


def test_a_second_writer_is_refused_and_another_format_too(writer: Writer, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=f"being written by process {os.getpid()}"):
        Writer(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "format.json").write_text('{"store": "necroscope", "version": 99}')
    with pytest.raises(BadInput, match="format version 99"):
        Writer(tmp_path / "other")


def test_a_long_recording_of_ever_new_stacks_loses_none(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, stack_bytes=8000)
    handed_out: set[int] = set()
    for number in range(60):
        # Three frames that come every second, and one that is new each second and comes again ten seconds later.
        now = [*map(stack, STACKS), *(stack((("main", "m"), (f"f{one}", "m"))) for one in (number, number - 10))]
        samples = batch([START_NS + number * NS + turn for turn in range(5)], now)
        fresh = tuple(one for one in now if one.stack_id not in handed_out)
        handed_out |= {one.stack_id for one in fresh}
        writer.add_samples(replace(samples, stacks=fresh))
        if writer.dropped_stacks():
            handed_out.clear()
        if number % 4 == 0:
            writer.seal()
    assert writer.status().unknown_stacks == 0
    writer.close()
    assert all(row["frames"] for row in stored(tmp_path, "stacks"))
    assert len(handed_out) < 63, "it did forget"


def test_small_segments_are_merged_and_nothing_changes(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    for number in range(18):
        writer.add_samples(second(number))
        writer.add_signals(START_NS + number * NS, look(number))
        writer.seal()
    assert [one.last - one.first + 1 for one in segments(tmp_path)] == [16, 1, 1]
    assert len(all_segments(tmp_path)) > 3, "what was merged waits for its readers"
    before = Counter(times(tmp_path))
    writer.close()
    assert [(one.first, one.last) for one in all_segments(tmp_path)] == [(1, 18)], "at the end, all that is small"
    assert Counter(times(tmp_path)) == before
    assert set(before.values()) == {1}
    assert len(before) == 18 * 20
    assert len(stored(tmp_path, "ticks")) == 18


def test_segments_far_apart_or_large_are_not_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.closing(Writer(tmp_path / "apart", flush_s=1e9)) as writer:
        for number in range(5):
            writer.add_samples(second(number * 3600))
            writer.seal()
    assert len(segments(tmp_path / "apart")) == 5
    monkeypatch.setattr(compaction, "MAX_BYTES", 1000)
    with contextlib.closing(Writer(tmp_path / "large", flush_s=1e9)) as writer:
        for number in range(5):
            writer.add_samples(second(number))
            writer.seal()
    assert len(segments(tmp_path / "large")) == 5


def test_a_damaged_segment_stops_neither_merging_nor_writing(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9)
    for number in range(9):
        writer.add_samples(second(number))
        writer.seal()
        if number == 0:
            segments(tmp_path)[0].file("samples").write_bytes(b"PAR1")
    assert len(segments(tmp_path)) < 9
    writer.close()


def test_retention_bounds_the_store(tmp_path: Path) -> None:
    limit = 60_000
    writer = Writer(tmp_path, flush_s=1e9, retention=Retention(max_bytes=limit, max_age_s=1e9, free_bytes=0))
    for number in range(40):
        writer.add_samples(second(number * 3600, samples=300))
        if number == 3:
            writer.add_events([Event(START_NS + 3 * 3600 * NS, "nic-reset", "kmsg", "eth0", "reset")])
        writer.seal()
        assert writer.status().bytes <= limit
    writer.close()
    hours = sorted({(at_ns - START_NS) // (3600 * NS) for at_ns in times(tmp_path)})
    assert hours[0] == 3, "the window around a symptom outlives what came after it"
    assert hours[1] > 4
    assert hours[-1] == 39


def test_what_is_too_old_goes(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, retention=Retention(max_age_s=3600.0))
    now_ns = clock.now().realtime_ns
    writer.add_samples(batch([now_ns - 7200 * NS], [stack(LOOP)]))
    writer.seal()
    writer.add_samples(batch([now_ns], [stack(LOOP)]))
    writer.close()
    assert times(tmp_path) == [now_ns]


def test_hours_left_follow_the_rate(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, retention=Retention(max_bytes=10_000_000))
    assert writer.hours_left() is None
    for number in range(10):
        writer.add_samples(second(number))
    writer.seal()
    status = writer.status()
    assert status.hours_left == pytest.approx(10_000_000 / (status.bytes / 9.95) / 3600, rel=0.01)
    assert (status.samples, status.lost_samples, status.trouble) == (200, 0, "")
    hours = status.hours_left
    assert hours is not None
    for number in range(3600, 3620):
        writer.add_samples(second(number))
        if number % 10 == 9:
            writer.seal()
            writer.add_events([Event(START_NS - 10**15, "boot", "kmsg", "", "days before")])
    assert writer.hours_left() == pytest.approx(hours, rel=0.25), "neither a pause nor an old line counts as recorded"
    writer.close()


# -- marks ----------------------------------------------------------------------------------------------


def test_a_mark_is_seen_at_once_and_taken_up(writer: Writer, tmp_path: Path) -> None:
    mark = Event(START_NS, "job-failed", "mark", "job 4711", "job 4711 failed")
    put(tmp_path, mark)
    assert [row["id"] for row in stored(tmp_path, "events")] == [mark.id]
    writer.flush()
    assert waiting(tmp_path) == Waiting()
    assert [row["id"] for row in stored(tmp_path, "events")] == [mark.id]


def test_a_mark_waits_for_the_next_writer(tmp_path: Path) -> None:
    put(tmp_path, Event(START_NS, "mark", "mark", "", "before"))
    (tmp_path / "inbox" / "broken.json").write_text("{")
    Writer(tmp_path).close()
    assert [row["text"] for row in stored(tmp_path, "events")] == [
        "before",
        "inbox/broken.json is no event, or not what was put there; it is left as *.bad",
    ]
    assert waiting(tmp_path) == Waiting()


# -- trouble with the disk --------------------------------------------------------------------------------


class FullDisk:
    """Writing to journals fails with an error while `full`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
        self.full, self._code, self._write = False, code, os.pwrite
        monkeypatch.setattr(journal.os, "pwrite", self.pwrite)

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        if self.full:
            raise OSError(self._code, os.strerror(self._code))
        return self._write(fd, data, offset)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_short_trouble_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    writer, disk = Writer(tmp_path, flush_s=1e9), FullDisk(monkeypatch, code)
    for number in range(9):
        disk.full = 2 <= number <= 6
        writer.add_samples(second(number))
        writer.add_signals(START_NS + number * NS, look(number))
        if number == 4:
            writer.seal()
        writer.flush()
        assert writer.status().trouble == (os.strerror(code) if disk.full else "")
    writer.close()
    assert len(times(tmp_path)) == 9 * 20
    assert len(stored(tmp_path, "ticks")) == 9
    assert stored(tmp_path, "events") == []


def test_a_long_trouble_is_counted_timed_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, disk = Writer(tmp_path, flush_s=1e9, max_unwritten_bytes=4000), FullDisk(monkeypatch, errno.EROFS)
    for number in range(30):
        disk.full = 3 <= number < 20
        writer.add_samples(second(number))
        writer.flush()
    lost = writer.status().lost_samples
    writer.close()
    assert 0 < lost < 17 * 20
    assert len(times(tmp_path)) == 30 * 20 - lost
    missing = set(range(30)) - {(at_ns - START_NS) // NS for at_ns in times(tmp_path)}
    assert missing < set(range(3, 20))
    (gap,) = stored(tmp_path, "events")
    assert (gap["kind"], gap["source"], gap["at_ns"]) == ("recorder-gap", "recorder", START_NS + min(missing) * NS)
    assert f"{lost} samples" in gap["text"]
    assert "Read-only file system" in gap["text"]


def test_a_full_disk_takes_the_oldest_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer(tmp_path, flush_s=1e9)
    for number in range(3):
        writer.add_samples(second(number))
        writer.seal()
    write, calls = os.pwrite, []

    def twice_full(fd: int, data: bytes, offset: int) -> int:
        calls.append(offset)
        if len(calls) <= 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(fd, data, offset)

    monkeypatch.setattr(journal.os, "pwrite", twice_full)
    writer.add_samples(second(3))
    writer.flush()
    assert {(at_ns - START_NS) // NS for at_ns in times(tmp_path)} == {2, 3}
    writer.close()


def test_what_was_reported_in_lost_rows_is_reported_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer(tmp_path, flush_s=1e9, max_unwritten_bytes=4000)
    writer.add_samples(second(0))
    writer.seal()
    disk = FullDisk(monkeypatch, errno.ENOSPC)
    for number in range(1, 20):
        disk.full = number in (1, *range(3, 15))  # number 3 tells what went for number 1, and is lost
        writer.add_samples(second(number))
        writer.flush()
    lost = writer.status().lost_samples
    writer.close()
    kinds = [row["kind"] for row in stored(tmp_path, "events")]
    assert kinds.count("recorder-gap") == 1, kinds
    assert kinds.count("retention") == 1, kinds
    sentences = {row["kind"]: sentence(event_of(row)) for row in stored(tmp_path, "events")}
    assert sentences["recorder-gap"].startswith(f"{lost} samples and other rows")
    assert "No space left" in sentences["recorder-gap"]
    assert sentences["retention"].startswith("2 segments ("), "those that went for numbers 1 and 3"
    assert "the disk was full" in sentences["retention"]


@pytest.mark.root
def test_a_really_full_filesystem(tmp_path: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k", "none", tmp_path], check=True)
    try:
        rules = Retention(max_bytes=10 << 20, free_bytes=0)
        writer = Writer(tmp_path / "store", flush_s=1e9, retention=rules, max_unwritten_bytes=20_000)
        chance = random.Random(1)
        for number in range(120):
            at_ns = sorted(START_NS + number * NS + chance.randrange(NS) for _ in range(400))
            writer.add_samples(batch(at_ns, [stack(frames) for frames in STACKS]))
            writer.flush()
            if number % 8 == 7:
                writer.seal()
        writer.close()
        seen = {(at_ns - START_NS) // NS for at_ns in times(tmp_path / "store")}
        assert 119 in seen, "the newest is there"
        assert 0 not in seen, "the oldest made room"
        assert len(times(tmp_path / "store")) == len(set(times(tmp_path / "store")))
    finally:
        subprocess.run(["umount", tmp_path], check=True)


# -- death ------------------------------------------------------------------------------------------------

CHILD = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from necroscope import clock
from necroscope.store.format.tables import Event
from necroscope.store.write.writer import Writer
from stage.recorded import STACKS, batch, look, stack
stacks = [stack(frames) for frames in STACKS]
writer = Writer(Path(sys.argv[1]), flush_s=0.05, segment_s=0.25)
handed_out = False
while True:
    now = clock.now().realtime_ns
    writer.add_samples(batch([now], stacks, tell=not handed_out))
    writer.add_signals(now, look(now // 1_000_000_000))
    handed_out = True
    print(now, flush=True)
    clock.sleep(0.002)
"""


def test_kill_9_at_any_moment(tmp_path: Path) -> None:
    chance = random.Random(os.getpid())
    given: set[int] = set()
    killed: list[int] = []
    for _ in range(22):
        command = [sys.executable, "-c", CHILD, tmp_path, Path(__file__).parents[2]]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        first = int(child.stdout.readline())
        time.sleep(chance.random() * 0.4)
        os.kill(child.pid, signal.SIGKILL)
        rest = [int(line) for line in child.stdout.read().splitlines() if len(line) == 19]
        child.wait()
        child.stdout.close()
        killed.append(max([first, *rest]))
        given |= {first, *rest}
        tables = [read_segment(one) for one in segments(tmp_path)]
        sealed = [at_ns for one in tables if "samples" in one for at_ns in one["samples"]["at_ns"].to_pylist()]
        seen = Counter(times(tmp_path))
        assert set(seen.values()) <= {1}, "no row twice"
        assert set(sealed) <= seen.keys()
        for at_ns in given - seen.keys():
            assert min(abs(end - at_ns) for end in killed) < NS, "only the last moments before a death are missing"
        assert len(Store(tmp_path).snapshot().live.get("samples", ())) <= 400
    Writer(tmp_path).close()
    assert set(times(tmp_path)) == seen.keys()
    assert len(seen) > 0.5 * len(given)


def test_a_journal_left_behind_is_sealed_and_its_damage_reported(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9)
    for number in range(3):
        writer.add_samples(second(number))
        writer.flush()
    left = next(iter(journals(tmp_path).values()))
    data = left.read_bytes()
    writer.close()
    for one in segments(tmp_path):
        for path in one.path.iterdir():
            path.unlink()
        one.path.rmdir()
    (tmp_path / "numbers.json").unlink()
    left.write_bytes(data[:-5])
    next_writer = Writer(tmp_path, flush_s=1e9)
    assert len(segments(tmp_path)) == 1
    assert len(times(tmp_path)) == 40
    next_writer.close()
    (event,) = stored(tmp_path, "events")
    assert event["kind"] == "recorder-gap"
    assert "journal 1 was cut after 2 frames: the frame at byte" in event["text"]


def test_a_journal_whose_segment_exists_is_ignored_and_removed(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9)
    writer.add_samples(second(0))
    writer.flush()
    left = next(iter(journals(tmp_path).values()))
    data = left.read_bytes()
    writer.close()
    left.write_bytes(data)
    assert len(times(tmp_path)) == 20
    Writer(tmp_path).close()
    assert not left.exists()
    assert len(times(tmp_path)) == 20


def test_half_a_segment_is_swept_away(tmp_path: Path) -> None:
    Writer(tmp_path).close()
    half = tmp_path / "segments" / ".00000007-00000007"
    half.mkdir()
    (half / "samples.parquet").write_bytes(b"PAR1")
    assert Store(tmp_path).snapshot().segments == ()
    Writer(tmp_path).close()
    assert not half.exists()
