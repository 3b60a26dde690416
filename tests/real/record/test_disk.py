"""The disk fills up, or becomes read-only, under a whole recorder: it goes on, says so, and records again."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from stage.program import Program
from stage.recorders import PROGRAM, ask, events_of, process, recorder, stop, wait
from stage.small_disk import fill, small_disk

pytestmark = pytest.mark.root

# A recorder with little patience: a segment every two seconds, little memory for what cannot be written.
IMPATIENT = """
import errno, os, signal, sys, threading
from pathlib import Path
from necroscope.record.plan import fast_sensors
from necroscope.record.recorder import SIGNALS, Recorder
from necroscope.sense.host import Host
from necroscope.store.write.writer import Writer

store, broken = Path(sys.argv[1]), Path(sys.argv[2])
pwrite = os.pwrite
def fragile(fd, data, offset):
    if broken.exists():
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))
    return pwrite(fd, data, offset)
os.pwrite = fragile

stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
signals = [*(one for sensor in fast_sensors() for one in sensor.signals), *SIGNALS]
writer = Writer(store, signals=signals, segment_s=2.0, max_unwritten_bytes=int(sys.argv[3]))
Recorder(Host(), writer, None, fast_sensors(), []).run(stop)
writer.close()
"""


def _rss(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) * 1024


def _seconds(store: Path) -> set[int]:
    query = "select distinct at_ns // 1000000000 s from signals where name = 'cpu_forks'"
    return {row["s"] for row in ask(store, query)}


def test_a_full_disk_takes_old_rows_then_new_ones_and_all_is_told(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk:
        store = disk / "store"
        with recorder(store, str(tmp_path / "broken"), "3000", script=IMPATIENT) as started:
            time.sleep(5.0)
            before, rss = time.time(), _rss(started.pid)
            fill(disk / "ballast", 8.0)
            after = time.time()
            assert _rss(started.pid) - rss < 30e6
            (disk / "ballast").unlink()
            wait(lambda: bool(events_of(store, "store-stuck")), "rows on the disk", 15.0)
            time.sleep(2.5)
            stop(started)
        assert "s): No space left on device" in events_of(store, "store-stuck")[0]["text"]
        went = [row["text"] for row in events_of(store, "retention")]
        assert went
        assert any("the disk was full" in text for text in went)
        assert len(went) <= 4, "one for a round, not for a file"
        gaps = events_of(store, "recorder-gap", "%No space left on device")
        assert gaps
        assert all(before - 12 < row["at_ns"] / 1e9 < after + 1 for row in gaps)
        seconds = _seconds(store)
        assert min(seconds) > before - 5
        assert {int(after) + 2, int(after) + 3} <= seconds, "it records again"


def test_a_disk_that_becomes_read_only_and_writable_again(tmp_path: Path) -> None:
    store, broken = tmp_path / "store", tmp_path / "broken"
    with recorder(store, str(broken), "6000", script=IMPATIENT) as started:
        time.sleep(3.0)
        began = int(time.time())
        broken.touch()
        time.sleep(8.0)
        broken.unlink()
        ended = int(time.time())
        wait(lambda: bool(events_of(store, "store-stuck")), "rows on the disk", 15.0)
        time.sleep(2.0)
        stop(started)
    assert "s): Read-only file system" in events_of(store, "store-stuck")[0]["text"]
    gaps = events_of(store, "recorder-gap", "%Read-only file system")
    assert gaps
    seconds = _seconds(store)
    missing = set(range(began - 2, ended + 1)) - seconds
    assert missing, "so little memory does not hold eight seconds"
    reported_missing = {second for row in gaps for second in _span(row["text"])}
    assert missing <= reported_missing
    assert {ended + 1, ended + 2} <= seconds


def _span(text: str) -> range:
    """The seconds that a gap names, with those it touches."""
    from datetime import datetime

    words = text.split()
    from_s, to_s = (datetime.fromisoformat(words[words.index(word) + 1]).timestamp() for word in ("from", "to"))
    return range(int(from_s) - 1, int(to_s) + 2)


def test_a_read_only_disk_at_the_start_is_a_sentence(tmp_path: Path, necroscope: Program) -> None:
    with small_disk(tmp_path / "disk", "8m") as disk:
        assert necroscope("record", "--store", disk / "store", "--for", "1s", "--no-perf").code == 0
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        ran = necroscope("record", "--store", disk / "store", "--for", "1s", "--no-perf")
        assert ran.code == 3
        assert "Read-only file system" in ran.err
        assert ask(disk / "store", "select count(*) n from events")[0]["n"] > 0
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        assert necroscope("record", "--store", disk / "store", "--for", "1s", "--no-perf").code == 0


def test_a_disk_that_is_full_at_the_start_keeps_nobody_from_recording(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "8m") as disk:
        store = disk / "store"
        with process(PROGRAM, "record", "-q", "--no-perf", "--store", str(store), "--for", "2s") as first:
            assert first.wait(20) == 0
        fill(disk / "ballast", 0.1)
        with process(PROGRAM, "record", "-q", "--no-perf", "--store", str(store)) as started:
            time.sleep(4.0)
            assert started.poll() is None
            (disk / "ballast").unlink()
            time.sleep(2.0)
            stop(started)
        assert [row["text"].split(",")[0] for row in events_of(store, "recorder-started")] == [f"pid {started.pid}"]
        assert events_of(store, "retention")[0]["text"].endswith("the disk was full"), "what the first left made room"
        assert len(_seconds(store)) >= 3
