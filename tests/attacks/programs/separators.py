"""Names that hold what separates frames in stored stacks, of a file and of a function."""

import time
from pathlib import Path

from running import EVERYTHING, arguments, burst, elf, in_file, symbol, with_map

ends, folder, _ = arguments()
name = b"default_idle\x1f[kernel]\x1e"
path = folder / "x\x1e[kernel]\x1e"
path.write_bytes(elf(1, symbol(1), b"\0x\x1e" + name + b"\0"))


def write(place: Path) -> None:
    place.write_bytes(EVERYTHING + b"x\x1e" + name + b";\x1b[31m\n")


while time.monotonic() < ends:
    burst(lambda: in_file(path))
    with_map(write)
