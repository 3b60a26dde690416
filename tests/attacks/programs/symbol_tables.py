"""Thousands of symbol tables over the same bytes, in a file that is another one each time."""

import os
import time

from running import arguments, burst, elf, in_file, symbol

ends, folder, _ = arguments()
number = 0
while time.monotonic() < ends:
    number += 1
    path = folder / f"tables{os.getpid()}-{number}"
    path.write_bytes(elf(4095, symbol(1) * 40_000, b"\0name\0"))
    burst(lambda path=path: in_file(path))
    path.unlink()
