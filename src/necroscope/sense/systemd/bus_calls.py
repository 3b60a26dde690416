"""Calls to systemd over a bus: bounded in time, many in flight at once, every failure `Unavailable`."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from necroscope.errors import Unavailable
from necroscope.sense.systemd.bus import address

if TYPE_CHECKING:
    from dbus_fast import Message
    from dbus_fast.aio import MessageBus

T = TypeVar("T")

SYSTEMD = "org.freedesktop.systemd1"
IN_FLIGHT = 64
"""The reference bus lets one connection wait for 128 replies at a time (max_replies_per_connection)."""


def conversation(talk: Coroutine[Any, Any, T], budget_s: float) -> T:
    """What a conversation brings. `Unavailable` when systemd does not answer as expected, or in time."""
    import asyncio

    from dbus_fast.errors import AuthError, DBusError

    try:
        return asyncio.run(asyncio.wait_for(talk, budget_s + 0.1))
    except TimeoutError as error:
        raise Unavailable("systemd did not answer on the bus in time") from error
    except (DBusError, AuthError, OSError, EOFError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise Unavailable(f"systemd cannot be asked over the bus ({type(error).__name__})") from error


async def connected(socket: str) -> MessageBus:
    """The bus behind a socket."""
    from dbus_fast.aio import MessageBus

    return await MessageBus(bus_address=address(socket)).connect()


async def manager_call(bus: MessageBus, member: str) -> list[Any]:
    """The body of the manager's answer; `LookupError` where it refuses."""
    return _body(await bus.call(_message("/org/freedesktop/systemd1", f"{SYSTEMD}.Manager", member)))


async def property_calls(bus: MessageBus, calls: Iterable[tuple[str, str, str, list[str]]]) -> list[list[Any]]:
    """Bodies of the replies, in the order of the calls; empty where the unit is gone."""
    import asyncio

    messages = [
        _message(path, "org.freedesktop.DBus.Properties", member, signature, body)
        for path, member, signature, body in calls
    ]
    replies = await asyncio.gather(*(bus.call(message) for message in messages))
    return [_body(reply, missing_ok=True) for reply in replies]


def _message(path: str, interface: str, member: str, signature: str = "", body: list[str] | None = None) -> Message:
    from dbus_fast import Message

    return Message(
        destination=SYSTEMD, path=path, interface=interface, member=member, signature=signature, body=body or []
    )


def _body(reply: Message | None, missing_ok: bool = False) -> list[Any]:
    from dbus_fast import MessageType

    if reply is not None and reply.message_type is MessageType.METHOD_RETURN:
        return reply.body
    if missing_ok:
        return []
    raise LookupError(reply.error_name if reply else "no reply")


def batches(items: Sequence[T], size: int = IN_FLIGHT) -> Iterator[Sequence[T]]:
    """So many at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
