"""`/metrics` over HTTP, and clients that are slow, rude or many."""

from __future__ import annotations

import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from necroscope.errors import BadInput, Unavailable
from necroscope.record.metrics.server import MOST, PATIENCE_S, MetricsServer, parse_address

PAGE = "necroscope_up 1\n" * 5_000


@pytest.fixture
def server() -> Iterator[MetricsServer]:
    made = MetricsServer("127.0.0.1:0", lambda: PAGE, "text/plain")
    try:
        yield made
    finally:
        made.close()


def _get(server: MetricsServer, path: str = "/metrics", method: str = "GET") -> tuple[int, str]:
    request = urllib.request.Request(f"http://{server.address}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def _connected(server: MetricsServer) -> socket.socket:
    host, port = parse_address(server.address)
    return socket.create_connection((host, port), timeout=5)


def test_the_page_and_nothing_else(server: MetricsServer) -> None:
    assert _get(server) == (200, PAGE)
    assert _get(server, "/metrics?collect[]=x") == (200, PAGE)
    assert _get(server, method="HEAD") == (200, "")
    assert _get(server, "/etc/passwd")[0] == 404
    assert _get(server, method="POST")[0] == 405


def test_whoever_asks_slowly_is_hung_up_on_and_keeps_nobody_waiting(server: MetricsServer) -> None:
    with ExitStack() as open_:
        slow = [open_.enter_context(_connected(server)) for _ in range(MOST - 1)]
        for one in slow:
            one.sendall(b"GET /metr")
        began_s = time.monotonic()
        assert _get(server)[0] == 200
        assert time.monotonic() - began_s < 1.0
        for one in slow:
            one.settimeout(PATIENCE_S + 3)
            assert one.recv(10) == b""


def test_a_client_that_does_not_read_is_hung_up_on(server: MetricsServer) -> None:
    with _connected(server) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        deaf.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        assert _get(server)[0] == 200


def test_nonsense_and_floods(server: MetricsServer) -> None:
    with _connected(server) as rude:
        rude.sendall(b"\x16\x03\x01" + b"\x00" * 9_000)
        rude.settimeout(5)
        with suppress(ConnectionResetError):
            assert rude.recv(10) == b""
    with ExitStack() as open_:
        for _ in range(3 * MOST):
            open_.enter_context(_connected(server))
        time.sleep(PATIENCE_S + 1)
        assert _get(server)[0] == 200


def test_a_page_that_cannot_be_made_is_an_error_and_not_the_end() -> None:
    def broken() -> str:
        raise ValueError("broken")

    server = MetricsServer("127.0.0.1:0", broken, "text/plain")
    try:
        assert _get(server) == (500, "ValueError('broken')\n")
        assert _get(server)[0] == 500
    finally:
        server.close()


def test_addresses(server: MetricsServer) -> None:
    assert parse_address("127.0.0.1:9477") == ("127.0.0.1", 9477)
    assert parse_address("[::1]:1") == ("::1", 1)
    assert parse_address(":9477") == ("", 9477)
    for wrong in ("9477", "host:", "a:b", "::1:9477", "host:99999", ""):
        with pytest.raises(BadInput):
            parse_address(wrong)
    with pytest.raises(Unavailable, match="cannot be listened on"):
        MetricsServer(server.address, lambda: "", "text/plain")
