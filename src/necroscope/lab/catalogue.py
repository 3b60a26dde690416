"""Finds scenarios: those of the package, and users' own folders."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from types import FrameType

from necroscope.diagnose.hypotheses import catalogue as hypotheses
from necroscope.errors import BadInput
from necroscope.lab.scenario import Need, Scenario, Show

OWN = Path(__file__).parent / "scenarios"
SYSTEM = Path("/etc/necroscope/scenarios")
VARIABLE = "NECROSCOPE_SCENARIOS"
_GIVE = "give a folder with scenarios, one Python file each"
_UNSET = f"it is in ${VARIABLE}: make it, or take it out"
SUBJECTS = ("unit", "container", "process", "cgroup", "kernel")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


def folders(extra: Sequence[Path] = ()) -> list[Path]:
    """Where scenarios are looked for; a later folder's scenario replaces an earlier one's of the same name."""
    named = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    for folder, hint in ((folder, hint) for those, hint in ((named, _UNSET), (extra, _GIVE)) for folder in those):
        if not folder.is_dir():
            raise BadInput(f"{folder} is not a folder", hint)
    return [folder for folder in (OWN, SYSTEM, *named, *extra) if folder.is_dir()]


def scenarios(extra: Sequence[Path] = ()) -> dict[str, Scenario]:
    """All scenarios by name, in the order of their names; a file that holds none is `BadInput`."""
    found = {}
    for folder in folders(extra):
        for file in sorted(folder.glob("*.py")):
            if not file.name.startswith("_"):
                scenario = load(file)
                found[scenario.name] = scenario
    return dict(sorted(found.items()))


def find(name: str, extra: Sequence[Path] = ()) -> Scenario:
    """The scenario of this name."""
    known = scenarios(extra)
    if name not in known:
        near = get_close_matches(name, known)
        hint = f"did you mean {' or '.join(near)}?" if near else "`necroscope lab list` has them"
        raise BadInput(f"There is no scenario {name!r}.", hint)
    return known[name]


def load(file: Path) -> Scenario:
    """The scenario in a file."""
    spec = importlib.util.spec_from_file_location(f"necroscope_scenario_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        with _ctrl_c_is_stopped():
            spec.loader.exec_module(module)
    except _Stopped:
        raise
    except BaseException as error:
        what = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise BadInput(f"{file} cannot be loaded: {what}", "see docs/lab.md") from error
    scenario = getattr(module, "scenario", None)
    if not isinstance(scenario, Scenario):
        raise BadInput(f"{file} holds no `scenario = Scenario(...)`", "see docs/lab.md")
    if wrong := next(_wrong(scenario), ""):
        raise BadInput(f"{file} holds a scenario that cannot be played: {wrong}", "see docs/lab.md")
    return scenario


def _wrong(scenario: Scenario) -> Iterator[str]:
    """What is wrong with a scenario's fields; they come from anybody's file."""
    if not isinstance(scenario.name, str) or not _NAME.fullmatch(scenario.name):
        yield f"its name {scenario.name!r} is not one word of small letters, digits and dashes"
    if not isinstance(scenario.summary, str):
        yield "its summary is no text"
    if not callable(scenario.play):
        yield "its play is no function"
    if scenario.cause is not None and hypotheses().of(scenario.cause) is None:
        yield f"its cause {scenario.cause!r} is no mechanism (docs/mechanisms.md lists them)"
    if scenario.cause is not None and scenario.subject not in SUBJECTS:
        yield f"its subject {scenario.subject!r} is none of {', '.join(SUBJECTS)}"
    for field, kind in (("needs", Need), ("shows", Show)):
        values = getattr(scenario, field)
        if not isinstance(values, tuple | list) or not all(isinstance(one, kind) for one in values):
            yield f"its {field} are not a tuple of {kind.__name__}"


class _Stopped(KeyboardInterrupt):
    """The user's Ctrl-C, which a file that raises KeyboardInterrupt is not."""


@contextmanager
def _ctrl_c_is_stopped() -> Iterator[None]:
    """Ctrl-C raises `_Stopped`, where Python's own handler is in force."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or not _in_main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _Stopped
