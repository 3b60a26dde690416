"""Whether a stack is that of an idle core."""

from __future__ import annotations

import pytest

from necroscope.sense.perf.idle import idle, innermost, is_idle
from stage.looked import IDLE, LOOP, TICK, text


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        (IDLE, True),
        ((("default_idle", "[kernel]"),), True),
        ((("intel_idle", "[intel_idle]"),), True),
        ((("cpuidle_enter_state.constprop.0", "[kernel]"),), True),
        # arm64
        ((("do_idle", "[kernel]"), ("default_idle_call", "[kernel]"), ("arch_cpu_idle", "[kernel]")), True),
        ((("cpu_startup_entry", "[kernel]"), ("acpi_idle_lpi_enter", "[kernel]")), True),
        ((("arch_cpu_idle", "[kernel]"), ("el1h_64_irq", "[kernel]")), False),
        ((("default_idle", "[jit]"),), False),
        ((("default_idle.so", "./[kernel]"),), False),
        ((("do_idle", ""),), True),
        (TICK, False),
        (LOOP, False),
        ((), False),
        ((("default_idle", "game"),), False),
        ((("default_idle", "[kernel]"), ("handle_irq", "[kernel]")), False),
        ((("my_default_idle", "[kernel]"),), False),
    ],
)
def test_the_innermost_function_decides(frames: tuple[tuple[str, str], ...], expected: bool) -> None:
    assert is_idle(text(frames)) is expected


def test_interrupts_on_an_idle_core_are_work() -> None:
    assert idle([text(IDLE), text(TICK), ""]).tolist() == [True, False, False]


def test_the_innermost_frame() -> None:
    assert innermost(text(TICK))[::2] == ("tick_sched_timer", "[kernel]")
    assert innermost("") == ("", "", "")
