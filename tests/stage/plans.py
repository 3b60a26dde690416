"""One plan of each kind, and a node that it fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from necroscope.act.node.doors import Node
from necroscope.act.node.paths import file_state
from necroscope.act.planning.draft import Draft
from necroscope.act.planning.plan import plan
from necroscope.vocabulary.plan import Plan
from stage.acted_node import World, acted_node

UNIT = "leaky.service"
WANTS = f"/etc/systemd/system/multi-user.target.wants/{UNIT}"
TIMER_WANTS = "/etc/systemd/system/timers.target.wants/leaky.timer"
ETC = f"/etc/systemd/system/{UNIT}"
GONE = "/dev/shm/left"
CACHED = "/var/lib/x/cached"
_RUNNING = {"active_state": "active", "unit_file_state": "enabled", "invocation": "ab", "restarts": 7}
_SETTINGS = {"Restart": "no", "ExecStart": "/bin/true"}
_LIMITS = {"Restart": "always", "StartLimitBurst": "5", "StartLimitIntervalUSec": "3600000000"}
_VENDOR = {f"/usr/lib/systemd/system/{UNIT}": "[Service]\nExecStart=/bin/leak\n"}
_OWN = {ETC: file_state(b"[Service]\nExecStart=/bin/leak\n")}

WORLDS: dict[str, dict[str, Any]] = {
    "stop-unit": {"units": {UNIT: {"name": UNIT, **_RUNNING}}, "unit_files": _VENDOR},
    "disable-unit": {
        "units": {
            UNIT: {"name": UNIT, **_RUNNING, "triggered_by": ["leaky.timer"]},
            "leaky.timer": {"name": "leaky.timer", **_RUNNING},
        },
        "unit_files": _VENDOR,
        "paths": {WANTS: f"link /usr/lib/systemd/system/{UNIT}", TIMER_WANTS: "link ../leaky.timer"},
    },
    "mask-unit": {"units": {UNIT: {"name": UNIT, **_RUNNING}}, "unit_files": _VENDOR},
    "neutralise-unit": {"units": {UNIT: {"name": UNIT, **_RUNNING, "settings": _SETTINGS}}, "paths": _OWN},
    "limit-restarts": {"units": {UNIT: {"name": UNIT, **_RUNNING, "settings": _LIMITS}}, "paths": _OWN},
    "stop-container": {
        "containers": {
            "leaky": {
                "id": "c" * 64,
                "name": "leaky",
                "running": True,
                "policy": "on-failure:3",
                "stop_timeout_s": 10,
                "engine": "docker",
                "socket": "/run/docker.sock",
                "sets_policy": True,
            }
        }
    },
    "stop-process": {"processes": {"4711": {"pid": 4711, "start_ticks": 99, "name": "holder", "cgroups": ["/user"]}}},
    "free-zombies": {
        "zombies": [
            ["/agents/a1", ["page-cache"], [[CACHED, "8:1:77"]]],
            ["/agents/a2", ["page-cache"], [["/gone/away", "8:1:78"]]],
        ],
        "identities": {CACHED: "8:1:77", "/sys/fs/cgroup/memory/agents": "0:30:5"},
    },
    "remove-leftover": {
        "zombies": [["/agents/a1", ["tmpfs"], [[GONE, "0:23:5"]]]],
        "identities": {GONE: "0:23:5"},
        "paths": {GONE: file_state(b"left behind")},
    },
    "remove-leftover many": {
        "zombies": [[f"/agents/a{one}", ["tmpfs"], [[f"{GONE}-{one}", f"0:23:{one}"]]] for one in range(40)],
        "identities": {f"{GONE}-{one}": f"0:23:{one}" for one in range(40)},
        "paths": {f"{GONE}-{one}": file_state(b"left behind") for one in range(40)},
    },
    "remove-directories": {
        "directories": ["/sys/fs/cgroup/memory/pods/a/b", "/sys/fs/cgroup/memory/pods/a"],
        "identities": {
            "/sys/fs/cgroup/memory/pods": "0:30:6",
            "/sys/fs/cgroup/memory/pods/a": "0:30:7",
            "/sys/fs/cgroup/memory/pods/a/b": "0:30:8",
        },
    },
    "reboot": {},
}
SUBJECTS: dict[str, tuple[str, ...]] = {
    "stop-container": ("leaky",),
    "stop-process": ("4711",),
    "free-zombies": ("/agents",),
    "remove-leftover": (GONE,),
    "remove-leftover many": tuple(f"{GONE}-{one}" for one in range(40)),
    "remove-directories": ("/pods",),
    "reboot": (),
}


def planned(action: str, path: Path, **more: Any) -> tuple[World, Node, Plan]:
    """A node on which this action makes sense, and its plan."""
    known = {**WORLDS[action], **more}
    for name, value in known.items():
        if isinstance(value, dict):
            known[name] = {**WORLDS[action].get(name, {}), **value}
    world, node = acted_node(path, **known)
    return world, node, plan(Draft(node, action.split(maxsplit=1)[0]), SUBJECTS.get(action, (UNIT,)))
