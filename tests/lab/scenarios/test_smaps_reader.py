"""The two processes of the smaps reader."""

from __future__ import annotations

import re
from pathlib import Path

from necroscope.lab.actors import actors
from necroscope.lab.scenarios.smaps_reader import hold_pool, look


def test_the_pool_is_mapped_as_often_as_it_says_and_read_on_a_cue() -> None:
    pool = actors.start(hold_pool, (3,), "calm-pool")
    try:
        assert int(pool.answer()) == 3 * (128 << 20)
        maps = Path(f"/proc/{pool.pid}/smaps").read_text()
        present = [int(kb) for kb in re.findall(r"memfd:pool.*\nSize:.*\n(?:.*\n)*?Rss: +(\d+) kB", maps)]
        assert present == [128 << 10] * 3
        agent = actors.start(look, (pool.pid, "smaps_rollup"), "calm-agent")
        try:
            agent.cue("0.1")
            assert int(agent.answer()) >= 1
        finally:
            agent.end()
    finally:
        pool.end()
