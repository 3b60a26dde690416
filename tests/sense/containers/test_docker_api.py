"""The Docker-compatible API: answers, refusals, peers that are slow, endless or hostile."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.containers import docker_api
from necroscope.sense.containers.docker_api import (
    Connection,
    Refused,
    ask_for_deaths,
    deaths,
    mapping,
    number,
    parse_events,
    text,
)
from stage.sockets import Answer, http_server, peer


def connect(path: str, budget_s: float = 2.0) -> Connection:
    return Connection(path, clock.elapsed_s() + budget_s)


def test_several_questions_go_over_one_connection() -> None:
    asked: list[tuple[str, dict[str, list[str]]]] = []

    def script(path: str, query: dict[str, list[str]]) -> Answer:
        asked.append((path, query))
        return 200, json.dumps({"asked": path}).encode()

    with http_server(script) as path:
        connection = connect(path)
        assert connection.get("/containers/json", all="1") == {"asked": "/containers/json"}
        assert connection.get("/containers/abc/json") == {"asked": "/containers/abc/json"}
        assert connection.server == "Docker/24.0.7 (linux)"
        connection.close()
    assert asked == [("/containers/json", {"all": ["1"]}), ("/containers/abc/json", {})]


def test_a_refusal_is_reported_and_does_not_spoil_the_next_answer() -> None:
    with http_server(lambda path, query: (404, b'{"message": "no"}') if "gone" in path else (200, b"[]")) as path:
        connection = connect(path)
        with pytest.raises(Refused, match="404"):
            connection.get("/containers/gone/json")
        assert connection.get("/containers/json") == []
        connection.close()


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000])
def test_an_answer_that_is_no_json_is_unavailable(body: bytes) -> None:
    with http_server(lambda path, query: (200, body)) as path:
        connection = connect(path)
        with pytest.raises(Unavailable, match="cannot be read"):
            connection.get("/containers/json")
        connection.close()


def refuse(visitor: socket.socket) -> None:
    visitor.close()


def hang(visitor: socket.socket) -> None:
    return


def babble(visitor: socket.socket) -> None:
    visitor.recv(4096)
    visitor.sendall(b"\x00\xff" * 4096)
    visitor.close()


def drip(visitor: socket.socket) -> None:
    visitor.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    for _ in range(40):
        visitor.sendall(b" ")
        time.sleep(0.05)


def cut(visitor: socket.socket) -> None:
    visitor.recv(4096)
    visitor.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n[]")
    visitor.close()


@pytest.mark.parametrize("talk", [refuse, hang, babble, drip, cut])
def test_a_peer_that_misbehaves_is_unavailable_and_in_time(talk: Callable[[socket.socket], None]) -> None:
    with peer(talk) as path:
        started = time.monotonic()
        connection = connect(path, 0.3)
        with pytest.raises(Unavailable):
            connection.get("/containers/json")
        assert time.monotonic() - started < 8.0
        connection.close()


def test_an_endless_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker_api, "ANSWER_LIMIT_BYTES", 1000)
    with http_server(lambda path, query: (200, b" " * 5000)) as path:
        connection = connect(path)
        with pytest.raises(Unavailable, match="more than 1000 bytes"):
            connection.get("/containers/json")
        connection.close()


def test_no_socket_and_a_forbidden_one_are_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unavailable, match="no container engine answers at /nowhere"):
        connect("/nowhere")

    def refuse(self: object, address: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(docker_api._DeadlineSocket, "connect", refuse)
    with pytest.raises(Unavailable, match="may not be asked") as caught:
        connect("/run/docker.sock")
    assert "run as root" in caught.value.hint


def test_an_answer_that_drips_byte_by_byte_is_late(tmp_path: Path) -> None:
    path = str(tmp_path / "slow.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()

        def drip() -> None:
            peer, _ = listener.accept()
            with peer, contextlib.suppress(OSError):
                for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"y" * 200:
                    peer.send(bytes([byte]))
                    time.sleep(0.05)

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        started = time.monotonic()
        connection = Connection(path, clock.elapsed_s() + 0.3)
        with contextlib.closing(connection), pytest.raises(Unavailable, match="in time"):
            connection.get("/containers/json")
        assert time.monotonic() - started < 8.0
        thread.join(5)


def test_deaths_are_asked_for_by_both_names_in_a_range_that_ends_soon() -> None:
    asked: dict[str, list[str]] = {}

    def script(path: str, query: dict[str, list[str]]) -> Answer:
        asked.update(query)
        return 200, b'{"Action": "die"}\n{"Action": "die"}\n'

    with http_server(script) as path:
        connection = connect(path)
        ask_for_deaths(connection, 1_000_000_000, 5_000_000_007)
        assert deaths(connection) == ([{"Action": "die"}, {"Action": "die"}], True)
        connection.close()
    assert asked["since"] == ["1.000000000"]
    assert asked["until"] == ["5.200000007"]
    assert json.loads(asked["filters"][0]) == {"type": ["container"], "event": ["die", "died"]}


def test_deaths_that_come_too_slowly_are_not_all() -> None:
    def slow(visitor: socket.socket) -> None:
        visitor.recv(4096)
        visitor.sendall(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n12\r\n{"Action": "die"}\n\r\n')

    with peer(slow) as path:
        connection = connect(path, 0.3)
        ask_for_deaths(connection, 0, 1)
        assert deaths(connection) == ([{"Action": "die"}], False)
        connection.close()


def test_events_that_are_cut_or_strange_are_left_out() -> None:
    assert parse_events(b'{"a": 1}\n\n[2]\nnull\n\xff\n{"b": 2}\n{"c": ') == [{"a": 1}, {"b": 2}]
    assert parse_events(b"") == []


def test_taking_from_hostile_json() -> None:
    assert mapping({"a": {"b": {"c": 1}}}, "a", "b") == {"c": 1}
    assert mapping({"a": [1]}, "a", "b") == {}
    assert mapping(None) == {}
    assert (text({"a": "x"}, "a"), text({"a": 1}, "a"), text({}, "a")) == ("x", "", "")
    values = {"int": 7, "text": "8", "bool": True, "float": 1.5, "huge": 1 << 70, "long": "9" * 30, "minus": -1}
    assert [number(values, name) for name in values] == [7, 8, None, None, None, None, -1]
