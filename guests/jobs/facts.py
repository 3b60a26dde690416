"""What a guest is: its kernel, cores and counters, what perf counts in it, and whether Necroscope loads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from guests.jobs.program import say

_ASKED = (("perf", "stat", "-e", "cycles,instructions", "true"), (sys.executable, "-m", "necroscope", "--version"))


def main() -> int:
    """0 when Necroscope loads."""
    say(f"{' '.join(os.uname())}, Python {sys.version.split()[0]}, {os.cpu_count()} CPUs")
    say(f"page {os.sysconf('SC_PAGESIZE')} bytes")
    say(f"counters {sorted(path.name for path in Path('/sys/bus/event_source/devices').iterdir())}")
    say(Path("/proc/mounts").read_text("utf-8"))
    ran = [subprocess.run(command, capture_output=True, text=True, check=False) for command in _ASKED]
    for one in ran:
        say(f"# {' '.join(one.args)}: {one.returncode}\n{one.stdout}{one.stderr}")
    return ran[-1].returncode


if __name__ == "__main__":
    sys.exit(main())
