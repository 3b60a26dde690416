"""Who used the cores: the busiest and those that wait, and a real burner that is found with its delay and cgroup."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from necroscope.sense.host import Host
from necroscope.sense.processes.names import Process
from necroscope.sense.processes.sweep import Moved, ProcessSweep, Round
from necroscope.sense.processes.top import MOST, MOST_BUSY, MOST_WAITING, TopProcesses, busiest
from necroscope.vocabulary.model import ProcessUse, Sample

HZ = os.sysconf("SC_CLK_TCK")


def moved(pid: int, user: int = 0, system: int = 0, start: int = 1, young: bool = False) -> Moved:
    return Moved(Process(pid, f"p{pid}", 1, start, "S", 9000, 9000, 100, 3), user, system, young)


class Rounds(ProcessSweep):
    """A sweep that sees what a test says."""

    def __init__(self, *rounds: Round) -> None:
        super().__init__()
        self.rounds, self.wanted = list(rounds), list[tuple[int, ...]]()

    def look(self, host: Host, wanted: object = (), others: bool = True) -> Round:
        self.others = others
        self.wanted.append(tuple(wanted))  # type: ignore[arg-type]
        return self.rounds.pop(0)


def test_the_busiest_come_first() -> None:
    ranked = busiest([moved(10, 20, 10), moved(11, 0, 899), moved(12, 1)], 10.0)
    assert [(one.process.pid, one.user_ticks, one.system_ticks) for one in ranked] == [
        (11, 0, 899),
        (10, 20, 10),
        (12, 1, 0),
    ]


def test_more_than_ten_only_where_more_are_busy() -> None:
    idle, quiet = range(1000, 1100), 4 * HZ // 10
    assert len(busiest([moved(pid, quiet) for pid in idle], 10.0)) == MOST
    busy = [moved(pid, HZ // 2) for pid in range(1000, 1020)]
    assert len(busiest([*busy, *(moved(pid, quiet) for pid in range(1020, 1100))], 10.0)) == 20
    assert len(busiest([moved(pid, HZ) for pid in idle], 10.0)) == MOST_BUSY


def test_some_that_want_to_run_are_asked_how_long_they_waited() -> None:
    ranked = busiest([moved(pid) for pid in range(1000, 1100)], 10.0)
    assert [one.process.pid for one in ranked] == list(range(1000, 1000 + MOST_WAITING))


def delays(root: Path, pid: int, **threads: int) -> None:
    for thread, delay_ns in threads.items():
        folder = root / f"proc/{pid}/task/{thread[1:]}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "schedstat").write_text(f"1 {delay_ns} 1\n")


def host_of(root: Path) -> Host:
    (root / "necroscope").mkdir()
    (root / "necroscope/clock.json").write_text(
        '{"realtime_ns": 1767323045000000000, "monotonic_ns": 1000, "boottime_ns": 1000}'
    )
    return Host(root)


def test_run_delay_is_summed_over_threads_and_known_from_the_second_look_on(tmp_path: Path) -> None:
    host = host_of(tmp_path)
    looks = [Round(1, 1, ()), Round(1, 1, (moved(10, 100),)), Round(1, 1, (moved(10, 100),))]
    top = TopProcesses(lambda: (), Rounds(*looks))
    assert top.read(host).samples == (Sample("processes", 1), Sample("processes_looked_at", 1))
    delays(tmp_path, 10, t10=1_000_000_000, t11=500_000_000)
    (first,) = top.read(host).records
    assert first == ProcessUse(10, 1, "p10", "", 100 / HZ, 0.0, None, 100 * os.sysconf("SC_PAGE_SIZE"), 3)
    delays(tmp_path, 10, t10=1_000_000_000, t11=750_000_000)
    (second,) = top.read(host).records
    assert second == replace(first, run_delay_s=0.25)


def test_who_waited_and_used_nothing_is_reported_once_its_delay_is_known(tmp_path: Path) -> None:
    host = host_of(tmp_path)
    look = Round(1, 1, (moved(10),))
    top = TopProcesses(lambda: (), Rounds(look, look, look, look))
    delays(tmp_path, 10, t10=1_000_000_000)
    assert top.read(host).records == ()
    assert top.read(host).records == ()
    assert top.read(host).records == ()
    delays(tmp_path, 10, t10=5_000_000_000)
    (use,) = top.read(host).records
    assert isinstance(use, ProcessUse)
    assert (use.user_s, use.run_delay_s) == (0.0, 4.0)


def test_all_delay_of_a_young_process_is_its_own(tmp_path: Path) -> None:
    host = host_of(tmp_path)
    delays(tmp_path, 20, t20=250_000_000)
    top = TopProcesses(lambda: (), Rounds(Round(0, 0, ()), Round(1, 1, (moved(20, 30, young=True),))))
    top.read(host)
    (use,) = top.read(host).records
    assert isinstance(use, ProcessUse)
    assert use.run_delay_s == 0.25


def test_who_was_reported_and_who_was_sampled_is_looked_at_first(tmp_path: Path) -> None:
    rounds = Rounds(Round(9, 9, ()), Round(9, 4, (moved(10, 5),)), Round(9, 9, ()))
    top = TopProcesses(lambda: (31, 30), rounds)
    host = host_of(tmp_path)
    assert top.read(host).unseen == ()
    assert "in turn" in top.read(host).unseen[0].reason
    assert top.read(host).unseen == ()
    assert rounds.wanted == [(31, 30), (31, 30), (10, 31, 30)]


def test_to_save_cpu_nobody_else_is_looked_at_and_that_is_said(tmp_path: Path) -> None:
    rounds = Rounds(Round(9, 2, ()), Round(9, 9, ()))
    top, host = TopProcesses(lambda: (31, 30), rounds), host_of(tmp_path)
    top.spare(True)
    assert "to save CPU" in top.read(host).unseen[0].reason
    assert rounds.others is False
    top.spare(False)
    assert top.read(host).unseen == ()
    assert rounds.others is True


@pytest.mark.root
def test_a_real_burner_is_found() -> None:
    looking = TopProcesses()
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
