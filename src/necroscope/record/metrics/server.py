"""`/metrics` over HTTP: one thread, few connections, nothing that a client can make it wait for.

A request is a line and headers of at most 8 KiB that arrive within two seconds; each connection has one answer. Whoever
is slow, says nonsense or comes when sixteen others are being served is hung up on.
"""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from necroscope import clock
from necroscope.errors import BadInput, Unavailable

MOST, PATIENCE_S, MOST_BYTES = 16, 2.0, 8192
_POLL_S = 0.5
_END = b"\r\n\r\n"


@dataclass(slots=True)
class _Client:
    until_s: float
    asked: bytearray = field(default_factory=bytearray)
    answer: memoryview | None = None


class MetricsServer:
    """Listens from the start; `BadInput` for an address that is none, `Unavailable` for one that cannot be had."""

    def __init__(self, address: str, page: Callable[[], str], content_type: str) -> None:
        self._page, self._type = page, content_type
        host, port = parse_address(address)
        try:
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
            self._listener = socket.create_server((host, port), family=family, backlog=MOST)
        except OSError as error:
            raise Unavailable(f"{address} cannot be listened on: {error}.", "give --metrics a free address") from error
        self._listener.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._clients: dict[socket.socket, _Client] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Where it listens, with the port that it got."""
        host, port = self._listener.getsockname()[:2]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def close(self) -> None:
        """Stop listening."""
        self._stop.set()
        self._thread.join(2 * _POLL_S)
        self._listener.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            for key, _ in self._selector.select(_POLL_S):
                if key.fileobj is self._listener:
                    self._accept()
                elif isinstance(key.fileobj, socket.socket):
                    self._serve(key.fileobj)
            now_s = clock.elapsed_s()
            for client in [one for one, state in self._clients.items() if now_s > state.until_s]:
                self._hang_up(client)
        for client in list(self._clients):
            self._hang_up(client)

    def _accept(self) -> None:
        with suppress(OSError):
            client, _ = self._listener.accept()
            if len(self._clients) >= MOST:
                client.close()
                return
            client.setblocking(False)
            self._clients[client] = _Client(clock.elapsed_s() + PATIENCE_S)
            self._selector.register(client, selectors.EVENT_READ)

    def _serve(self, client: socket.socket) -> None:
        state = self._clients[client]
        try:
            if state.answer is None and not self._read(client, state):
                return
            if state.answer is not None:
                state.answer = state.answer[client.send(state.answer) :]
                if not state.answer:
                    self._hang_up(client)
        except BlockingIOError:
            return
        except OSError:
            self._hang_up(client)

    def _read(self, client: socket.socket, state: _Client) -> bool:
        """Whether the request is whole, and so answered."""
        data = client.recv(MOST_BYTES)
        state.asked += data
        if _END in state.asked or b"\n\n" in state.asked:
            state.answer = memoryview(self._answer(bytes(state.asked)))
            self._selector.modify(client, selectors.EVENT_WRITE)
            return True
        if not data or len(state.asked) >= MOST_BYTES:
            self._hang_up(client)
        return False

    def _answer(self, asked: bytes) -> bytes:
        method, _, rest = asked.partition(b"\r")[0].partition(b" ")
        path = rest.split(b" ")[0].partition(b"?")[0]
        if method not in (b"GET", b"HEAD"):
            return _response("405 Method Not Allowed", "text/plain", b"GET /metrics\n")
        if path != b"/metrics":
            return _response("404 Not Found", "text/plain", b"/metrics is here\n")
        try:
            body = self._page().encode("utf-8", "replace")
        except Exception as error:  # a defect of ours must not end the thread; the scrape fails and says so
            return _response("500 Internal Server Error", "text/plain", f"{error!r}\n".encode())
        return _response("200 OK", self._type, body, method == b"HEAD")

    def _hang_up(self, client: socket.socket) -> None:
        self._clients.pop(client, None)
        with suppress(KeyError, ValueError):
            self._selector.unregister(client)
        client.close()


def parse_address(text: str) -> tuple[str, int]:
    """HOST:PORT, [HOST]:PORT or :PORT; `BadInput` for anything else."""
    host, colon, port = text.rpartition(":")
    number = int(port) if port.isascii() and port.isdigit() else -1
    if not colon or not 0 <= number <= 65535 or (":" in host and not host.startswith("[")):
        raise BadInput(f"{text!r} is not an address and a port.", "write 127.0.0.1:9477")
    return host.strip("[]"), number


def _response(status: str, kind: str, body: bytes, head_only: bool = False) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + (b"" if head_only else body)
