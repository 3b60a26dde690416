"""A new mapped file every few milliseconds, each with symbols of its own."""

import os
import time

from running import arguments, burst, elf, in_file, symbol

ends, folder, _ = arguments()
content = elf(1, symbol(1) * 5000, b"\0name\0")
number = 0
while time.monotonic() < ends:
    number += 1
    path = folder / f"file{os.getpid()}-{number}"
    path.write_bytes(content)
    burst(lambda path=path: in_file(path), 0.02)
    path.unlink()
