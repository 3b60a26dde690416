"""The hypotheses in force on this node: ours, and those of users' TOML files (docs/add-a-mechanism.md)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from necroscope.config.own_files import own_files
from necroscope.diagnose.hypotheses import Catalogue, Warned, catalogue

DEFAULT = (Path("/etc/necroscope/mechanisms.d"),)


def hypotheses_of(folders: Sequence[Path] = DEFAULT) -> Catalogue:
    """Ours, then those of each folder's `*.toml` files by name. What cannot be read is a warning of the catalogue."""
    found = own_files(folders)
    return catalogue(found.files, [Warned(*one) for one in found.unread])
