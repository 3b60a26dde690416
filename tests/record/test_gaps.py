"""The time between two recorders is told, with how the earlier one ended."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from necroscope.clock import NS, ClockReading, iso
from necroscope.record.gaps import OWN_SOURCE, STARTED, STOPPED, Silence, hello, since_the_last
from necroscope.record.perf_rows import keep_rows
from necroscope.record.timeline import Timeline
from necroscope.sense.host import Host
from necroscope.sense.perf.rows import Lost
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.event_sentence import sentence
from necroscope.vocabulary.model import Sample
from stage.recorded import LOOP, START_NS, batch, stack
from stage.recorders import events_of

NOW = ClockReading(START_NS + 600 * NS, 9000 * NS, 9000 * NS)
THIS, OTHER = "6798175c-742c-4267-8b6e-92eb099ecb72", "00000000-1111-2222-3333-444444444444"


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A host of this boot, which began 9000 s ago."""
    boot = tmp_path / "root/proc/sys/kernel/random"
    boot.mkdir(parents=True)
    (boot / "boot_id").write_text(THIS + "\n")
    booted_s = NOW.from_boottime(0) // NS
    (tmp_path / "root/proc/stat").write_text(f"cpu  1 2 3 4 5 6 7 0 0 0\ncpu0 1 2 3 4 5 6 7 0 0 0\nbtime {booted_s}\n")
    return Host(tmp_path / "root")


def _recorded(store: Path, *texts: tuple[str, str], looks: tuple[int, ...] = (0, 1, 2)) -> Path:
    writer = Writer(store, flush_s=1e9)
    for second in looks:
        writer.add_signals(START_NS + second * NS, [Sample("x", second)], OWN_SOURCE)
    for number, (kind, boot) in enumerate(texts):
        writer.add_events([Event(START_NS + number, kind, OWN_SOURCE, "recorder", pid=7, boot=boot)])
    writer.close()
    return store


def test_a_new_store_has_no_hole(tmp_path: Path, host: Host) -> None:
    Writer(tmp_path / "store").close()
    assert since_the_last(tmp_path / "store", host, NOW) == []
    assert since_the_last(tmp_path / "none", host, NOW) == []


def test_one_that_was_stopped(tmp_path: Path, host: Host) -> None:
    store = _recorded(tmp_path / "store", (STARTED, THIS), (STOPPED, THIS))
    (event,) = since_the_last(store, host, NOW)
    assert (event.at_ns, event.kind, event.source, event.subject) == (
        START_NS + 2 * NS,
        "recorder-gap",
        "recorder",
        "recorder",
    )
    span = f"{iso(START_NS + 2 * NS)} to {iso(NOW.realtime_ns)}"
    assert sentence(event) == f"nothing was recorded from {span} (598.0 s): the recorder was stopped"
    assert (event.from_ns, event.to_ns, event.reason) == (event.at_ns, NOW.realtime_ns, "the recorder was stopped")


def test_one_that_died_and_one_that_imports_since(tmp_path: Path, host: Host) -> None:
    store = _recorded(tmp_path / "store", (STARTED, OTHER), (STOPPED, OTHER), (STARTED, THIS))
    importer = Writer(store)
    importer.add_samples(batch([START_NS + 100 * NS], [stack(LOOP)]))
    importer.close()
    (event,) = since_the_last(store, host, NOW)
    assert event.at_ns == START_NS + 2 * NS
    assert sentence(event).endswith("(598.0 s): the recorder ended without a clean shutdown")


def test_a_boot_in_between_by_its_id_or_else_by_its_time(tmp_path: Path, host: Host) -> None:
    store = _recorded(tmp_path / "store", (STARTED, OTHER))
    hole, boot = since_the_last(store, host, NOW)
    assert sentence(hole).endswith("the recorder ended without a clean shutdown, and the machine was booted in between")
    assert boot == Event(NOW.from_boottime(0) // NS * NS, "boot", "recorder", "host", uncertainty_ns=NS, boot=THIS)
    assert sentence(boot) == f"the kernel started, boot {THIS}"
    unnamed = _recorded(tmp_path / "unnamed")
    assert len(since_the_last(unnamed, host, NOW)) == 1
    young = ClockReading(NOW.realtime_ns, 5 * NS, 5 * NS)
    (tmp_path / "root/proc/stat").unlink()
    assert [event.kind for event in since_the_last(unnamed, host, young)] == ["recorder-gap", "boot"]


def test_a_clock_that_was_set_back(tmp_path: Path, host: Host) -> None:
    store = _recorded(tmp_path / "store", (STARTED, THIS), looks=(9000, 3, 5000))
    (event,) = since_the_last(store, host, NOW)
    assert event.at_ns == NOW.realtime_ns
    assert (event.from_ns, event.to_ns) == (None, None), "a time that ends before it begins is none"
    assert iso(START_NS + 5000 * NS) in event.reason
    assert "set back" in sentence(event)


def test_hello_names_process_and_boot(host: Host) -> None:
    said = hello(host, 5, STARTED)
    assert (said.at_ns, said.kind, said.pid, said.boot) == (5, STARTED, os.getpid(), THIS)


# -- between two perfs ------------------------------------------------------------------------------------------


def test_silence_is_from_the_last_sample_to_the_next_with_its_first_reason() -> None:
    silence, one = Silence(5), [stack(LOOP)]
    assert silence.heard([batch([30, 10, 20], one), batch([25], one)]) is None
    assert silence.until(40) is None
    silence.began("perf ended by itself")
    silence.began("perf is not installed")
    assert silence.heard([Lost(50, 1)]) is None
    assert silence.heard([batch([70, 60], one)]) == (30, 60, "perf ended by itself")
    assert silence.heard([batch([80], one)]) is None
    silence.began("no permission")
    assert silence.until(100) == (80, 100, "no permission")


# -- one time line ----------------------------------------------------------------------------------------------


def _reading(at_s: float, offset_s: float, slept_s: float = 0.0) -> ClockReading:
    mono = int(at_s * NS)
    return ClockReading(mono + int(offset_s * NS), mono, mono + int(slept_s * NS))


def _placed(line: Timeline, *at_s: float) -> list[float]:
    stamps = np.array([int(one * NS) for one in at_s], np.int64)
    return [float(one) / NS for one in stamps + line.offsets(stamps)]


@pytest.mark.parametrize("step_s", [3600.0, -3600.0])
def test_stamps_keep_the_offset_of_their_time(step_s: float) -> None:
    line = Timeline(_reading(10, 1000))
    assert line.turn(_reading(10.5, 1000.001)) == []
    (event,) = line.turn(_reading(11, 1000 + step_s))
    assert (event.kind, event.at_ns) == ("clock-step", int((1011 + step_s) * NS))
    assert f"stepped by {step_s - 0.001:+.3f} s" in sentence(event)
    assert ((event.to_ns or 0) - (event.from_ns or 0)) / NS == pytest.approx(step_s - 0.001)
    assert _placed(line, 10.2, 10.5, 11.0, 12.0) == pytest.approx(
        [1010.201, 1010.501, 1011.0 + step_s, 1012.0 + step_s], abs=0.002
    )
    (back,) = line.turn(_reading(11.5, 1000))
    assert f"stepped by {-step_s:+.3f} s" in sentence(back)
    assert _placed(line, 10.5, 11.0, 11.4) == pytest.approx([1010.5, 1011.0 + step_s, 1011.4], abs=0.002)


def test_sleep_is_no_step_and_a_late_turn_is_told() -> None:
    line = Timeline(_reading(10, 1000))
    (slept,) = line.turn(_reading(10.5, 1600, slept_s=600))
    assert (slept.kind, slept.subject, slept.at_ns) == ("recorder-gap", "host", 1010 * NS)
    assert sentence(slept).endswith("(600.5 s): the machine slept")
    assert _placed(line, 10.0, 10.5) == [1010.0, 1610.5]
    (late,) = line.turn(_reading(18.5, 1600, slept_s=600))
    assert (late.kind, late.subject, late.at_ns) == ("recorder-gap", "sensors", int(1610.5 * NS))
    assert "(8.0 s)" in sentence(late)
    assert line.turn(_reading(19.0, 1600, slept_s=600)) == []


def test_rows_of_perf_are_placed_by_the_time_line(tmp_path: Path) -> None:
    line = Timeline(_reading(10, 1000))
    line.turn(_reading(10.5, 1000))
    line.turn(_reading(11, 4600))
    rows = [batch([10 * NS, 11 * NS], [stack(LOOP)]), Lost(10 * NS, 3), Lost(11 * NS, 4)]
    writer, kept = Writer(tmp_path), _spy(tmp_path)
    assert keep_rows(writer, rows, line.offsets) == 7
    writer.close()
    assert kept("samples") == [1010 * NS, 4611 * NS]
    assert kept("events") == [1010 * NS, 4611 * NS]


def test_what_the_kernel_lost_is_counted_named_and_timed(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    rows = [batch([START_NS, START_NS + NS, START_NS + 2 * NS, START_NS + 9 * NS], [stack(LOOP)])]
    keep_rows(writer, [*rows, Lost(START_NS + 8 * NS, 70, cpu=1), Lost(START_NS + 1, 5)], 0)
    writer.close()
    found = events_of(tmp_path, "samples-lost")
    assert [(row["subject"], row["cpu"], row["count"], row["from_ns"]) for row in found] == [
        ("perf", None, 5, START_NS),
        ("cpu1", 1, 70, START_NS + NS),
    ]
    assert found[1]["text"].startswith(f"70 records of perf were lost since {iso(START_NS + NS)}: ")


def _spy(store: Path) -> Callable[[str], list[int]]:
    from necroscope.store.format.segment import read_segment
    from necroscope.store.read.catalog import segments

    return lambda table: sorted(at for one in segments(store) for at in read_segment(one)[table]["at_ns"].to_pylist())
