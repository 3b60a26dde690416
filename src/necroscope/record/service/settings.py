"""Settings that a recorder may act on: what root runs must have been written by root."""

from __future__ import annotations

from pathlib import Path

from necroscope.config import DEFAULT_FILE, Config, load
from necroscope.errors import BadInput
from necroscope.sense.ownership import privileged, weak_part


def trusted(file: Path | None) -> Config:
    """The settings in force. `BadInput` where they name commands, and somebody else than root could have."""
    config = load(file)
    place = file or DEFAULT_FILE
    if not any(one.command for one in config.sinks) or not privileged():
        return config
    try:
        weak = weak_part(place.absolute())
    except OSError as error:
        raise BadInput(f"{place} cannot be read: {error.strerror}.", "give --config a readable TOML file") from error
    if weak:
        raise BadInput(
            f"{place} names commands to run, and {weak} may be changed by others than root.", "chmod go-w it"
        )
    return config
