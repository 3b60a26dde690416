"""Maps that are no files: FIFOs, folders, links to devices."""

import os
import time
from itertools import cycle
from pathlib import Path

from running import arguments, burst, in_memory

ends, folder, _ = arguments()
ways = (os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/ptmx"), lambda path: path.symlink_to("/dev/zero"))


def run(way) -> None:
    way(Path(f"/tmp/perf-{os.getpid()}.map"))
    in_memory()


for way in cycle(ways):
    if time.monotonic() >= ends:
        break
    burst(lambda way=way: run(way))
    for left in Path("/tmp").glob("perf-*.map"):
        if left.lstat().st_uid == os.getuid() and not left.is_file():
            left.rmdir() if left.is_dir() and not left.is_symlink() else left.unlink()
