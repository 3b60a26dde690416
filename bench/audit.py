"""What `audit` costs on a real systemd with many services, beside `systemctl show` of the same units. Needs root.

The services are real and run; every run is a process of its own, start-up included. Medians of five.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from necroscope.lab.environment.systemd import SystemdNode, booted, missing, wanted_mounts

RUNS = 5
COUNTS = (50, 200)
PROGRAM = str(Path(sys.executable).parent / "necroscope")
UNIT = "[Unit]\nDescription=Sleeps\n[Service]\nExecStart=/bin/sleep 100000\n[Install]\nWantedBy=multi-user.target\n"


def main() -> None:
    """Print the table."""
    if lacking := missing():
        sys.exit(f"this benchmark boots a real systemd and needs {lacking}")
    print("| services made | audited in all | wall | CPU | peak RSS | systemctl show |")
    print("|---|---|---|---|---|---|")
    for count in COUNTS:
        print(_row(count), flush=True)


def _row(count: int) -> str:
    name = f"necroscope-bench-{os.getpid()}-{count}"
    cgroups = [mount / name for mount in wanted_mounts()]
    for path in cgroups:
        path.mkdir()
    with booted(name, cgroups) as node:
        _make(node, count)
        documents, walls, peers = [], [], []
        for _ in range(RUNS):
            started = time.perf_counter()
            ran = _audit(node)
            walls.append(time.perf_counter() - started)
            documents.append(json.loads(ran))
            started = time.perf_counter()
            node.run("systemctl", "show", "--all", "*.service")
            peers.append(time.perf_counter() - started)
    cpu_s = statistics.median(one["cost"]["cpu_s"] for one in documents)
    rss = statistics.median(one["cost"]["rss_bytes"] for one in documents)
    cells = (
        str(count),
        str(len(documents[-1]["audited"])),
        f"{statistics.median(walls):.2f} s",
        f"{cpu_s:.2f} s",
        f"{rss / 2**20:.0f} MiB",
        f"{statistics.median(peers):.2f} s",
    )
    return f"| {' | '.join(cells)} |"


def _make(node: SystemdNode, count: int) -> None:
    for number in range(count):
        (node.root / f"etc/systemd/system/sleeps-{number}.service").write_text(UNIT)
    node.run("systemctl", "daemon-reload")
    node.run("sh", "-c", f"systemctl start --no-block $(seq -f 'sleeps-%g.service' 0 {count - 1})")
    time.sleep(2)


def _audit(node: SystemdNode) -> str:
    env = {**os.environ, "NECROSCOPE_SYSTEM_BUS": node.bus}
    return subprocess.run([PROGRAM, "audit", "--json"], capture_output=True, text=True, env=env).stdout
