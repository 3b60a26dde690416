"""A map of 16 MiB, written anew every second."""

import os
import time
from pathlib import Path

from running import arguments, burst, in_memory

ends, _, _ = arguments()


def run() -> None:
    path = Path(f"/tmp/perf-{os.getpid()}.map")
    runs = os.getpid()
    if not os.fork():
        while os.getppid() == runs and time.monotonic() < ends:
            path.write_bytes(b"".join(b"%x 1 name_%d\n" % (n * 16, n) for n in range(700_000))[: 16 << 20])
            time.sleep(1)
        os._exit(0)
    in_memory()


while time.monotonic() < ends:
    burst(run, min(20.0, max(0.5, ends - time.monotonic())))
