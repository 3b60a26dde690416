"""Whether a recording is of this node in this boot: nothing is changed here because of what was wrong elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from necroscope.clock import LAST_NS
from necroscope.errors import Refused

if TYPE_CHECKING:
    from necroscope.store.read.reader import Store

_STARTED = "recorder-started"


def refuse_foreign(store: Store, boot_id: str) -> None:
    """`Refused` where the recorder that wrote the end of a store ran in another boot, or did not say in which."""
    from necroscope.query.events.landmarks import events

    started = events(store.snapshot(), (0, LAST_NS), kinds=_STARTED.__eq__)
    boot = started[-1].boot if started else ""
    if boot != boot_id:
        whose = "another boot, or of another node" if boot else "it cannot be told which boot"
        hint = "`necroscope scan`, then `necroscope fix FINDING-ID`, acts on what is so now"
        raise Refused(f"The recording {store.folder} is of {whose}.", hint)
