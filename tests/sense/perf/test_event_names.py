"""Which events stand for time, in all the spellings that perf and its users give them."""

from __future__ import annotations

import pytest

from necroscope.sense.perf.event_names import is_clock, is_time


@pytest.mark.parametrize(
    ("event", "time", "clock"),
    [
        ("cpu-clock", True, True),
        ("cpu-clock:ppp", True, True),
        ("task-clock:u", True, True),
        ("cycles", True, False),
        ("cycles:P", True, False),
        ("cpu-cycles:pp", True, False),
        ("cpu_core/cycles/", True, False),
        ("cpu_core/cycles/P", True, False),
        ("cpu_atom/cpu-cycles/", True, False),
        ("cpu/cycles/u", True, False),
        ("cycles/freq=97/", True, False),
        ("cycles/freq=97,name=cycles/", True, False),
        ("cpu-clock/freq=97/", True, True),
        ("cpu_clock", True, True),
        ("task-clock/freq=97/u", True, True),
        ("cpu_core/cycles:P/", True, False),
        ("cpu_atom/cycles/P", True, False),
        ("cpu/cpu-cycles,freq=997/pp", True, False),
        ("cpu/event=0x3c,umask=0,name=cycles/", True, False),
        ("armv8_pmuv3_0/cpu_cycles/", True, False),
        ("apple_firestorm_pmu/cycles/", True, False),
        ("cpum_cf/cpu_cycles/", True, False),
        ("CPU_CLK_UNHALTED.THREAD_P", True, False),
        ("Cycles:P", True, False),
        ("cpu/instructions/", False, False),
        ("cpu/event=0x3c,name=mine/", False, False),
        ("instructions:P", False, False),
        ("bus-cycles", False, False),
        ("cycles_of_mine", False, False),
        ("cpu", False, False),
        ("cpu//", False, False),
        ("/", False, False),
        ("page-faults", False, False),
        ("sched:sched_switch", False, False),
        ("syscalls:cycles", False, False),
        ("uncore/cycles/", False, False),
        ("", False, False),
    ],
)
def test_which_events_stand_for_time(event: str, time: bool, clock: bool) -> None:
    assert (is_time(event), is_clock(event)) == (time, clock)
