"""A small file with 4,096 sections, all named by the same MiB without an end."""

import os
import time

from running import arguments, burst, elf, in_file

ends, folder, _ = arguments()
number = 0
while time.monotonic() < ends:
    number += 1
    path = folder / f"sections{os.getpid()}-{number}"
    path.write_bytes(elf(4095, b"", b"n" * (1 << 20), kind=1))
    burst(lambda path=path: in_file(path))
    path.unlink()
