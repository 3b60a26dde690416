"""Builds the inner loops of the decoders when there is a C compiler; without one everything works, more slowly."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SENSE = Path("src/necroscope/sense")
SOURCES = (SENSE / "perf/decode/native.c", SENSE / "importers/perf_script/script_scan.c")
FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror")


class InnerLoops(BuildHookInterface[Any]):
    """Compiles each file to a library beside it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by the builder of wheels, editable ones included."""
        libraries = [source.with_name("_native.so") for source in SOURCES]
        compiler = shutil.which(os.environ.get("CC", "cc"))
        trouble = "there is no C compiler" if compiler is None else ""
        for source, library in zip(SOURCES, libraries, strict=True):
            if compiler is not None:
                trouble = trouble or self._compile(compiler, Path(self.root) / source, Path(self.root) / library)
        if trouble:
            for library in libraries:
                (Path(self.root) / library).unlink(missing_ok=True)
            self.app.display_warning(f"the decoders use Python and NumPy alone: {trouble}")
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-linux_{platform.machine()}"
        build_data["artifacts"].extend(str(library) for library in libraries)

    def _compile(self, compiler: str, source: Path, library: Path) -> str:
        """Make the library at once or not at all; what went wrong, in words."""
        hidden = library.with_name(f".{library.stem}-{os.getpid()}.so")
        done = subprocess.run(
            [compiler, *FLAGS, str(source), "-o", str(hidden)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            hidden.unlink(missing_ok=True)
            return done.stderr.strip()[-500:] or f"{compiler} failed"
        hidden.replace(library)
        return ""
