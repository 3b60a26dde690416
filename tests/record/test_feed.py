"""perf that does not start, or speaks nonsense: told once, tried again, and the silence told at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from necroscope.errors import Unavailable
from necroscope.record import feed
from necroscope.record.feed import PerfFeed
from necroscope.sense.host import Host
from necroscope.sense.perf.launch.options import PerfOptions
from necroscope.sense.perf.symbols.symbols import live_symbols
from necroscope.vocabulary.event import Event
from stage.recorded import second


class Nonsense:
    """A perf whose bytes are no recording; `error` is what reading them raises instead."""

    options = PerfOptions()
    lacking: tuple[str, ...] = ()
    said = ""
    pid = 1

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    def __enter__(self) -> Nonsense:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing runs."""

    def take(self, timeout_s: float) -> bytes | None:
        if self._error is not None:
            raise self._error
        return b"nothing that perf would say"

    def hangs_for_s(self) -> float:
        return 0.0


class Starter:
    """Starts perfs by calling a function, and says that a perf that ended need not be waited for if `learns`."""

    def __init__(self, host: Host, start: Callable[[Host], Any], learns: bool = False) -> None:
        self._host, self._start, self._learns = host, start, learns
        self.ends: list[bool] = []

    def sample_at(self, frequency_hz: int) -> None:
        """These perfs sample as they like."""

    def start(self) -> Any:
        return self._start(self._host)

    def ended(self, session: object, hung: bool = False) -> bool:
        self.ends.append(hung)
        return self._learns


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Host:
    monkeypatch.setattr(feed, "_FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(feed, "_LONGEST_PAUSE_S", 0.02)
    return Host(tmp_path)


def _events(host: Host, start: Callable[[Host], Any], until: Callable[[], bool]) -> list[Event]:
    running = PerfFeed(host, Starter(host, start))
    deadline = time.monotonic() + 10
    while not until() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert running.close() == []
    return running.events()


def test_the_same_complaint_is_told_once_and_the_silence_at_the_end(hurried: Host) -> None:
    tries: list[int] = []

    def start(_: Host) -> Any:
        tries.append(1)
        raise Unavailable("perf is not installed", "install it")

    complaint, gap = _events(hurried, start, lambda: len(tries) > 5)
    assert (complaint.kind, complaint.subject) == ("perf-unavailable", "perf")
    assert complaint.text == "perf is not installed (install it)"
    assert (gap.kind, gap.subject) == ("recorder-gap", "perf")
    assert gap.text.startswith("no samples were taken from ")
    assert gap.text.endswith("perf is not installed (install it)")
    assert gap.at_ns <= complaint.at_ns


@pytest.mark.parametrize("error", [None, ZeroDivisionError("a defect")])
def test_nonsense_and_defects_do_not_end_the_feed(hurried: Host, error: Exception | None) -> None:
    tries: list[int] = []

    def start(_: Host) -> Any:
        tries.append(1)
        return Nonsense(error)

    events = _events(hurried, start, lambda: len(tries) > 3)
    texts = [event.text for event in events if event.kind == "perf-unavailable"]
    assert texts
    assert ("a defect" if error else "not a perf recording") in texts[0]
    assert [event.subject for event in events if event.kind == "recorder-gap"] == ["perf"]


def test_the_complaint_stands_as_long_as_there_is_no_perf(hurried: Host) -> None:
    tries: list[int] = []

    def start(_: Host) -> Any:
        tries.append(1)
        if len(tries) < 3:
            raise Unavailable("perf is not installed", "install it")
        return Quiet()

    running = PerfFeed(hurried, Starter(hurried, start))
    seen = set()
    deadline = time.monotonic() + 10
    while (len(tries) < 3 or running.complaint) and time.monotonic() < deadline:
        seen.add(running.complaint)
        time.sleep(0.001)
    assert running.complaint == ""
    assert "perf is not installed (install it)" in seen
    running.close()


class Quiet(Nonsense):
    """A perf that says nothing yet."""

    def take(self, timeout_s: float) -> bytes | None:
        time.sleep(min(timeout_s, 0.01))
        return b""


class At(Quiet):
    """A perf that samples at some frequency."""

    def __init__(self, options: PerfOptions) -> None:
        super().__init__()
        self.options = options


def test_another_frequency_starts_perf_anew_and_says_why(hurried: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "make_decoder", lambda *_: Clocked())
    asked: list[int] = []

    class Sampling(Starter):
        def sample_at(self, frequency_hz: int) -> None:
            asked.append(frequency_hz)

    running = PerfFeed(hurried, Sampling(hurried, lambda _: At(PerfOptions(frequency_hz=asked[-1]))))
    deadline = time.monotonic() + 10
    for hertz in (29, 97):
        while not asked and time.monotonic() < deadline:
            time.sleep(0.01)
        running.sample_at(hertz)
        while asked[-1] != hertz and time.monotonic() < deadline:
            time.sleep(0.01)
    running.close()
    assert asked == [97, 29, 97]
    texts = [event.text for event in running.events() if event.kind == "perf-ended"]
    assert texts == [f"samples are taken at {hertz} Hz from now on (see recorder-sheds)" for hertz in (29, 97)]


class Chatty(Quiet):
    """A perf that brings something twice, then ends."""

    def __init__(self) -> None:
        super().__init__()
        self._left = 2

    def take(self, timeout_s: float) -> bytes | None:
        self._left -= 1
        return b"samples" if self._left >= 0 else None


class Clocked:
    """A decoder that finds a second of cpu-clock samples in whatever it gets."""

    def feed(self, data: bytes) -> list[Any]:
        return [second(0)]

    def finish(self) -> list[Any]:
        return []

    def name_programs(self, wanted: bool) -> None:
        """Nothing here has names."""


def test_what_is_really_sampled_is_told_once_for_each_perf(hurried: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "make_decoder", lambda *_: Clocked())
    tries: list[int] = []

    def start(_: Host) -> Any:
        tries.append(1)
        return Chatty() if len(tries) < 3 else Quiet()

    running = PerfFeed(hurried, Starter(hurried, start))
    deadline = time.monotonic() + 10
    while len(tries) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    running.close()
    texts = [event.text for event in running.events() if event.kind == "perf-sampling"]
    assert len(texts) == 2
    assert texts[0].startswith("samples are taken by cpu-clock; cycles was asked for and cannot be had here")


@pytest.mark.parametrize("sampled", ["cycles", "cycles:P", "cpu_core/cycles/"])
def test_what_was_asked_for_is_no_surprise(sampled: str) -> None:
    assert feed._sampling("cycles", sampled) == f"samples are taken by {sampled}"


class Poor(Chatty):
    """A perf that lacks two things, and complains when it ends."""

    lacking = ("samples carry no cgroup", "mappings carry no build ids")
    said = "Error:\nsomething of it\n"


def test_each_thing_that_is_missing_is_told_once(hurried: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "make_decoder", lambda *_: Clocked())
    tries: list[int] = []

    def start(_: Host) -> Any:
        tries.append(1)
        return Poor() if len(tries) < 3 else Quiet()

    running = PerfFeed(hurried, Starter(hurried, start))
    deadline = time.monotonic() + 10
    while len(tries) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    running.close()
    events = running.events()
    assert [event.text for event in events if event.kind == "perf-lacks"] == [
        *Poor.lacking,
        "kernel functions have no names: /proc/kallsyms does not exist",
    ]
    started = [event.text for event in events if event.kind == "perf-started"]
    assert started == ["missing: 3", "missing: 3", "missing: 1"]
    ended = [event.text for event in events if event.kind == "perf-ended"]
    assert ended == ["perf ended by itself: something of it"] * 2


@pytest.mark.parametrize(("learns", "waits_s"), [(False, 1.0), (True, 0.0)])
def test_the_next_perf_waits_unless_something_was_learnt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, learns: bool, waits_s: float
) -> None:
    monkeypatch.setattr(feed, "make_decoder", lambda *_: Clocked())
    starts: list[float] = []

    def start(_: Host) -> Any:
        starts.append(time.monotonic())
        return Chatty() if len(starts) < 2 else Quiet()

    starter = Starter(Host(tmp_path), start, learns)
    running = PerfFeed(Host(tmp_path), starter)
    deadline = time.monotonic() + 10
    while len(starts) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    running.close()
    assert starts[1] - starts[0] == pytest.approx(waits_s, abs=0.4)
    assert starter.ends == [False]


def test_a_perf_that_tells_no_cgroups_leaves_asking_to_the_decoder(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    (proc / "self").mkdir(parents=True)
    (proc / "7").mkdir()
    mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
    (proc / "self" / "mountinfo").write_text(mount)
    (proc / "7" / "cgroup").write_text("0::/system.slice/a.service\n")
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/cgroup.controllers").write_text("cpu memory\n")
    host = Host(tmp_path)
    symbols = live_symbols(Host())[0]
    assert not feed.make_decoder(host, symbols)._flusher.ask_tasks_for_cgroups
    assert feed.make_decoder(host, symbols, cgroups=False)._flusher.ask_tasks_for_cgroups
    assert feed.cgroup_of(host, 7, "") == "/system.slice/a.service"
    assert feed.cgroup_of(host, 8, "") == ""


def test_a_tracepoint_is_not_what_samples_are_taken_by() -> None:
    """In a storm of cgroups the first sample is one of theirs."""
    one = second(0)
    traced = replace(one, event=np.zeros_like(one.event), events=("cgroup:cgroup_mkdir",))
    assert feed._sampled([traced]) == ""
    assert feed._sampled([traced, one]) == "cpu-clock"
