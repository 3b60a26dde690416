"""Where stores are when nobody says where."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from necroscope.errors import BadInput
from necroscope.sense.environment import home, users

SYSTEM = Path("/var/lib/necroscope")


def to_read(given: Path | None, environment: Mapping[str, str] = os.environ, system: Path = SYSTEM) -> Path:
    """The given folder, else that of the environment or the settings, else the first of the usual places with a store
    that can be read."""
    if given is not None:
        return given
    places = _places(environment, system)
    if len(places) == 1 and places[0].exists():
        return places[0]
    for place in places:
        if os.access(place / "format.json", os.R_OK):
            return place
    looked = " or ".join(map(str, places))
    raise BadInput(f"There is no store in {looked}.", "record first (`necroscope record`), or give --store DIR")


def to_write(given: Path | None, environment: Mapping[str, str] = os.environ, system: Path = SYSTEM) -> Path:
    """The given folder, else the system's for root and one's own for everybody else."""
    if given is not None:
        return given
    places = _places(environment, system)
    return places[0] if len(places) == 1 or os.geteuid() == 0 else places[1]


def _places(environment: Mapping[str, str], system: Path) -> list[Path]:
    if environment.get("NECROSCOPE_STORE"):
        return [Path(environment["NECROSCOPE_STORE"])]
    from necroscope.config import load

    if configured := load(None, environment).store.path:
        return [Path(configured)]
    state = users("XDG_STATE_HOME", environment) or str(Path(home(environment) or "/") / ".local" / "state")
    return [system, Path(state) / "necroscope"]
