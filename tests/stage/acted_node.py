"""A node that a plan can be carried out on, and that a killed program leaves as it was at that moment: all that it is
lies in one JSON file, which is replaced at each change.

node = acted_node(tmp_path / "node.json", links={...}, units={...})
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from necroscope.act.node.doors import ContainerView, HeldZombie, Node, ProcessView, UnitView
from necroscope.errors import Unavailable
from necroscope.vocabulary.plan import ABSENT

BOOT = "11111111-2222-3333-4444-555555555555"
NOBODY: dict[str, Any] = {
    "boot": BOOT,
    "paths": {},
    "units": {},
    "unit_files": {},
    "containers": {},
    "processes": {},
    "callers": [],
    "zombies": [],
    "identities": {},
    "directories": [],
    "users": {},
    "reloads": 0,
    "log": [],
    "breaks": [],
}


@dataclass
class World:
    """What the node is. `breaks` are calls that fail, before (`before:stop x`) or after (`after:stop x`) the change."""

    path: Path

    def read(self) -> dict[str, Any]:
        known: dict[str, Any] = json.loads(self.path.read_text())
        return known

    def change(self, call: str, **values: Any) -> None:
        """Change it at once; the calls are logged."""
        now = self.read()
        if f"before:{call}" in now["breaks"]:
            raise Unavailable(f"{call} fails")
        for name, value in values.items():
            if isinstance(now[name], dict):
                now[name] = {key: one for key, one in {**now[name], **value}.items() if one is not None}
            else:
                now[name] = value
        now["log"] = [*now["log"], call]
        other = self.path.with_suffix(".new")
        other.write_text(json.dumps(now))
        other.replace(self.path)
        if f"after:{call}" in now["breaks"]:
            raise Unavailable(f"{call} fails late")

    def seen(self) -> dict[str, Any]:
        """What one could tell apart before and after: not what was counted or logged on the way."""
        return {name: value for name, value in self.read().items() if name not in ("reloads", "log", "breaks")}


class _Units:
    def __init__(self, world: World) -> None:
        self._world = world

    def unit(self, name: str) -> UnitView | None:
        for found in self._world.read()["units"].values():
            if name in (found["name"], *found.get("names", ())):
                values = {"names": (found["name"],), "load_state": "loaded", **found}
                return UnitView(**{key: tuple(one) if isinstance(one, list) else one for key, one in values.items()})
        return None

    def files(self, names: Sequence[str]) -> dict[str, bytes]:
        now = self._world.read()
        found = {path: text.encode() for path, text in now["unit_files"].items() if any(name in path for name in names)}
        ours = {
            path: state.encode() for path, state in now["paths"].items() if any(f"/{name}.d/" in path for name in names)
        }
        return found | ours

    def links(self, names: Sequence[str]) -> list[str]:
        return sorted(path for path in self._world.read()["paths"] if ".wants/" in path and path.endswith(tuple(names)))

    def stop(self, name: str) -> str:
        units = self._world.read()["units"]
        self._world.change(f"stop {name}", units={name: {**units[name], "active_state": "inactive"}})
        return "stopped in 0.1 s"

    def start(self, name: str) -> str:
        units = self._world.read()["units"]
        self._world.change(f"start {name}", units={name: {**units[name], "active_state": "active"}})
        return ""

    def reload(self) -> None:
        self._world.change("reload", reloads=self._world.read()["reloads"] + 1)

    def reboot(self) -> None:
        self._world.change("reboot", boot="another")


class _Paths:
    def __init__(self, world: World) -> None:
        self._world = world

    def state(self, path: str) -> str:
        state: str = self._world.read()["paths"].get(path, ABSENT)
        return state

    def set(self, path: str, state: str) -> None:
        if (state == ABSENT) == (self.state(path) == ABSENT):
            raise Unavailable(f"{path} is not as it was")
        self._world.change(f"set {path}", paths={path: None if state == ABSENT else state})

    def unlink(self, path: str, identity: str) -> bool:
        there = self._world.read()["identities"].get(path) == identity and self.state(path) != ABSENT
        if there:
            self._world.change(f"unlink {path}", paths={path: None})
        return bool(there)

    def tidy(self, path: str) -> None:
        pass


class _Engine:
    def __init__(self, world: World) -> None:
        self._world = world

    def container(self, name: str) -> ContainerView | None:
        found = self._world.read()["containers"]
        return next((ContainerView(**one) for one in found.values() if name in (one["id"], one["name"])), None)

    def set_policy(self, view: ContainerView, policy: str) -> None:
        self._change(f"policy {view.name}", view, policy=policy)

    def stop(self, view: ContainerView) -> str:
        self._change(f"stop {view.name}", view, running=False)
        return ""

    def start(self, view: ContainerView) -> str:
        self._change(f"start {view.name}", view, running=True)
        return ""

    def _change(self, call: str, view: ContainerView, **values: Any) -> None:
        known = self._world.read()["containers"][view.name]
        self._world.change(call, containers={view.name: {**known, **values}})


class _Memory:
    def __init__(self, world: World) -> None:
        self._world = world

    def zombies(self, below: str) -> list[HeldZombie]:
        start = below.rstrip("/") + "/"
        rows = self._world.read()["zombies"]
        return [
            HeldZombie(path, tuple(kinds), tuple(map(tuple, files)))
            for path, kinds, files in rows
            if path.startswith(start)
        ]

    def count(self, below: str) -> int:
        return len(self.zombies(below))

    def identity(self, path: str) -> str:
        known: str = self._world.read()["identities"].get(path, "")
        return known

    def directory(self, cgroup: str) -> str:
        path = f"/sys/fs/cgroup/memory{cgroup}"
        return path if path in self._world.read()["identities"] else ""

    def empty_directories(self, below: str) -> list[tuple[str, str]]:
        return [(path, self.identity(path)) for path in self._world.read()["directories"]]

    def drop_cache(self, files: Sequence[tuple[str, str]]) -> str:
        gone = {path for path, identity in files if self.identity(path) == identity}
        rows = self._world.read()["zombies"]
        left = [row for row in rows if row[1] != ["page-cache"] or not {file for file, _ in row[2]} <= gone]
        self._world.change("drop", zombies=left)
        return f"dropped {len(gone)}"

    def reclaim(self, directory: str, budget_s: float) -> str:
        self._world.change(
            "reclaim", zombies=[row for row in self._world.read()["zombies"] if row[1] != ["page-cache"]]
        )
        return "done"

    def remove(self, directories: Sequence[tuple[str, str]]) -> str:
        gone = {path for path, identity in directories if self.identity(path) == identity}
        self._world.change("rmdir", directories=[one for one in self._world.read()["directories"] if one not in gone])
        return f"removed {len(gone)}"

    def user_of(self, identity: str) -> int | None:
        known: int | None = self._world.read()["users"].get(identity)
        return known


class _Processes:
    def __init__(self, world: World) -> None:
        self._world = world

    def process(self, pid: int) -> ProcessView | None:
        found = self._world.read()["processes"].get(str(pid))
        return None if found is None else _process(found)

    def end(self, pid: int, identity: str) -> str:
        self._world.change(f"end {pid}", processes={str(pid): None})
        return ""

    def callers(self) -> list[ProcessView]:
        return [_process(one) for one in self._world.read()["callers"]]


class _Boot:
    def __init__(self, world: World) -> None:
        self._world = world

    def id(self) -> str:
        known: str = self._world.read()["boot"]
        return known


def _process(found: dict[str, Any]) -> ProcessView:
    return ProcessView(**{**found, "cgroups": tuple(found.get("cgroups", ()))})


def acted_node(path: Path, **known: Any) -> tuple[World, Node]:
    """A node, and the file in which it is."""
    path.write_text(json.dumps({**NOBODY, **known}))
    world = World(path)
    return world, node_of(world)


def node_of(world: World) -> Node:
    """The doors of a node that is there."""
    return Node(_Units(world), _Paths(world), _Engine(world), _Memory(world), _Processes(world), _Boot(world))


def in_a_child(work: Any) -> int:
    """Do something in a process of its own, which may be killed at it; its wait status."""
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1]
