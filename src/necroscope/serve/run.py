"""Listening: a socket is bound first, so that what is printed is true, then requests are answered until a signal."""

from __future__ import annotations

import secrets
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass

from necroscope.errors import BadInput, Unavailable
from necroscope.serve.guard import Rules, is_loopback

_EVERYWHERE = frozenset(("0.0.0.0", "::"))


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen."""

    host: str
    port: int

    @classmethod
    def of(cls, text: str) -> Address:
        """HOST:PORT, with brackets around an IPv6 address; port 0 takes a free one."""
        host, colon, port = text.rpartition(":")
        if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
            raise BadInput(f"{text} is no address to listen on.", "write 127.0.0.1:7373 or [::1]:7373")
        host = host.removeprefix("[").removesuffix("]")
        if not host:
            raise BadInput(f"{text} names no host.", "write 127.0.0.1:7373; 0.0.0.0:7373 listens everywhere")
        return cls(host, int(port))

    @property
    def loopback(self) -> bool:
        """Whether nobody but this machine reaches it."""
        return is_loopback(self.host)

    def url(self, port: int, token: str = "") -> str:
        """What a browser opens; the token stands behind #, which no browser sends."""
        host = socket.gethostname() if self.host in _EVERYWHERE else self.host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{port}/" + (f"#token={token}" if token else "")


def rules(address: Address, names: tuple[str, ...], token: str) -> Rules:
    """Whom a server at this address answers; beyond loopback, only who has a token."""
    own = frozenset(name.lower() for name in names)
    if address.loopback:
        return Rules(Rules().names | own | {address.host}, token=token)
    here = frozenset({address.host, socket.gethostname().lower(), *Rules().names})
    return Rules(here | own, address.host in _EVERYWHERE, token or secrets.token_urlsafe(24))


def bound(address: Address) -> socket.socket:
    """A socket that listens there. `Unavailable` when it cannot."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((address.host, address.port))
        made.listen(128)
    except (OSError, UnicodeError) as error:
        made.close()
        why = error.strerror if isinstance(error, OSError) else "no such host"
        hint = "give another --listen; port 0 is a free one"
        raise Unavailable(f"{address.host}:{address.port} cannot be listened on: {why}.", hint) from error
    return made


def listen(app: object, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Answer requests until SIGINT or SIGTERM; `ready` is called when the first may come."""
    import uvicorn

    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        limit_concurrency=128,
        h11_max_incomplete_event_size=64 << 10,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
        ws="none",
        http="h11",
    )
    server = uvicorn.Server(config)

    def end(*_: object) -> None:
        """Before the server has handlers of its own, and when it sends a signal again after it has ended by it."""
        server.should_exit = True

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ready()
        server.run(sockets=[listening])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
