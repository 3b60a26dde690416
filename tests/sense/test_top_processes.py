"""Who used the cores: comparison of two tables, and a real burner that is found with its delay and cgroup."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from necroscope.model import ProcessUse
from necroscope.sense.host import Host
from necroscope.sense.process import Process, Processes, ProcessTable
from necroscope.sense.top_processes import MOST, MOST_BUSY, TopProcesses, busiest

HZ = os.sysconf("SC_CLK_TCK")


def table(at_s: float, *processes: Process) -> ProcessTable:
    by_pid = {process.pid: process for process in processes}
    return ProcessTable(int(at_s * 1e9), frozenset(by_pid), by_pid)


def process(pid: int, user: int = 0, system: int = 0, start: int = 1) -> Process:
    return Process(pid, f"p{pid}", 1, start, "S", user, system, 100, 3)


def test_use_is_the_difference_and_the_busiest_come_first() -> None:
    before = table(100.0, process(10, 500, 20), process(11, 9000, 1), process(12, 7, 7))
    after = table(110.0, process(10, 520, 30), process(11, 9000, 900), process(12, 7, 7))
    assert [(one.pid, user, system) for one, user, system in busiest(before, after)] == [(11, 0, 899), (10, 20, 10)]


def test_a_young_process_used_all_it_has_and_a_pid_used_again_is_another_one() -> None:
    before = table(100.0, process(10, 500))
    young, again = process(20, 30, start=101 * HZ), process(10, 40, start=105 * HZ)
    unread_before = process(30, 70, start=5)
    after = table(110.0, young, again, unread_before)
    assert [(one.pid, user) for one, user, _ in busiest(before, after)] == [(10, 40), (20, 30)]


def test_more_than_ten_only_where_more_are_busy() -> None:
    idle, quiet = range(1000, 1100), 4 * HZ // 10
    before = table(100.0, *(process(pid) for pid in idle))
    assert len(busiest(before, table(110.0, *(process(pid, quiet) for pid in idle)))) == MOST
    busy = [process(pid, HZ // 2) for pid in range(1000, 1020)]
    assert len(busiest(before, table(110.0, *busy, *(process(pid, quiet) for pid in range(1020, 1100))))) == 20
    assert len(busiest(before, table(110.0, *(process(pid, HZ) for pid in idle)))) == MOST_BUSY


def delays(root: Path, pid: int, **threads: int) -> None:
    for thread, delay_ns in threads.items():
        folder = root / f"proc/{pid}/task/{thread[1:]}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "schedstat").write_text(f"1 {delay_ns} 1\n")


def test_run_delay_is_summed_over_threads_and_known_from_the_second_look_on(tmp_path: Path) -> None:
    top, host = TopProcesses(), Host(tmp_path)
    looks = [table(at_s, process(10, int(at_s) * 10)) for at_s in (100.0, 110.0, 120.0)]
    delays(tmp_path, 10, t10=1_000_000_000, t11=500_000_000)
    (first,) = top.between(looks[0], looks[1], host)
    assert first == ProcessUse(10, 1, "p10", "", 100 / HZ, 0.0, None, 100 * os.sysconf("SC_PAGE_SIZE"), 3)
    delays(tmp_path, 10, t10=1_000_000_000, t11=750_000_000)
    (second,) = top.between(looks[1], looks[2], host)
    assert second == replace(first, run_delay_s=0.25)


def test_all_delay_of_a_young_process_is_its_own(tmp_path: Path) -> None:
    delays(tmp_path, 20, t20=250_000_000)
    (use,) = TopProcesses().between(table(100.0), table(110.0, process(20, 30, start=101 * HZ)), Host(tmp_path))
    assert use.run_delay_s == 0.25


@pytest.mark.root
def test_a_real_burner_is_found() -> None:
    looking = Processes(TopProcesses())
    looking.read(Host())
    burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(1.0)
        uses = [one for one in looking.read(Host()).records if isinstance(one, ProcessUse)]
        (use,) = [one for one in uses if one.pid == burner.pid]
    finally:
        burner.kill()
        burner.wait()
    assert 0.3 < use.user_s + use.system_s < 1.5
    assert use.cgroup.startswith("/")
    assert use.run_delay_s is not None
    assert use.rss_bytes > 1 << 20
    assert use.cpu in os.sched_getaffinity(0)
