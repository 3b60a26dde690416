"""What every request has to pass, and what every answer carries.

A page of somebody else in the same browser must not read this node: the name that it was reached by has to be ours
(against DNS rebinding), and a request from another origin is refused. Beyond loopback, the API asks for a token.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CSP = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types lit-html",
    )
)
_HEADERS = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"x-frame-options", b"DENY"),
)
_METHODS = ("GET", "HEAD")
_MOST_QUERY = 16 << 10
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))


@dataclass(frozen=True, slots=True)
class Rules:
    """Whom a server answers. `names` are hosts that it may be reached by; with `any_address`, any address too (of a
    server that listens on all of them). `token`: empty asks for none."""

    names: frozenset[str] = _LOOPBACK
    any_address: bool = False
    token: str = ""

    def knows(self, host: str) -> bool:
        """Whether a request for this host is for us."""
        name = host_name(host)
        return name in self.names or (self.any_address and _is_address(name))

    def lets_in(self, authorization: str) -> bool:
        """Whether a header has the token."""
        given = authorization.removeprefix("Bearer ").encode("utf-8", "replace")
        return not self.token or hmac.compare_digest(given, self.token.encode())


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: App, rules: Rules) -> None:
        self._app, self._rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        refused = self._refused(scope)
        if refused is not None:
            await _say(send, *refused)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
            await send(message)

        await self._app(scope, receive, with_headers)

    def _refused(self, scope: Scope) -> tuple[int, str, str] | None:
        headers = _once(scope["headers"], (b"host", b"origin", b"sec-fetch-site", b"authorization", b"content-length"))
        if headers is None or not self._rules.knows(headers[b"host"]):
            return 421, "This server is not reached by that name.", "see `necroscope serve --help`, --name"
        if scope["method"] not in _METHODS:
            return 405, "Nothing here can be changed.", "use GET"
        if headers[b"content-length"] not in ("", "0") or len(scope["query_string"]) > _MOST_QUERY:
            return 413, "The request is too long.", "ask about less"
        if headers[b"sec-fetch-site"] == "cross-site" and scope["path"].startswith("/api/"):
            return 403, "Another site's page may not ask.", "open this server's own page"
        if (origin := headers[b"origin"]) and origin.partition("://")[2] != headers[b"host"]:
            return 403, "Another site's page may not ask.", "open this server's own page"
        if scope["path"].startswith("/api/") and not self._rules.lets_in(headers[b"authorization"]):
            return 401, "A token is needed.", "open the address that `necroscope serve` printed"
        return None


def host_name(host: str) -> str:
    """The name in a Host header, without port and brackets, in small letters."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if ":" in host else host.lower()


def is_loopback(name: str) -> bool:
    """Whether nobody but this machine reaches a server that listens there."""
    return name in _LOOPBACK or (_is_address(name) and ipaddress.ip_address(name).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _once(headers: Iterable[tuple[bytes, bytes]], names: tuple[bytes, ...]) -> dict[bytes, str] | None:
    """Some headers, empty where there is none; None when one of them is given twice."""
    found: dict[bytes, str] = {}
    for name, value in headers:
        if name in names:
            if name in found:
                return None
            found[name] = value.decode("latin-1")
    return {name: found.get(name, "") for name in names}


async def _say(send: Send, status: int, message: str, hint: str) -> None:
    body = json.dumps({"error": {"message": message, "hint": hint}}).encode()
    kind = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*kind, *_HEADERS]})
    await send({"type": "http.response.body", "body": body})
