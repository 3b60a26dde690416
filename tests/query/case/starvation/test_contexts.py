"""Whether a sample hit a process or an interrupt."""

from __future__ import annotations

import pytest

from necroscope.query.case.starvation.contexts import context_of
from stage.incident import NET_RX, SEND, SMAPS, USER
from stage.looked import text


@pytest.mark.parametrize(
    ("frames", "context"),
    [
        (USER, ""),
        (SMAPS, ""),
        (NET_RX, "softirq"),
        # What a system call runs at its own end is the caller's.
        ((*SEND, ("__local_bh_enable_ip", "[kernel]"), ("do_softirq", "[kernel]"), ("net_rx_action", "[kernel]")), ""),
        ((("ret_from_fork", "[kernel]"), ("run_ksoftirqd", "[kernel]"), ("handle_softirqs", "[kernel]")), "softirq"),
        ((*USER, ("asm_sysvec_call_function", "[kernel]"), ("flush_tlb_func", "[kernel]")), "irq"),
        ((*USER, ("call_function_interrupt", "[kernel]"), ("smp_call_function_interrupt", "[kernel]")), "irq"),
        # Who sends the interrupts to other cores waits in a system call of its own.
        ((*SEND, ("flush_tlb_mm_range", "[kernel]"), ("smp_call_function_many_cond", "[kernel]")), ""),
        ((*SEND, ("smp_call_function_single", "[kernel]")), ""),
        # arm64; what it does on its way back from an interrupt is the process's own.
        ((("el0t_64_irq", "[kernel]"), ("el0t_64_irq_handler", "[kernel]"), ("handle_irq", "[kernel]")), "irq"),
        ((("el1_irq", "[kernel]"), ("irq_exit", "[kernel]"), ("__softirqentry_text_start", "[kernel]")), "softirq"),
        ((("el0t_64_irq_handler", "[kernel]"), ("el0_interrupt", "[kernel]"), ("do_notify_resume", "[kernel]")), ""),
        ((("el0t_64_sync", "[kernel]"), ("el0_svc", "[kernel]"), ("handle_softirqs", "[kernel]")), ""),
        # A program may call its functions as it likes.
        ((*USER, ("common_interrupt", "app")), ""),
    ],
)
def test_contexts(frames: tuple[tuple[str, str], ...], context: str) -> None:
    assert context_of(text(frames)) == context
