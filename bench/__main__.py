"""`python -m bench [NAME...]`: run benchmarks and print their tables; RESULTS.md keeps what was seen."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import import_module

BENCHMARKS = (
    "scan",
    "import_perf",
    "perf_text",
    "decode",
    "store",
    "window",
    "why",
    "recorder",
    "starved",
    "budget",
    "verifying",
    "priors",
    "free",
    "audit",
)


def main(names: list[str]) -> None:
    """Run the named benchmarks, all without names."""
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    machine = f"Linux {platform.release()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
    print(f"{datetime.now(UTC):%Y-%m-%d}, {machine}, commit {head or 'unknown'}")
    for name in names or BENCHMARKS:
        if name not in BENCHMARKS:
            sys.exit(f"there is no benchmark {name!r}; there are: {', '.join(BENCHMARKS)}")
        print(f"\n## {name}\n", flush=True)
        import_module(f"bench.{name}").main()


main(sys.argv[1:])
