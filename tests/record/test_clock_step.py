"""The wall clock jumps by an hour under a running recorder: told, nothing lost, nothing hurried, nothing held up."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest

from necroscope import clock
from necroscope.clock import NS, ClockReading
from necroscope.record.recorder import Recorder
from necroscope.record.unresolved import Unresolved
from necroscope.sense.cpu.times import Cpu
from necroscope.sense.host import Host
from necroscope.sense.perf.rows import Row
from necroscope.sense.sampler import Sampler
from necroscope.store.read.reader import Store
from necroscope.store.write.retention import Retention
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import Reading, Sample, Signal
from stage.recorded import STACKS, batch, stack
from stage.recorders import ask, events_of

HOUR_NS = 3600 * NS


class SteppedClock:
    """The real clock, with a wall clock that is set forward or back once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, step_ns: int, after_s: float) -> None:
        self._real, self._step_ns = clock.now, step_ns
        self.at_ns = self._real().monotonic_ns + int(after_s * NS)
        monkeypatch.setattr(clock, "now", self.now)

    def now(self) -> ClockReading:
        real = self._real()
        step_ns = self._step_ns if real.monotonic_ns >= self.at_ns else 0
        return ClockReading(real.realtime_ns + step_ns, real.monotonic_ns, real.boottime_ns)


class Feed:
    """97 samples a second, told a second late, as perf does."""

    pid = None
    complaint = ""

    def __init__(self) -> None:
        self.turns = 0
        self.children: dict[str, int] = {}
        self.unresolved = Unresolved()
        self.given: list[int] = []
        self._next_ns = time.monotonic_ns()

    def rows(self) -> list[Row]:
        self.turns += 1
        return self._until(time.monotonic_ns() - NS)

    def events(self) -> list[Event]:
        return []

    def stacks_forgotten(self) -> None:
        """There are three, and all are told each time."""

    def close(self) -> list[Row]:
        return self._until(time.monotonic_ns())

    def _until(self, to_ns: int) -> list[Row]:
        times = list(range(self._next_ns, to_ns, NS // 97))
        self.given += times
        if times:
            self._next_ns = times[-1] + NS // 97
        return [batch(times, [stack(frames) for frames in STACKS])]


class Slow:
    """A slow sensor that counts its looks."""

    name: ClassVar[str] = "slow"
    signals: ClassVar[tuple[Signal, ...]] = (Signal("looks", "looks", "counter", "Looks."),)

    def __init__(self) -> None:
        self.looks = 0

    def read(self, host: Host) -> Reading:
        self.looks += 1
        return Reading(samples=(Sample("looks", self.looks),))


@pytest.mark.parametrize("hours", [1, -1])
def test_a_step_is_told_and_tears_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hours: int) -> None:
    stepped = SteppedClock(monkeypatch, hours * HOUR_NS, 3.0)
    feed: Any = Feed()
    slow = Slow()
    keep = Retention(max_age_s=600.0)
    writer = Writer(tmp_path, segment_s=1.0, signals=[*Cpu.signals, *Slow.signals], retention=keep)
    recorder = Recorder(Host(), writer, feed, [Cpu()], [slow])
    recorder._sampler = Sampler(Host(), [Cpu()], [slow], slow_every_s=1)
    offset_ns = time.time_ns() - time.monotonic_ns()
    began_s = time.monotonic()
    recorder.run(threading.Event(), for_s=6.0)
    assert 6.0 <= time.monotonic() - began_s < 60.0, "--for counts seconds that passed"
    writer.close()

    (step,) = events_of(tmp_path, "clock-step")
    assert f"stepped by {3600 * hours:+d}.0" in step["text"] or f"stepped by {3600 * hours - 1:+d}.9" in step["text"]
    assert events_of(tmp_path, "recorder-gap") == []
    assert 6 <= feed.turns <= 10, "the loop neither spins nor stalls"
    assert slow.looks >= 4, "slow sensors do not wait for the hour to come again"

    before = [at + offset_ns for at in feed.given if at < stepped.at_ns - NS - NS // 10]
    after = [at + offset_ns + hours * HOUR_NS for at in feed.given if at > stepped.at_ns + NS + NS // 10]
    stored = sorted(row["at_ns"] for row in ask(tmp_path, "select at_ns from samples"))
    assert len(stored) == len(feed.given)
    for wanted in (before, after):
        near = [at for at in stored if wanted[0] - NS < at < wanted[-1] + NS]
        assert max(min(abs(at - one) for one in near) for at in wanted) < NS // 50
    looks = [row["at_ns"] for row in ask(tmp_path, "select distinct at_ns from signals where name = 'looks'")]
    assert min(looks) < step["at_ns"] - HOUR_NS // 2 or max(looks) > step["at_ns"] + HOUR_NS // 2
    _check_reading(tmp_path, before, after)


def _check_reading(store: Path, before: list[int], after: list[int]) -> None:
    """Windows of both times have their rows; no share of a core is out of bounds."""
    for wanted in (before, after):
        window = (wanted[0], wanted[-1])
        assert any(one.overlaps(window) for one in Store(store).snapshot(window).segments)
        counted = ask(store, f"select count(*) n from samples where at_ns between {wanted[0]} and {wanted[-1]}")
        assert abs(counted[0]["n"] - len(wanted)) <= 2
    shares = ask(store, 'select "user" + system + irq + softirq + steal + idle as whole from cores')
    assert shares
    assert all(row["whole"] is None or 0.99 < row["whole"] < 1.01 for row in shares)


def test_fresh_rows_do_not_become_old_by_a_step_forward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer(tmp_path, flush_s=1e9, retention=Retention(max_age_s=600.0))
    real = clock.now().realtime_ns
    writer.add_samples(batch([real], [stack(STACKS[0])]))
    writer.seal()
    SteppedClock(monkeypatch, 24 * HOUR_NS, 0.0)
    writer.add_samples(batch([clock.now().realtime_ns], [stack(STACKS[0])]))
    writer.seal()
    writer.close()
    assert ask(tmp_path, "select min(at_ns) first from samples")[0]["first"] == real
    assert events_of(tmp_path, "retention") == []
