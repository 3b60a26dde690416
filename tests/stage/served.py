"""A server of the page over a store, in this process, on a port of its own."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import uvicorn

from necroscope.serve.app import application
from necroscope.serve.binary import unpacked
from necroscope.serve.guard import Rules
from necroscope.serve.opened import Opened, Source
from necroscope.serve.run import Address, bound


@dataclass(frozen=True)
class Got:
    """What was answered."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.body)
        return document

    @property
    def columns(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return unpacked(self.body)


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    port: int
    opened: Opened

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def get(self, path: str, method: str = "GET", headers: dict[str, str] | None = None, **asked: object) -> Got:
        """Ask the API, or with a leading slash anything."""
        where = path if path.startswith("/") else f"/api/v1/{path}"
        if asked:
            words = {name.removesuffix("_"): value for name, value in asked.items()}
            where += f"?{urlencode(words)}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, where, headers=headers or {})
            answer = connection.getresponse()
            return Got(answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()})
        finally:
            connection.close()


@contextmanager
def serving(store: Path, bundle: str = "", rules: Rules | None = None) -> Iterator[Served]:
    """A server, until the end of the block."""
    opened = Opened(Source(store, bundle))
    with bound(Address("127.0.0.1", 0)) as listening:
        app: Any = application(opened, rules or Rules())
        config = uvicorn.Config(
            app, log_level="error", lifespan="off", http="h11", ws="none", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield Served(int(listening.getsockname()[1]), opened)
        finally:
            server.should_exit = True
            thread.join(10)
            assert not thread.is_alive()
