"""What the decoder costs while recording, as a share of one core. Needs root.

A steady stream, and one of a storm of short processes, where nearly all bytes are no samples.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence

from necroscope.sense.host import Host
from necroscope.sense.perf.decode.stream import Decoder
from necroscope.sense.perf.launch.starter import PerfStarter
from necroscope.sense.perf.symbols.symbols import live_symbols

LIVE_S = 12.0
STORM = """
import os, sys, time
turn = 1 / float(sys.argv[1])
due = time.monotonic()
while True:
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
    due += turn
    time.sleep(max(0.0, due - time.monotonic()))
"""


def main() -> None:
    """Print the table."""
    if os.geteuid() != 0:
        sys.exit("this benchmark records all CPUs and needs root")
    print("The decoder while recording, fed every half second, as a share of one core:\n")
    print("| load | records/s | samples/s | MB/s | decoder | decoder per record |\n|---|---|---|---|---|---|")
    spin = "while True: pass"
    print(live("all cores busy", [[sys.executable, "-c", spin]] * (os.cpu_count() or 1)), flush=True)
    print(live("1,000 execs/s", [[sys.executable, "-c", STORM, "1000"]]), flush=True)


def live(name: str, loads: Sequence[Sequence[str]]) -> str:
    """One line: what the decoder costs beside a load."""
    host = Host()
    decoder = Decoder(live_symbols(host)[0])
    running = [subprocess.Popen(load) for load in loads]
    spent = before = 0.0
    try:
        with PerfStarter(host).start() as session:
            end = time.monotonic() + LIVE_S
            measured_from, at_start = end - LIVE_S + 3, (0, 0, 0)
            while (now := time.monotonic()) < end:
                time.sleep(0.5)
                data = b"".join(iter(lambda: session.take(0.0) or b"", b""))
                if now < measured_from:
                    at_start, before = (decoder.stats.records, decoder.stats.samples, decoder.stats.bytes), now
                    decoder.feed(data)
                    continue
                started = time.thread_time()
                decoder.feed(data)
                spent += time.thread_time() - started
            wall_s = time.monotonic() - before
    finally:
        for load in running:
            load.kill()
            load.wait()
    records, samples, size = (
        (now - then) / wall_s
        for now, then in zip((decoder.stats.records, decoder.stats.samples, decoder.stats.bytes), at_start, strict=True)
    )
    share = spent / wall_s
    cells = (
        name,
        f"{records:,.0f}",
        f"{samples:,.0f}",
        f"{size / 1e6:.2f}",
        f"{share:.2%}",
        f"{share / records * 1e6:.1f} µs",
    )
    return f"| {' | '.join(cells)} |"
