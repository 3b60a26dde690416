"""Calls to systemd over D-Bus: one connection for each question or change, every one of them with an end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from necroscope.errors import Unavailable
from necroscope.sense.ownership import check_socket
from necroscope.sense.systemd.bus import address

if TYPE_CHECKING:
    from dbus_fast.aio import MessageBus

SYSTEMD, MANAGER, PATH = "org.freedesktop.systemd1", "org.freedesktop.systemd1.Manager", "/org/freedesktop/systemd1"
Answer = TypeVar("Answer")


class Rejected(Unavailable):
    """systemd answered, and said no; `name` is the error's name on the bus."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"systemd refuses: {text or name}")
        self.name = name


@dataclass(frozen=True, slots=True)
class Caller:
    """A connection that is open."""

    bus: MessageBus

    async def manager(self, member: str, signature: str = "", body: list[Any] | None = None) -> list[Any]:
        """Call a method of the manager."""
        return await self.call(PATH, MANAGER, member, signature, body)

    async def properties(self, path: str) -> dict[str, Any]:
        """All properties of a unit, of all its interfaces."""
        body = await self.call(path, "org.freedesktop.DBus.Properties", "GetAll", "s", [""])
        return {name: variant.value for name, variant in body[0].items()}

    async def call(
        self, path: str, interface: str, member: str, signature: str = "", body: list[Any] | None = None
    ) -> list[Any]:
        """Call a method; `Rejected` with systemd's own words where it says no."""
        from dbus_fast import Message, MessageType

        message = Message(
            destination=SYSTEMD, path=path, interface=interface, member=member, signature=signature, body=body or []
        )
        reply = await self.bus.call(message)
        if reply is None or reply.message_type is not MessageType.METHOD_RETURN:
            words = reply.body[0] if reply is not None and reply.body and isinstance(reply.body[0], str) else ""
            raise Rejected(str(reply.error_name if reply is not None else "no reply"), words)
        answer: list[Any] = reply.body
        return answer


def ask(socket: str, work: Callable[[Caller], Awaitable[Answer]], within_s: float) -> Answer:
    """Do some work on the bus behind this socket, within so many seconds. `Unavailable` where it cannot be done."""
    import asyncio

    from dbus_fast.errors import AuthError, DBusError

    check_socket(socket)
    try:
        return asyncio.run(asyncio.wait_for(_connected(socket, work), within_s))
    except TimeoutError as error:
        raise Unavailable(f"systemd did not finish within {within_s:.0f} s") from error
    except (DBusError, AuthError, OSError, EOFError, ValueError, TypeError, LookupError, AttributeError) as error:
        hint = "run as root, where systemd and its bus run; $NECROSCOPE_SYSTEM_BUS names another bus"
        raise Unavailable(f"systemd cannot be reached at {socket} ({type(error).__name__})", hint) from error


async def _connected(socket: str, work: Callable[[Caller], Awaitable[Answer]]) -> Answer:
    from dbus_fast.aio import MessageBus

    bus = await MessageBus(bus_address=address(socket)).connect()
    try:
        return await work(Caller(bus))
    finally:
        bus.disconnect()
