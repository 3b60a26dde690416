"""A store that is still being written, an empty one, and questions that nobody waits for."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.query.stopping import wanted
from necroscope.sense.cpu.times import Cpu
from necroscope.serve import endpoints
from necroscope.serve.answers import recording
from necroscope.serve.answers.answer import Answer, document
from necroscope.serve.asked import Asked
from necroscope.serve.opened import Opened
from necroscope.store.write.writer import Writer
from serve.browser import chromium, needs_chromium, tab
from stage.recorded import START_NS, look, second
from stage.served import serving

pytestmark = pytest.mark.slow


def _write(writer: Writer, number: int) -> None:
    writer.add_signals(START_NS + number * NS, look(number), "cpu")
    writer.add_samples(second(number))
    writer.flush()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    made = Writer(tmp_path / "store", flush_s=1e9, segment_s=1e9, signals=Cpu.signals)
    try:
        yield made
    finally:
        made.close()


@needs_chromium
@pytest.mark.timeout(90)
def test_what_is_written_is_seen_within_seconds(writer: Writer) -> None:
    for number in range(20):
        _write(writer, number)
    with serving(writer.folder) as served, chromium() as browser, tab(browser) as eyes:
        eyes.open(served.url)
        assert eyes.page.locator(".live").is_visible()
        eyes.page.keyboard.press("f")
        eyes.settled()
        for number in range(20, 23):
            _write(writer, number)
        began = time.monotonic()
        until = (START_NS + 22 * NS) // 1_000_000
        eyes.page.wait_for_function(f"() => necroscope.model.range.to >= {until} - 60 && !necroscope.model.busy.size")
        seen = """() => { const map = necroscope.model.layers.at(-1)?.map;
                          return map && map.to >= %d - 1000 && map.mean[map.columns - 2] !== map.unknown; }"""
        eyes.page.wait_for_function(seen % until, timeout=5000)
        assert time.monotonic() - began < 5
        assert eyes.complaints == []


def test_rows_that_are_not_sealed_are_told(writer: Writer) -> None:
    _write(writer, 0)
    with serving(writer.folder) as served:
        before = served.get("recording").document
        assert before["live"] is True
        for number in range(1, 4):
            _write(writer, number)
        time.sleep(0.4)
        after = served.get("recording").document
        assert after["to_ns"] > before["to_ns"]
        window = {"from_": after["from_ns"], "to": after["to_ns"]}
        _, arrays = served.get("cores", **window, columns=100).columns
        assert (arrays["mean"] != 255).sum() >= 4


@needs_chromium
@pytest.mark.timeout(60)
def test_an_empty_recording_says_what_to_do(writer: Writer) -> None:
    with serving(writer.folder) as served, chromium() as browser, tab(browser) as eyes:
        eyes.page.goto(served.url)
        eyes.page.locator(".empty").wait_for()
        assert "necroscope record" in eyes.page.locator(".empty").inner_text()


@contextmanager
def _slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, threading.Event]]:
    """`/recording` answers once it is stopped, or after ten seconds."""
    told = {"begun": threading.Event(), "stopped": threading.Event()}

    def answer(opened: Opened, asked: Asked) -> Answer:
        told["begun"].set()
        try:
            for _ in range(1000):
                time.sleep(0.01)
                wanted()
        except BaseException:
            told["stopped"].set()
            raise
        return document({})

    monkeypatch.setattr(recording, "recording", answer)
    yield told


def test_a_closed_connection_ends_its_question(gpu_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with _slow(monkeypatch) as told, serving(gpu_store, "b") as served:
        with socket.create_connection(("127.0.0.1", served.port)) as connection:
            connection.sendall(b"GET /api/v1/recording HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert told["begun"].wait(5)
            assert not told["stopped"].is_set()
        assert told["stopped"].wait(3)


def test_a_question_that_takes_too_long_is_stopped(gpu_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = tuple(
        endpoints.Endpoint(one.path, one.summary, one.parameters, one.answer, one.binary, 0.3)
        for one in (endpoints.endpoints())
    )
    with _slow(monkeypatch) as told:
        slow = endpoints.Endpoint("/recording", "slow", (), recording.recording, limit_s=0.3)
        monkeypatch.setattr("necroscope.serve.app.endpoints", lambda: (slow, *short[1:]))
        with serving(gpu_store, "b") as served:
            got = served.get("recording")
            assert got.status == 503
            assert "took longer" in got.document["error"]["message"]
            assert told["stopped"].is_set()


def test_too_many_questions_are_sent_away(gpu_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with _slow(monkeypatch), serving(gpu_store, "b") as served:
        waiting = []
        for _ in range(24):
            connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
            connection.request("GET", "/api/v1/recording")
            waiting.append(connection)
        time.sleep(0.5)
        assert served.get("recording").status == 503
        assert served.get("/").status == 200
        for connection in waiting:
            connection.close()
