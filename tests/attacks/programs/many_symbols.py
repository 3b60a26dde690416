"""Files with just as many symbols as may be read, and with more than that."""

import os
import time
from itertools import cycle

from running import arguments, burst, elf, in_file, symbol

ends, folder, _ = arguments()
for number, count in enumerate(cycle((690_000, 2_000_000))):
    if time.monotonic() >= ends:
        break
    path = folder / f"symbols{os.getpid()}-{number}"
    path.write_bytes(elf(1, symbol(1) * count, b"\0name\0"))
    burst(lambda path=path: in_file(path))
    path.unlink()
