"""Turnover of processes: parsing of stat, comparison of two looks, and a real crash loop in a shell."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.processes.names import (
    MAX_PIDS_SHOWN,
    Process,
    Processes,
    ProcessTable,
    parse_stat,
    read_table,
    turnover,
)
from necroscope.vocabulary.model import ProcessTurnover, Reading

TAIL = b"S 1 4242 4242 0 -1 4194560 172 0 0 0 0 0 0 0 20 0 1 0 86053 2531328 235 18446744073709551615"


def stat(pid: int, comm: bytes, ppid: int = 1, start: int = 86053) -> bytes:
    return b"%d (%s) S %d 4242 4242 0 -1 4194560 172 0 0 0 0 0 0 0 20 0 1 0 %d 2531328 235\n" % (pid, comm, ppid, start)


def table(at_s: float, *processes: Process) -> ProcessTable:
    by_pid = {process.pid: process for process in processes}
    return ProcessTable(int(at_s * 1e9), frozenset(by_pid), by_pid)


INIT = Process(1, "init", 0, 1, "S")


@pytest.mark.parametrize(
    "comm", [b"sleep", b"tmux: server", b"a) S 9 (b", b"((sd-pam))", b"kworker/0:1-ev", b"", b"x) ", b"\xff\xfe"]
)
def test_parse_stat_takes_any_name(comm: bytes) -> None:
    expected = Process(4711, comm.decode("utf-8", "replace"), 17, 99, "S", 0, 0, 235)
    assert parse_stat(stat(4711, comm, 17, 99)) == expected


@pytest.mark.parametrize(
    "text", [b"", b"4711", b"4711 (sh", b"4711 (sh) S 1", b"x (sh) " + TAIL, b"1 (sh) S x" + TAIL[3:], b"\x00" * 400]
)
def test_parse_stat_refuses_what_is_cut_or_strange(text: bytes) -> None:
    with pytest.raises(Unavailable):
        parse_stat(text)


@given(st.binary(max_size=300))
def test_parse_stat_never_raises_anything_else(text: bytes) -> None:
    try:
        parse_stat(text)
    except Unavailable:
        return


def test_own_stat_is_read_from_the_kernel() -> None:
    me = parse_stat(Path(f"/proc/{os.getpid()}/stat").read_bytes())
    assert (me.pid, me.ppid, me.state) == (os.getpid(), os.getppid(), "R")
    assert me.comm == Path("/proc/self/comm").read_text().rstrip("\n")
    assert me.cpu in os.sched_getaffinity(0)
    used_s = (me.user_ticks + me.system_ticks) / os.sysconf("SC_CLK_TCK")
    assert abs(used_s - sum(os.times()[:2])) < 0.1
    assert me.rss_pages * os.sysconf("SC_PAGE_SIZE") > 8 << 20


def test_who_sleeps_is_not_parsed_again(tmp_path: Path) -> None:
    for pid in (10, 11):
        (tmp_path / f"proc/{pid}").mkdir(parents=True)
        (tmp_path / f"proc/{pid}/stat").write_bytes(stat(pid, b"sh"))
    (tmp_path / "necroscope").mkdir()
    clock = {"realtime_ns": 1_767_323_045 * 10**9, "monotonic_ns": 10**12, "boottime_ns": 10**12}
    (tmp_path / "necroscope/clock.json").write_text(json.dumps(clock))
    first = read_table(Host(tmp_path))
    (tmp_path / "proc/11/stat").write_bytes(stat(11, b"sh", start=86054))
    second = read_table(Host(tmp_path), first)
    assert second.processes[10] is first.processes[10]
    assert second.processes[11] == replace(first.processes[11], start_ticks=86054)


def test_a_name_that_vanishes_and_comes_back_turns_over(tmp_path: Path) -> None:
    before = table(100.0, INIT, Process(50, "agent", 1, 9_900, "S"), Process(60, "steady", 1, 500, "S"))
    after = table(102.0, INIT, Process(70, "agent", 1, 10_150, "S"), Process(60, "steady", 1, 500, "S"))
    # A host without a process of that number: of this machine, there may be one.
    assert turnover(before, after, Host(tmp_path)) == (ProcessTurnover("agent", "init", "", (70,), 1, 2.0),)


def test_a_pid_that_is_used_again_counts_as_another_process() -> None:
    before = table(100.0, INIT, Process(50, "agent", 1, 9_900, "S"))
    after = table(101.0, INIT, Process(50, "agent", 1, 10_020, "S"))
    assert [record.pids for record in turnover(before, after, Host())] == [(50,)]


def test_new_members_without_loss_are_growth_and_losses_without_new_ones_are_an_end() -> None:
    worker, other = Process(50, "worker", 1, 9_900, "S"), Process(51, "worker", 1, 10_050, "S")
    assert turnover(table(100.0, INIT, worker), table(101.0, INIT, worker, other), Host()) == ()
    assert turnover(table(100.0, INIT, worker), table(101.0, INIT), Host()) == ()


def test_another_parent_is_another_family() -> None:
    shell = Process(40, "cron", 1, 400, "S")
    before = table(100.0, INIT, shell, Process(50, "sh", 40, 9_900, "S"))
    after = table(101.0, INIT, shell, Process(51, "sh", 1, 10_050, "S"))
    assert turnover(before, after, Host()) == ()


def test_old_processes_that_the_first_look_missed_are_not_new() -> None:
    before = table(100.0, INIT, Process(50, "agent", 1, 9_900, "S"))
    after = table(101.0, INIT, Process(51, "agent", 1, 9_000, "S"))
    assert turnover(before, after, Host()) == ()


def test_kernel_threads_are_left_out() -> None:
    kthreadd = Process(2, "kthreadd", 0, 1, "S")
    before = table(100.0, kthreadd, Process(50, "kworker/0:1", 2, 9_900, "I"))
    after = table(101.0, kthreadd, Process(51, "kworker/0:1", 2, 10_050, "I"))
    assert turnover(before, after, Host()) == ()


def test_the_shown_pids_are_bounded_and_the_starts_are_not() -> None:
    before = table(100.0, INIT, Process(50, "agent", 1, 9_900, "S"))
    after = table(101.0, INIT, *(Process(pid, "agent", 1, 10_050, "S") for pid in range(10**7, 10**7 + 100)))
    (record,) = turnover(before, after, Host())
    assert (record.starts, len(record.pids)) == (100, MAX_PIDS_SHOWN)


def test_a_captured_host_replays_or_says_that_nothing_was_captured(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        Processes().read(Host(tmp_path))
    (tmp_path / "necroscope").mkdir()
    recorded = '{"samples": [], "records": [{"is": "ProcessTurnover", "name": "agent", "parent": "init", "cgroup": "",'
    (tmp_path / "necroscope/processes.json").write_text(
        recorded + '"pids": [7], "starts": 1, "window_s": 1.0}], "unseen": []}'
    )
    expected = ProcessTurnover("agent", "init", "", (7,), 1, 1.0)
    assert Processes().read(Host(tmp_path)) == Reading(records=(expected,))


def test_a_real_loop_is_seen_at_the_second_look_and_never_at_the_first(tmp_path: Path) -> None:
    # A name of its own, so that nothing else on the machine can be taken for it.
    name = f"crash{os.getpid()}"
    program = tmp_path / name
    program.symlink_to("/bin/sleep")
    script = f"trap 'kill $child; exit' TERM; while :; do {program} 0.2 & child=$!; wait; done"
    looping = subprocess.Popen(["sh", "-c", script])
    try:
        time.sleep(0.1)
        sensor = Processes()
        first = sensor.read(Host())
        seen: list[ProcessTurnover] = []
        for _ in range(5):
            time.sleep(0.4)
            records = sensor.read(Host()).records
            seen = [record for record in records if isinstance(record, ProcessTurnover) and record.name == name]
            if seen:
                break
    finally:
        looping.terminate()
        looping.wait(5)
    assert first.records == ()
    assert first.samples[0].value >= 2
    (record,) = seen
    assert (record.parent, record.starts, len(record.pids)) == ("sh", 1, 1)
    assert record.cgroup.startswith("/")
    assert record.window_s == pytest.approx(0.4, abs=0.3)


def test_the_table_holds_every_process_and_its_parents() -> None:
    found = read_table(Host())
    me = found.processes[os.getpid()]
    assert found.parent_name(me) == Path(f"/proc/{os.getppid()}/comm").read_text().rstrip("\n")
    assert found.pids >= set(found.processes)
