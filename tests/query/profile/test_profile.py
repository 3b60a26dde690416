"""Windows of a recording, ready to be looked at."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from necroscope.clock import NS
from necroscope.query.profile.profile import profile
from necroscope.query.select import Select
from necroscope.store.format.segment import merged, read_segment, write_segment
from necroscope.store.read.catalog import segments
from necroscope.store.read.reader import Snapshot, Store
from necroscope.store.write.writer import Writer
from stage.looked import IDLE, LOOP, SYSCALL, One, batch, look, record, second
from stage.recorded import PERIOD_NS, START_NS


def _window(begin: float, end: float) -> tuple[int, int]:
    return START_NS + round(begin * NS), START_NS + round(end * NS) - 1


@pytest.fixture
def store(tmp_path: Path) -> Store:
    record(tmp_path, 8, sealed=(2, 5)).close(merge=False)
    return Store(tmp_path)


def _working(*seconds: int) -> int:
    return sum(one.frames != IDLE for number in seconds for one in second(number))


def test_samples_of_idle_cores_are_left_out_and_interrupts_on_them_are_work(store: Store) -> None:
    made = profile(store, Select(_window(0, 4)))
    assert made.counts.total()[0].tolist() == [_working(0, 1, 2, 3)]
    assert any("tick_sched_timer" in text for text in np.array(made.counts.stacks)[made.counts.stack])
    with_idle = profile(store, Select(_window(0, 4)), with_idle=True)
    assert with_idle.counts.total()[0].tolist() == [240]


def test_the_denominator_is_what_the_cores_counted(store: Store) -> None:
    made = profile(store, Select(_window(1, 3)), [_window(4, 6), _window(6, 8)])
    assert (made.cores, made.counted, made.notes) == (2, True, ())
    assert made.seconds.tolist() == pytest.approx([2.0] * 3)
    assert made.core_seconds.tolist() == pytest.approx([4.0] * 3)
    assert made.busy_seconds.tolist() == pytest.approx([1.6] * 3)
    assert made.per_weight == 1e-9
    assert made.counts.total()[0].tolist() == [_working(1, 2), _working(4, 5), _working(6, 7)]
    one = profile(store, Select(_window(1, 3), cpus=frozenset({1})))
    assert (one.cores, one.core_seconds.tolist()) == (1, pytest.approx([2.0]))


def test_a_process_does_not_change_the_denominator(store: Store) -> None:
    made = profile(store, Select(_window(1, 3), pids=frozenset({101})))
    assert made.core_seconds.tolist() == pytest.approx([4.0])


def test_time_that_was_not_recorded_is_not_counted(store: Store) -> None:
    made = profile(store, Select(_window(-100, 100)))
    assert (made.seconds.tolist(), made.core_seconds.tolist()) == (pytest.approx([8.0]), pytest.approx([16.0]))


def test_the_last_second_counts_before_its_look_was(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    writer.add_signals(START_NS, look(0), "cpu")
    for number in range(4):
        writer.add_samples(batch(second(number)))
        if number < 3:
            writer.add_signals(START_NS + (number + 1) * NS, look(number + 1), "cpu")
    writer.close()
    made = profile(Store(tmp_path), Select(_window(0, 4)))
    assert (made.seconds.tolist(), made.core_seconds.tolist()) == (pytest.approx([4.0]), pytest.approx([8.0]))


def test_without_counters_shares_are_of_the_cores_that_were_seen(tmp_path: Path) -> None:
    record(tmp_path, 4, looked=False).close()
    made = profile(Store(tmp_path), Select(_window(0, 4)))
    assert (made.counted, made.cores, made.core_seconds.tolist()) == (False, 2, [8.0])
    assert made.counts.total()[0].tolist() == [_working(0, 1, 2, 3)]


def _cycles(folder: Path) -> Store:
    """Two cores, 40 % busy for 4 s. On the first, three quarters of the cycles are pid 100's, in few large periods."""
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    for number in range(5):
        writer.add_signals(START_NS + number * NS, look(number), "cpu")
    heavy = [One(START_NS + n * NS, SYSCALL, event="cycles:P", weight=3_000_000_000) for n in range(4)]
    light = [One(START_NS + n * NS // 8, LOOP, pid=200, event="cycles:P", weight=125_000_000) for n in range(32)]
    writer.add_samples(batch([*heavy, *light]))
    writer.close()
    return Store(folder)


def test_cycles_are_weighed_by_their_period_and_spread_over_the_busy_time_of_their_core(tmp_path: Path) -> None:
    made = profile(_cycles(tmp_path), Select(_window(0, 4)))
    by_stack = made.counts.by(made.counts.stack, len(made.counts.stacks))[1][:, 0] * made.per_weight / 4
    found = dict(zip(made.counts.stacks, by_stack.tolist(), strict=True))
    assert sum(found.values()) == pytest.approx(0.4)
    assert next(cores for text, cores in found.items() if "vfs_read" in text) == pytest.approx(0.3)


def test_cycles_of_one_process_are_not_spread_over_everybodys_time(tmp_path: Path) -> None:
    made = profile(_cycles(tmp_path), Select(_window(0, 4), pids=frozenset({200})))
    assert float(made.counts.weight.sum()) * made.per_weight / 4 == pytest.approx(0.1)


def test_time_that_two_events_tell_counts_once(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    writer.add_samples(batch([One(START_NS + n, event="cpu-clock") for n in range(5)]))
    writer.add_samples(batch([One(START_NS + n, event="cycles") for n in range(3)]))
    writer.add_samples(batch([One(START_NS + n, event="page-faults") for n in range(9)]))
    writer.close()
    made = profile(Store(tmp_path), Select(_window(0, 1)))
    assert (made.counts.total()[0].tolist(), made.counts.event) == ([5], "cpu-clock")
    assert [note.partition(",")[0] for note in made.notes] == ["samples of cycles are left out"]
    chosen = profile(Store(tmp_path), Select(_window(0, 1), events=frozenset({"page-faults"})))
    assert (chosen.counts.total()[0].tolist(), chosen.notes) == ([9], ())


def test_damage_is_a_note_and_not_the_end(store: Store, tmp_path: Path) -> None:
    one, other = segments(tmp_path)[0].file("samples"), segments(tmp_path)[1].file("cores")
    one.write_bytes(one.read_bytes()[:-7])
    other.write_bytes(b"")
    made = profile(store, Select(_window(0, 8)))
    assert made.counts.total()[0].tolist() == [_working(3, 4, 5, 6, 7)]
    assert made.notes == (f"{one} is damaged and left out", f"{other} is damaged and left out")
    assert made.core_seconds.tolist() == pytest.approx([10.0])


def test_a_journal_that_is_cut_is_a_note(tmp_path: Path) -> None:
    writer = record(tmp_path, 4, sealed=(1,))
    (journal,) = (tmp_path / "journal").glob("*.journal")
    with journal.open("ab") as file:
        file.write(b"\x99" * 20)
    made = profile(Store(tmp_path), Select(_window(0, 8)))
    assert made.counts.total()[0].tolist() == [_working(0, 1, 2, 3)]
    assert len(made.notes) == 1
    assert made.notes[0].endswith("what came before it is shown")
    writer.close()


def test_what_is_merged_meanwhile_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = record(tmp_path, 6, sealed=(1, 3))
    store, taken = Store(tmp_path), []
    snapshot_of = Store.snapshot

    def snapshot(self: Store, window: tuple[int, int] | None = None) -> Snapshot:
        taken.append(found := snapshot_of(self, window))
        if len(taken) == 1:
            writer.close(merge=False)
            _merge(tmp_path)
        return found

    monkeypatch.setattr(Store, "snapshot", snapshot)
    made = profile(store, Select(_window(0, 6)))
    assert len(taken) == 2
    assert made.counts.total()[0].tolist() == [_working(*range(6))]
    assert made.counts.total()[1].tolist() == [_working(*range(6)) * float(PERIOD_NS)]


def _merge(folder: Path) -> None:
    """What a writer does when there are many small segments."""
    found = segments(folder)
    write_segment(folder / "segments", merged([read_segment(one) for one in found]), found[0].first, found[-1].last)
    for one in found:
        shutil.rmtree(one.path)


def test_time_that_nobody_sampled_is_none(tmp_path: Path) -> None:
    """Without counters, samples tell when somebody looked; with them, only where that is asked for."""
    record(tmp_path / "a", 4, looked=False).close()
    made = profile(Store(tmp_path / "a"), Select(_window(0, 4)), [_window(20, 24), _window(2, 6)])
    assert made.seconds.tolist() == pytest.approx([4.0, 0.0, 2.0], abs=0.02)
    writer = record(tmp_path / "b", 4)
    for number in range(5, 31):
        writer.add_signals(START_NS + number * NS, look(number), "cpu")
    writer.close()
    windows = Select(_window(0, 4)), [_window(10, 14), _window(2, 12)]
    assert profile(Store(tmp_path / "b"), *windows).seconds.tolist() == pytest.approx([4.0, 4.0, 10.0])
    made = profile(Store(tmp_path / "b"), *windows, sampled=[_window(0, 4)])
    assert made.seconds.tolist() == pytest.approx([4.0, 0.0, 2.0])
    assert made.core_seconds.tolist() == pytest.approx([8.0, 0.0, 4.0])


def test_folded_stacks_are_shares(tmp_path: Path) -> None:
    """Also of a segment that has counters, and so sums of its samples."""
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    for number in range(3):
        writer.add_signals(START_NS + number * NS, look(number), "cpu")
    ones = [One(START_NS + 10, SYSCALL, -1, -1, -1, "", "", "folded", 30), One(START_NS + 20, LOOP, -1, -1, -1, "", "")]
    writer.add_samples(batch([ones[0], replace(ones[1], event="folded", weight=70)]))
    writer.close()
    for detail in ("samples", "stacks", "tasks"):
        made = profile(Store(tmp_path), Select(_window(0, 4)), detail=detail)  # type: ignore[arg-type]
        assert (made.timed, made.counted, made.counts.total()[0].tolist()) == (False, False, [100])
        assert float(made.counts.weight.sum()) * made.per_weight == pytest.approx(1.0)
