"""Unix sockets with a peer that misbehaves, or answers from a script."""

from __future__ import annotations

import contextlib
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from urllib.parse import parse_qs, urlsplit

Answer = tuple[int, bytes]
Script = Callable[[str, dict[str, list[str]]], Answer]


@contextlib.contextmanager
def peer(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """A socket whose every visitor is handed to `talk`, in a thread of its own. Yields its path."""
    # Socket paths hold 107 bytes at most: a test's own folder may be too deep.
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        path = f"{folder}/peer.sock"
        listener.bind(path)
        listener.listen(8)
        visitors: list[socket.socket] = []

        def welcome() -> None:
            with contextlib.suppress(OSError):
                while True:
                    visitor, _ = listener.accept()
                    visitors.append(visitor)
                    with contextlib.suppress(OSError):
                        talk(visitor)

        thread = threading.Thread(target=welcome)
        thread.start()
        try:
            yield path
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for visitor in visitors:
                visitor.close()
            thread.join(5)


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A visitor who leaves in the middle is what some tests are about."""


@contextlib.contextmanager
def http_server(script: Script, server: str = "Docker/24.0.7 (linux)") -> Iterator[str]:
    """An HTTP server on a unix socket whose answers come from `script(path, query)`. Yields its path."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            status, body = script(parts.path, parse_qs(parts.query))
            self.send_response_only(status)
            self.send_header("Server", server)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "api.sock")
        with _Server(path, Handler) as listening:
            thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
            thread.start()
            try:
                yield path
            finally:
                listening.shutdown()
                thread.join(5)
