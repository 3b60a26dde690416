"""Write excerpts of the BTF of every kernel there is: `python -m guests btf-excerpt FOLDER`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from guests import kernel
from guests.btf import btf_of, excerpt
from guests.cache import alone
from guests.fetching import Unfetchable
from guests.machines import MACHINES, Machine
from necroscope.sense.kernel.btf import Btf

# Kernels whose types are looked at and that are not booted.
_MORE = (Machine("arm64-6.12", "arm64", "trixie", "6.12"), Machine("arm64-newest", "arm64", "sid", ""))


def main(arguments: Sequence[str]) -> int:
    """0 when all were written, 3 when a kernel cannot be had here."""
    parser = argparse.ArgumentParser(prog="python -m guests btf-excerpt", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where they are written, a file for each kernel")
    folder = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    kernels = {(one.suite, one.architecture): one for one in reversed((*MACHINES, *_MORE))}
    try:
        for machine in kernels.values():
            print(_write(machine, folder))
    except Unfetchable as error:
        print(f"guests: {error.args[0]}", file=sys.stderr)
        return 3
    return 0


def _write(machine: Machine, folder: Path) -> Path:
    with alone():
        fetched = kernel.fetch(machine)
    version = ".".join(fetched.version.split("-")[0].split("+")[0].split(".")[:2])
    file = folder / f"{version}-{machine.architecture}.json"
    file.write_text(text(excerpt(Btf(btf_of(fetched.image)), fetched.version, machine.architecture)), "utf-8")
    return file


def text(document: dict[str, Any]) -> str:
    """A struct a line, so that changes can be read."""
    lines = []
    for key, value in document.items():
        if isinstance(value, dict):
            inner = ",\n".join(f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in value.items())
            lines.append(f"{json.dumps(key)}: {{\n{inner}\n}}")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
