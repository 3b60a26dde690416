"""The Docker-compatible API of a container engine over its unix socket: bounded in time and size, read-only.

Docker and Podman speak it. Only GET is ever sent. Answers are JSON that nobody vouches for: `mapping`, `text` and
`number` take from it what fits and nothing else.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.ownership import check_socket

ANSWER_LIMIT_BYTES = 8 << 20
# The engine is given this long after the request to hand over what it remembers. Podman's file log
# yields nothing when the end of the range is already past.
EVENTS_LINGER_S = 0.2

Json = dict[str, Any]


class Refused(Unavailable):
    """The engine answered, with an HTTP error: what was asked for is not there (any more)."""


class _DeadlineSocket(socket.socket):
    """A socket whose reads all end at one deadline: an answer that drips byte by byte is late, too."""

    deadline = 0.0

    def recv_into(self, *arguments: Any, **options: Any) -> int:
        left_s = self.deadline - clock.elapsed_s()
        if left_s <= 0:
            raise TimeoutError
        self.settimeout(left_s)
        return super().recv_into(*arguments, **options)


class Connection:
    """One connection to an engine's socket, for one look that ends at `deadline` (of `clock.elapsed_s`)."""

    def __init__(self, path: str, deadline: float) -> None:
        from http.client import HTTPConnection

        check_socket(path)
        self._path = path
        self._deadline = deadline
        self._socket = _DeadlineSocket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.deadline = deadline
        self._http = HTTPConnection("localhost")
        self._http.sock = self._socket
        # A closed connection stays closed: http.client would open the next one over TCP.
        self._http.auto_open = 0
        self.server = ""
        try:
            self._arm()
            self._socket.connect(path)
        except (OSError, Unavailable) as error:
            self.close()
            raise self._unreachable(error) from error

    def close(self) -> None:
        """Close it, also in the middle of an answer."""
        self._http.close()
        self._socket.close()

    def get(self, path: str, **query: str) -> Any:
        """The JSON answer to one question. `Unavailable` for errors, late answers and what is no JSON."""
        self.send(path, **query)
        try:
            return json.loads(b"".join(self.answer()))
        except (ValueError, RecursionError) as error:
            raise Unavailable("an answer of the container engine cannot be read") from error

    def send(self, path: str, **query: str) -> None:
        """Ask, without waiting for the answer."""
        from http.client import HTTPException
        from urllib.parse import urlencode

        try:
            self._arm()
            self._http.request("GET", f"{path}?{urlencode(query)}" if query else path)
        except (OSError, HTTPException) as error:
            raise self._unreachable(error) from error

    def answer(self) -> Iterator[bytes]:
        """The body of the answer, piece by piece. Broken off, late or too long is `Unavailable`."""
        from http.client import HTTPException

        size = 0
        try:
            response = self._http.getresponse()
            self.server = response.headers.get("Server", "")
            while chunk := response.read1(1 << 16):
                size += len(chunk)
                if size > ANSWER_LIMIT_BYTES:
                    raise Unavailable(f"the container engine says more than {ANSWER_LIMIT_BYTES} bytes")
                yield chunk
                self._arm()
            # `read1` neither ends the response at its last byte nor minds when that byte never came.
            response.close()
        except (OSError, HTTPException, ValueError) as error:
            raise self._unreachable(error) from error
        if response.length:
            raise Unavailable("the container engine broke off in the middle of an answer")
        if response.status != 200:
            raise Refused(f"the container engine answers with HTTP status {response.status}")

    def _arm(self) -> None:
        left_s = self._deadline - clock.elapsed_s()
        if left_s <= 0:
            raise Unavailable("the container engine did not answer in time")
        self._socket.settimeout(left_s)

    def _unreachable(self, error: Exception) -> Unavailable:
        if isinstance(error, Unavailable):
            return error
        if isinstance(error, PermissionError):
            return Unavailable(f"{self._path} may not be asked", "run as root, or as a member of the socket's group")
        if isinstance(error, TimeoutError):
            return Unavailable("the container engine did not answer in time")
        return Unavailable(f"no container engine answers at {self._path} ({type(error).__name__})")


def ask_for_deaths(connection: Connection, since_ns: int, until_ns: int) -> None:
    """Ask for the deaths of containers in a range; `deaths` reads them when the rest of the look is done."""
    # Docker says `die`; Podman 4 says so too, but wants to be asked for `died`.
    filters = json.dumps({"type": ["container"], "event": ["die", "died"]})
    until_ns += int(EVENTS_LINGER_S * 1e9)
    connection.send("/events", since=_seconds(since_ns), until=_seconds(until_ns), filters=filters)


def deaths(connection: Connection) -> tuple[list[Json], bool]:
    """The deaths that the engine reported in time, oldest first, and whether they are all."""
    body = bytearray()
    try:
        for chunk in connection.answer():
            body += chunk
    except Unavailable:
        return parse_events(bytes(body)), False
    return parse_events(bytes(body)), True


def parse_events(body: bytes) -> list[Json]:
    """Objects of a stream of JSON, one a line; a line that is cut or no object is left out."""
    events = []
    for line in body.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            events.append(event)
    return events


def mapping(value: Any, *path: str) -> Json:
    """The object at the end of a path of names; empty where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def text(value: Json, name: str) -> str:
    """A string of an object; empty where there is none."""
    found = value.get(name)
    return found if isinstance(found, str) else ""


def number(value: Json, name: str) -> int | None:
    """An integer of an object, also one spelled as a string (64-bit numbers in CRI); None where there is none."""
    found = value.get(name)
    if isinstance(found, str) and found.isdecimal() and len(found) < 20:
        return int(found)
    return found if isinstance(found, int) and not isinstance(found, bool) and abs(found) < 1 << 64 else None


def _seconds(at_ns: int) -> str:
    return f"{at_ns // 1_000_000_000}.{at_ns % 1_000_000_000:09d}"
