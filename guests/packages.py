"""Debian packages of any release and architecture, fetched by apt alone and unpacked without installing them.

apt gets a configuration of its own: its own lists and archives, an empty list of what is installed, and one source that
is the machine's own one with another release. The machine's packages, sources and architectures stay as they are.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from guests.fetching import Unfetchable, run

# Debian's own archive, as apt names it; the updates of a release and its security archive are others.
_ORIGIN, _COMPONENT = "Debian", "main"
_FRESH_S = 86_400.0
_MERGED = ("bin", "sbin", "lib", "lib64")
_ASK = ("indextargets", "--format", "$(ORIGIN) $(COMPONENT) $(CODENAME) $(REPO_URI)", "Created-By: Packages")


@dataclass(frozen=True)
class Apt:
    """apt for one release (`bookworm`, `trixie-backports`) and one architecture, in a folder of its own."""

    suite: str
    architecture: str
    folder: Path

    def update(self) -> None:
        """Fetch the lists, once a day."""
        fetched = self.folder / "updated"
        if not fetched.exists() or time.time() - fetched.stat().st_mtime > _FRESH_S:
            self._configure(archive(run(["apt-get", *_ASK])))
            run(["apt-get", *self._options(), "update", "-qq"], self._environment())
            fetched.touch()

    def packages(self, wanted: Sequence[str]) -> list[Path]:
        """The archives of these packages and of all that they depend on."""
        self.update()
        install = ["apt-get", *self._options(), "install", "-y", "-qq", "--no-install-recommends"]
        # Of what is there already it would tell nothing.
        elsewhere = f"Dir::Cache::archives={self.folder / 'nothing'}"
        told = run([*install, "--print-uris", "-o", elsewhere, *wanted], self._environment())
        names = [shlex.split(line)[1] for line in told.splitlines() if line.startswith("'")]
        folder = self.folder / "archives"
        if not all((folder / name).exists() for name in names):
            run([*install, "--download-only", *wanted], self._environment())
        return [folder / name for name in names]

    def only(self, name: str) -> Path:
        """The archive of one package, without what it depends on."""
        self.update()
        told = run(["apt-get", *self._options(), "download", "--print-uris", name], self._environment())
        archive = self.folder / "archives" / shlex.split(told.splitlines()[-1])[1]
        if not archive.exists():
            run(["apt-get", *self._options(), "download", name], self._environment(), archive.parent)
        return archive

    def depends(self, name: str) -> list[str]:
        """The names of what a package depends on."""
        self.update()
        told = run(["apt-cache", *self._options(), "depends", "--important", name], self._environment())
        return [line.split()[1] for line in told.splitlines() if line.strip().startswith("Depends:")]

    def _configure(self, uri: str) -> None:
        for name in ("lists/partial", "archives/partial", "nothing/partial"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").touch()
        (self.folder / "sources.list").write_text(f"deb {uri} {self.suite} {_COMPONENT}\n", "utf-8")
        (self.folder / "apt.conf").write_text(self._settings(), "utf-8")

    def _settings(self) -> str:
        values = {
            "APT::Architecture": self.architecture,
            "Dir::Cache": self.folder,
            "Dir::Cache::archives": self.folder / "archives",
            "Dir::Etc::sourcelist": self.folder / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State": self.folder,
            "Dir::State::lists": self.folder / "lists",
            "Dir::State::status": self.folder / "status",
            # A home that only its owner may enter would hold apt's own user off.
            "APT::Sandbox::User": "",
        }
        return "".join(f'{key} "{value}";\n' for key, value in values.items())

    def _options(self) -> list[str]:
        # The command line has the last word, after the machine's own settings.
        return ["-o", "Acquire::Languages=none", "-o", f"APT::Architectures={self.architecture}"]

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "APT_CONFIG": str(self.folder / "apt.conf"), "DEBIAN_FRONTEND": "noninteractive"}


def archive(targets: str) -> str:
    """The address of Debian's own archive among the sources that this machine has."""
    for line in targets.splitlines():
        origin, component, codename, uri = line.split(" ", 3)
        if (origin, component) == (_ORIGIN, _COMPONENT) and "-" not in codename:
            return uri
    raise Unfetchable("no source of Debian's own archive is configured here")


def unpack(archives: Sequence[Path], folder: Path) -> Path:
    """Lay the files of packages into a folder; no script of theirs runs. `/bin`, `/lib` and such lie below `/usr`."""
    for name in _MERGED:
        (folder / "usr" / name).mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(f"usr/{name}")
    for one in archives:
        # dpkg-deb alone would put folders in the place of those links.
        files = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(one)], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "--keep-directory-symlink", "-C", str(folder)], input=files, check=True)
    return folder
