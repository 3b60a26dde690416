"""A full core in a file called [kernel], in a function called default_idle."""

import time

from running import arguments, burst, elf, in_file, symbol

ends, folder, _ = arguments()
path = folder / "[kernel]"
path.write_bytes(elf(1, symbol(1), b"\0default_idle\0"))
while time.monotonic() < ends:
    burst(lambda: in_file(path))
