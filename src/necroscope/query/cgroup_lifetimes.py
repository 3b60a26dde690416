"""Lives of cgroups, from the events of a window: made, removed, released; and who made and removed them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from necroscope.clock import NS
from necroscope.query.rows import Row, rows_of
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.event import Window

LIVES = frozenset({"cgroup-mkdir", "cgroup-rmdir", "cgroup-release"})
LIFE = ["at_ns", "kind", "subject", "hierarchy", "cgroup", "pid"]
"""Kinds of events that lives are made of, and what of them is read."""
# The kernel may take this long to release what nothing pins.
RELEASE_NS = 5 * NS


@dataclass(frozen=True, slots=True)
class Life:
    """One cgroup. None: not seen. `maker` is the process that made its directory, `remover` who removed it."""

    hierarchy: int
    cgroup: int
    path: str
    made_ns: int | None = None
    removed_ns: int | None = None
    released_ns: int | None = None
    maker: int | None = None
    remover: int | None = None

    def leaked(self, until_ns: int) -> bool:
        """Removed, and long enough afterwards still not released."""
        return self.removed_ns is not None and self.released_ns is None and self.removed_ns + RELEASE_NS <= until_ns


def lives_of(snapshot: Snapshot, window: Window, notes: list[str] | None = None) -> list[Life]:
    """The cgroups that were made, removed or released in a window, by time."""
    rows = rows_of(snapshot, "events", window, LIFE, lambda row: row["kind"] in LIVES, 300_000, notes)
    return lives(rows)


def lives(rows: Iterable[Row]) -> list[Life]:
    """Events, oldest first, put together. Ids may be used again: each making begins another life."""
    found: dict[tuple[int, int], Life] = {}
    done: list[Life] = []
    for row in rows:
        if row["hierarchy"] is None or row["cgroup"] is None:
            continue
        key = row["hierarchy"], row["cgroup"]
        life = found.get(key, Life(*key, row["subject"]))
        if row["kind"] == "cgroup-mkdir":
            if key in found:
                done.append(found[key])
            life = Life(*key, row["subject"], made_ns=row["at_ns"], maker=row["pid"])
        elif row["kind"] == "cgroup-rmdir":
            life = replace(life, removed_ns=row["at_ns"], remover=row["pid"], path=row["subject"] or life.path)
        else:
            life = replace(life, released_ns=row["at_ns"])
        found[key] = life
    return sorted([*done, *found.values()], key=lambda life: life.made_ns or life.removed_ns or life.released_ns or 0)
