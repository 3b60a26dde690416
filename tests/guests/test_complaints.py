"""What a guest's kernel complained of."""

from __future__ import annotations

from guests.complaints import complaints

QUIET = b"6,1,100,-;Booting Linux on physical CPU 0x0\n4,2,200,-;hrtimer: interrupt took 33525024 ns\n"
INJECTED = b"12,3,300,-;watchdog: BUG: soft lockup - CPU#1 stuck for 23s! [walker:1]\n"
OWN = b"4,4,400,-;WARNING: CPU: 1 PID: 7 at mm/memcontrol.c:1\n SUBSYSTEM=cpu\n4,5,500,-;Call trace:\n"


def test_its_own_lines_count() -> None:
    assert complaints(QUIET + OWN, "") == ["WARNING: CPU: 1 PID: 7 at mm/memcontrol.c:1", "Call trace:"]


def test_lines_that_a_job_wrote_do_not() -> None:
    assert complaints(QUIET + INJECTED, "") == []


def test_a_guest_that_left_no_log_is_judged_by_its_console() -> None:
    console = "[    1.0] EXT4-fs: fine\n[    2.5] Kernel panic - not syncing: Attempted to kill init!\n"
    assert complaints(b"", console) == ["[    2.5] Kernel panic - not syncing: Attempted to kill init!"]
