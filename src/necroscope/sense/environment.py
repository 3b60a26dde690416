"""What of the environment steers this program.

Variables of its own (NECROSCOPE_...) always do. Those that were set for other programs (DOCKER_HOST, HOME, XDG_...) do
so for an ordinary user only: with privileges, they may still be those of somebody who became root, or of whoever wrote
what root's shell reads. Documented in docs/configuration.md.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping

from necroscope.sense.ownership import privileged

PROGRAMS = "NECROSCOPE_PATH"
SYSTEM_BUS = "NECROSCOPE_SYSTEM_BUS"
CONTAINER_SOCKET = "NECROSCOPE_CONTAINER_SOCKET"

FOLDERS = (
    *("/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin"),
    # Flatcar, NixOS and Google's nodes keep programs of the system here.
    *("/opt/bin", "/run/current-system/sw/bin", "/home/kubernetes/bin"),
)
"""Where programs are looked for with privileges."""

_FIXED = {"LC_ALL": "C", "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": "", "PERF_CONFIG": "/dev/null"}


def users(name: str, environment: Mapping[str, str] = os.environ) -> str:
    """A variable that was set for other programs; empty with privileges."""
    return "" if privileged() else environment.get(name, "")


def home(environment: Mapping[str, str] = os.environ) -> str:
    """The user's own folder: with privileges as the system's list of users has it, whatever $HOME says."""
    if not privileged():
        return environment.get("HOME", "")
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return "/"


def program_folders() -> tuple[str, ...]:
    """Folders in which programs are looked for, in this order."""
    own = os.environ.get(PROGRAMS, "")
    if own or not privileged():
        return tuple(filter(os.path.isabs, (own or os.environ.get("PATH", os.defpath)).split(os.pathsep)))
    return FOLDERS


def for_programs() -> dict[str, str]:
    """The environment of programs that are asked. A locale, pager, colours or settings of perf never reach what is
    parsed; with privileges nothing of the user's does."""
    if not privileged():
        return {**os.environ, **_FIXED}
    return {"PATH": os.pathsep.join(program_folders()), "HOME": "/", **_FIXED}
