"""One POST of a JSON document. It ends in time whatever answers: the socket is shut when the time is over.

Redirects are not followed, an answer is read up to 4 KiB and believed only for its status. 2xx: taken. 408, 425, 429
and 5xx: later. Everything else, and what is no HTTP: 4xx will not be better later, the rest may be.
"""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from necroscope import __version__
from necroscope.record.sinks.queue import Refused, Undelivered

_LATER = (408, 425, 429)
_READ = 4096


def post(url: str, document: Any, timeout_s: float) -> None:
    """Raises `Undelivered`, or `Refused` where another attempt is no use."""
    where = urlsplit(url)
    make = HTTPSConnection if where.scheme == "https" else HTTPConnection
    try:
        connection = make(where.hostname or "", where.port, timeout=timeout_s)
    except (ValueError, HTTPException) as error:
        raise Refused(f"{url} is no address: {error}") from error
    watch = threading.Timer(timeout_s, _shut, (connection,))
    watch.daemon = True
    watch.start()
    try:
        path = f"{where.path or '/'}?{where.query}" if where.query else where.path or "/"
        body = json.dumps(document).encode()
        connection.request("POST", path, body, _headers(where.username, where.password))
        answer = connection.getresponse()
        answer.read(_READ)
        status = answer.status
        if not watch.is_alive():
            raise TimeoutError  # the end that was read is ours
    except (OSError, HTTPException, ValueError) as error:
        said = "no answer in time" if not watch.is_alive() else str(error) or type(error).__name__
        raise Undelivered(f"{where.netloc.rpartition('@')[2]}: {said}") from error
    finally:
        watch.cancel()
        connection.close()
    if 200 <= status < 300:
        return
    refused = 400 <= status < 500 and status not in _LATER
    raise (Refused if refused else Undelivered)(f"{where.hostname} answered {status}")


def _headers(user: str | None, password: str | None) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "User-Agent": f"necroscope/{__version__}"}
    if user is not None:
        from base64 import b64encode

        headers["Authorization"] = "Basic " + b64encode(f"{user}:{password or ''}".encode()).decode()
    return headers


def _shut(connection: HTTPConnection) -> None:
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)
