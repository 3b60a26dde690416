"""What the recorder says of itself while it runs: rates, bytes, symptoms of its own time, and what it cannot see."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, ClassVar

import pytest

from necroscope import clock
from necroscope.clock import NS
from necroscope.errors import Unavailable
from necroscope.record.recorder import Recorder, RecorderStatus
from necroscope.record.unresolved import Unresolved
from necroscope.sense.host import Host
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.model import Reading, Sample, Signal, Symptom
from stage.recorded import second


class Log:
    """A kernel log that cannot be read, or one with a symptom of an hour ago and one that comes now."""

    name: ClassVar[str] = "kmsg"
    signals: ClassVar[tuple[Signal, ...]] = ()

    def __init__(self, blind: bool) -> None:
        self._blind = blind

    def read(self, host: Host) -> Reading:
        if self._blind:
            raise Unavailable("the kernel log cannot be read", "run as root")
        now_ns = clock.now().realtime_ns
        old, new = (
            Symptom("nic-reset", at_ns, 0, "reset", first_at_ns=at_ns, task=task)
            for at_ns, task in ((now_ns - 3600 * NS, "old"), (now_ns, "new"))
        )
        return Reading((Sample("kernel_log_records", 2),), (old, new))


class NoPerf:
    """A feed without perf, and with the samples of one second."""

    pid = None
    complaint = "perf is not installed (install it)"

    def __init__(self) -> None:
        self.children: dict[str, int] = {}
        self.unresolved = Unresolved()
        self._rows = [second(0)]

    def rows(self) -> list[Any]:
        rows, self._rows = self._rows, []
        return rows

    def events(self) -> list[Any]:
        return []

    def close(self) -> list[Any]:
        return []


def _run(folder: Path, blind: bool) -> tuple[list[RecorderStatus], RecorderStatus]:
    """A recorder that is stopped at its second status."""
    seen: list[RecorderStatus] = []
    stop = threading.Event()

    def heard(status: RecorderStatus) -> None:
        seen.append(status)
        if len(seen) == 2:
            stop.set()

    writer = Writer(folder)
    try:
        feed: Any = NoPerf()
        return seen, Recorder(Host(), writer, feed, [Log(blind)], []).run(stop, 10.0, heard)
    finally:
        writer.close()


@pytest.mark.parametrize("blind", [False, True])
def test_the_status_tells_what_is_and_what_is_not_seen(tmp_path: Path, blind: bool) -> None:
    seen, last = _run(tmp_path, blind)
    assert seen[-1].bytes > 0, "the journal counts"
    assert seen[-1].bytes_per_s > 0
    troubles = {one.short: one.text for one in last.troubles}
    assert troubles.pop("no samples") == "no samples are taken: perf is not installed (install it)"
    if blind:
        assert last.symptoms is None
        assert troubles == {"symptoms unknown": "symptoms are not known: the kernel log cannot be read (run as root)"}
    else:
        assert last.symptoms is not None
        assert 1 <= last.symptoms <= 3, "that of an hour ago is none of this recording"
        assert troubles == {}


def test_the_last_status_has_averages(tmp_path: Path) -> None:
    _, last = _run(tmp_path, blind=False)
    assert last.samples == 20
    assert last.samples_per_s == pytest.approx(20 / last.seconds)
    assert last.bytes_per_s > 0
    assert last.cpu_share >= 0, "a short run may use less than a clock tick"
