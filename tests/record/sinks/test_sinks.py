"""Sinks that are well, down, slow, hostile: a verdict arrives or is counted, and nobody waits."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from necroscope.config import Config, from_table
from necroscope.explain import symptoms_of
from necroscope.record.sinks import command, http
from necroscope.record.sinks.made import AlertmanagerSink, sinks
from necroscope.record.sinks.queue import MOST, Refused, SinkQueue, Told, Undelivered
from necroscope.record.verdicts.pronounced import Pronounced
from necroscope.store.bundle.archive import unpack
from necroscope.store.bundle.recording import recording
from necroscope.store.read.reader import Store
from stage.answered import why
from stage.processes import wait_for

AT_NS = 1_700_000_010_000_000_000


def _verdict(subject: str = "leaky.service", **more: Any) -> Pronounced:
    return Pronounced(AT_NS, AT_NS - 5_000_000_000, why(subject), "Too many zombies", device="eth0", **more)


def _config(**sink: Any) -> Config:
    return from_table({"labels": {"zone": "eu-1a"}, "sinks": [sink]}, "x")


@contextmanager
def _raw(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that does as it likes with each connection."""
    stop = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.1)

    def serve() -> None:
        while not stop.is_set():
            with suppress(TimeoutError):
                client, _ = listener.accept()
                with client, suppress(OSError):
                    answer(client)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/hook"
    finally:
        stop.set()
        thread.join()
        listener.close()


@contextmanager
def _hook(status: int = 200) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """A webhook; what it got."""
    got: list[tuple[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, json.loads(body)))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", got
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_webhook_gets_the_document(tmp_path: Path) -> None:
    with _hook() as (url, got):
        (sink,) = sinks(_config(url=f"{url}/a?b=c"), "node7", tmp_path)
        sink.deliver(_verdict(repeats=3))
        sink.deliver(_verdict(again=True))
    ((path, document),) = got
    assert path == "/a?b=c"
    assert document["schema"] == "necroscope.verdict/1"
    assert (document["node"], document["labels"], document["repeats"]) == ("node7", {"zone": "eu-1a"}, 3)
    assert document["why"]["cause"]["subject"]["name"] == "leaky.service"
    assert document["delay_s"] == 5.0


def test_alertmanager_gets_an_alert_and_the_end_of_the_one_before(tmp_path: Path) -> None:
    with _hook() as (url, got):
        (sink,) = sinks(_config(kind="alertmanager", url=url), "node7", tmp_path)
        first = _verdict("innocent.service")
        sink.deliver(first)
        sink.deliver(_verdict("leaky.service", replaces=first.id))
    (path, before), (_, after) = got
    assert path == "/api/v2/alerts"
    assert before[0]["labels"] == {
        "alertname": "NecroscopeVerdict",
        "node": "node7",
        "zone": "eu-1a",
        "symptom": "nic-reset",
        "device": "eth0",
        "verdict": "explained",
        "cause": "zombie-memcg",
        "subject": "innocent.service",
        "severity": "critical",
    }
    assert before[0]["endsAt"] == "2023-11-14T22:28:30.000Z"
    assert before[0]["annotations"]["command"] == "necroscope fix disable-unit innocent.service"
    assert [one["labels"]["subject"] for one in after] == ["leaky.service", "innocent.service"]
    assert after[1]["endsAt"] == "2023-11-14T22:13:30.000Z"
    assert after[1]["labels"] == before[0]["labels"], "Alertmanager knows them by their labels"
    assert isinstance(sink, AlertmanagerSink)


@pytest.mark.parametrize(
    ("status", "error"), [(500, Undelivered), (429, Undelivered), (404, Refused), (301, Undelivered)]
)
def test_what_a_webhook_answers(status: int, error: type[Undelivered]) -> None:
    with _hook(status) as (url, _), pytest.raises(Undelivered, match=f"answered {status}") as caught:
        http.post(url, {}, 2.0)
    assert type(caught.value) is error


def _drip(client: socket.socket) -> None:
    client.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(100):
        time.sleep(0.05)
        client.sendall(f"X-{number}: a\r\n".encode())


@pytest.mark.parametrize(
    "answer",
    [
        lambda client: client.sendall(b"\x00\xff garbage" * 1000),
        lambda client: client.sendall(b"HTTP/1.1 banana\r\n\r\n"),
        lambda client: client.sendall(b"HTTP/1.1 200 OK\r\n" + b"X: " + b"a" * 100_000 + b"\r\n\r\n"),
        lambda client: client.close(),
        lambda client: time.sleep(1.0),
        _drip,
    ],
    ids=["garbage", "no-status", "endless-header", "hangs-up", "says-nothing", "drips"],
)
def test_a_webhook_that_answers_garbage_or_slowly_is_left_in_time(answer: Callable[[socket.socket], None]) -> None:
    began_s = time.monotonic()
    with _raw(answer) as url:
        with pytest.raises(Undelivered):
            http.post(url, {"a": 1}, 0.4)
        assert time.monotonic() - began_s < 1.0


def test_an_endless_answer_is_not_read() -> None:
    def endless(client: socket.socket) -> None:
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(1_000):
            client.sendall(b"x" * 100_000)

    with _raw(endless) as url:
        http.post(url, {}, 2.0)


def test_nobody_listens() -> None:
    with pytest.raises(Undelivered, match="refused"):
        http.post("http://127.0.0.1:9/", {}, 1.0)
    with pytest.raises(Undelivered):
        http.post("http://nowhere.invalid/", {}, 1.0)


# -- commands -------------------------------------------------------------------------------------------------


def _script(folder: Path, text: str) -> str:
    path = folder / "script"
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(0o700)
    return str(path)


def test_a_command_gets_names_on_its_input_and_nowhere_else(tmp_path: Path) -> None:
    hostile = "$(touch pwned); 'a' --help"
    text = "import sys, os, json; json.dump([sys.argv, dict(os.environ), sys.stdin.read()], open(sys.argv[1], 'w'))"
    own = (_script(tmp_path, text), str(tmp_path / "out"))
    (sink,) = sinks(_config(kind="command", command=list(own)), "node7", tmp_path)
    sink.deliver(_verdict(hostile))
    arguments, environment, said = json.loads((tmp_path / "out").read_text())
    assert arguments == list(own)
    assert hostile not in json.dumps(environment)
    assert json.loads(said)["why"]["cause"]["subject"]["name"] == hostile
    assert not (tmp_path / "pwned").exists()


def test_a_command_may_be_given_the_profile_around_the_symptom(tmp_path: Path) -> None:
    """A gzip file while it runs, and nothing afterwards; without a recording, it runs without."""
    folder, bundle = tmp_path / "bundle", Path(__file__).parents[2] / "incidents/gpu-training.ncb"
    folder.mkdir()
    unpack(bundle, folder)
    store = recording(folder, bundle)
    symptom = symptoms_of(Store(store))[-1]
    text = (
        "import os, sys; path = os.environ.get('NECROSCOPE_PROFILE', ''); "
        "open(sys.argv[1], 'wb').write(path.encode() + b'\\n' + (open(path, 'rb').read() if path else b''))"
    )
    own = (_script(tmp_path, text), str(tmp_path / "out"))
    for place, there in ((store, True), (tmp_path / "absent", False)):
        (sink,) = sinks(_config(kind="command", command=list(own), profile="pprof"), "node7", place)
        sink.deliver(replace(_verdict(), symptom_ns=symptom.at_ns))
        path, _, data = (tmp_path / "out").read_bytes().partition(b"\n")
        assert bool(path) is there
        assert data.startswith(b"\x1f\x8b") is there
        assert not (path and Path(path.decode()).exists())


def test_commands_that_fail_hang_or_may_not_be_run(tmp_path: Path) -> None:
    with pytest.raises(Undelivered, match="ended with 3"):
        command.run((_script(tmp_path, "raise SystemExit(3)"),), {}, 5.0)
    with pytest.raises(Undelivered, match=r"did not end within 0\.5 s"):
        command.run((_script(tmp_path, "import time; time.sleep(60)"),), {}, 0.5)
    with pytest.raises(Undelivered, match="No such file"):
        command.run((str(tmp_path / "absent"),), {}, 1.0)
    with pytest.raises(Refused, match="not an absolute path"):
        command.run(("script",), {}, 1.0)
    command.run((_script(tmp_path, "print('x' * 1_000_000)"),), {"a": "b" * 1_000_000}, 5.0)


@pytest.mark.root
def test_a_command_that_others_could_change_is_not_run_by_root(tmp_path: Path) -> None:
    path = Path(_script(tmp_path, "pass"))
    path.chmod(0o777)
    with pytest.raises(Refused, match="may be changed by others"):
        command.run((str(path),), {}, 1.0)


# -- queues ---------------------------------------------------------------------------------------------------


class Moody:
    """Fails while `down`; keeps what it took."""

    name = "moody"

    def __init__(self, down: bool, error: Exception | None = None) -> None:
        self.down, self.error, self.taken, self.tried = down, error or Undelivered("it is down"), list[Pronounced](), 0

    def deliver(self, verdict: Pronounced) -> None:
        self.tried += 1
        if self.down:
            raise self.error
        self.taken.append(verdict)


def test_a_sink_that_is_down_is_told_of_once_and_gets_it_later() -> None:
    told, sink = list[Told](), Moody(down=True)
    queue = SinkQueue(sink, told.append, 0.02)
    for number in range(3):
        queue.put(_verdict(f"{number}.service"))
    wait_for(lambda: sink.tried >= 3, "some attempts")
    assert [one.text for one in told if one.text] == ["sink moody takes no verdicts: it is down"]
    sink.down = False
    wait_for(lambda: len(sink.taken) == 3, "all of them")
    queue.close()
    assert [one.subject for one in sink.taken] == ["0.service", "1.service", "2.service"]
    assert [one.text for one in told if one.text][1:] == ["sink moody takes verdicts again"]


def test_a_sink_that_hangs_holds_nobody_up_and_its_queue_is_bounded() -> None:
    told, gate = list[Told](), threading.Event()

    class Hanging:
        name = "hanging"

        def deliver(self, verdict: Pronounced) -> None:
            gate.wait(10)

    queue = SinkQueue(Hanging(), told.append)
    began_s = time.monotonic()
    for _ in range(10 * MOST):
        queue.put(_verdict())
    assert time.monotonic() - began_s < 1.0
    assert 8 * MOST < [one.result for one in told].count("dropped") < 10 * MOST
    gate.set()
    queue.close()


@pytest.mark.parametrize("error", [Refused("it said 404"), ValueError("a defect")])
def test_what_will_never_work_is_not_tried_again(error: Exception) -> None:
    told, sink = list[Told](), Moody(down=True, error=error)
    queue = SinkQueue(sink, told.append, 0.02)
    queue.put(_verdict())
    wait_for(lambda: len(told) == 1, "the refusal")
    queue.close()
    assert (sink.tried, told[0].result) == (1, "refused")
