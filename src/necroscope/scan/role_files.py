"""The roles in force on this node: ours, and those of users' TOML files (docs/audit.md)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from necroscope.config.own_files import own_files
from necroscope.diagnose.audit import Roles, roles_of
from necroscope.diagnose.hypotheses.catalogue import Warned

DEFAULT = (Path("/etc/necroscope/roles.d"),)


def load_roles(folders: Sequence[Path] = DEFAULT) -> Roles:
    """Those of the folders' `*.toml` files, the last file first, then ours."""
    found = own_files(folders)
    return roles_of(found.files, [Warned(*one) for one in found.unread])
