"""A process of a scenario: a function of the scenario's own file, run in an interpreter of its own.

Run by `actors` as a script, with one JSON object as its argument:

    {"file": "...", "function": "walk", "arguments": [...], "name": "calm-otter", "cpu": 1, "nice": 0, "realtime": 0,
     "cgroups": ["/sys/fs/cgroup/memory/..."], "network": 0, "parent": 4711}

It ends with its parent. When it has loaded the function, taken its name, its core and its cgroups, it prints `ready`.
The function then reads cues from standard input, a line each, and prints answers to standard output.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from necroscope.lab.actors.timing import answer

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15


def _take_precedence(priority: int) -> None:
    """Real-time priority, or what comes nearest: cgroups may have no real-time budget."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(priority))
    except PermissionError:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
        with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as group:
            group.write("-20")


def main() -> None:
    """See the module."""
    role = json.loads(sys.argv[1])
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != role["parent"]:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the runner, which then ends us
    function = _load(role["file"], role["function"])
    _prctl(_PR_SET_NAME, ctypes.c_char_p(role["name"].encode()[:15]))
    for cgroup in role["cgroups"]:
        with open(f"{cgroup}/cgroup.procs", "w") as procs:
            procs.write("0")
    if role["network"]:
        from necroscope.lab.environment.network import enter

        enter(role["network"])
    if role["cpu"] is not None:
        os.sched_setaffinity(0, {role["cpu"]})
    if role["nice"]:
        os.setpriority(os.PRIO_PROCESS, 0, role["nice"])
    if role["realtime"]:
        _take_precedence(role["realtime"])
    answer("ready")
    try:
        function(*role["arguments"])
    except BrokenPipeError:
        pass
    except Exception as error:
        sys.exit(f"necroscope: {role['name']} ({role['function']}) ended: {type(error).__name__}: {error}")


def _load(file: str, function: str) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location("scene", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["scene"] = module
    spec.loader.exec_module(module)
    loaded: Callable[..., Any] = getattr(module, function)
    return loaded


def _prctl(option: int, value: Any) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    # the folder of this script is no place to import from: it has modules named like those of the standard library
    sys.path.pop(0)
    main()
