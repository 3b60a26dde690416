"""Finds scenarios: those of the package, and users' own folders."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from necroscope.errors import BadInput
from necroscope.lab.scenario import Scenario

OWN = Path(__file__).parent / "scenarios"
SYSTEM = Path("/etc/necroscope/scenarios")
VARIABLE = "NECROSCOPE_SCENARIOS"


def folders(extra: Sequence[Path] = ()) -> list[Path]:
    """Where scenarios are looked for; a later folder's scenario replaces an earlier one's of the same name."""
    named = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    for folder in extra:
        if not folder.is_dir():
            raise BadInput(f"{folder} is no folder", "give a folder with scenarios, one Python file each")
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
        raise BadInput(f"there is no scenario {name!r}", f"known are {', '.join(known)}")
    return known[name]


def load(file: Path) -> Scenario:
    """The scenario in a file."""
    spec = importlib.util.spec_from_file_location(f"necroscope_scenario_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BadInput(f"{file} cannot be loaded: {type(error).__name__}: {error}", "see docs/lab.md") from error
    scenario = getattr(module, "scenario", None)
    if not isinstance(scenario, Scenario):
        raise BadInput(f"{file} holds no `scenario = Scenario(...)`", "see docs/lab.md")
    return scenario
