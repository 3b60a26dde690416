"""Whether a sample hit a process, or an interrupt that was laid on whoever ran."""

from __future__ import annotations

from collections.abc import Iterable

from necroscope.query.samples.kernel_frames import kernel_functions
from necroscope.vocabulary.case import Context

_IRQ = (
    "asm_sysvec_",
    "sysvec_",
    "asm_common_interrupt",
    "common_interrupt",
    "do_IRQ",
    "ret_from_intr",
    "apic_timer_interrupt",
    "smp_apic_timer_interrupt",
    # Those that send one (smp_call_function_many_cond, ...) are in a system call of their own.
    "smp_call_function_interrupt",
    "smp_call_function_single_interrupt",
    "generic_smp_call_function_",
    "call_function_interrupt",
    "call_function_single_interrupt",
    "reschedule_interrupt",
    # arm64
    "el1_irq",
    "el0_irq",
    "el1h_64_irq",
    "el0t_64_irq",
    "el0t_32_irq",
    "el1h_64_fiq",
    "el0t_64_fiq",
    "el0t_32_fiq",
    "el1_interrupt",
    "el0_interrupt",
    "__el1_pnmi",
    "__el1_irq",
    "gic_handle_irq",
    "handle_arch_irq",
    "irq_exit",
    "__irq_exit",
    "hv_stimer",
    "xen_evtchn_do_upcall",
)
_OF_THREADS = frozenset({"run_ksoftirqd", "smpboot_softirq"})
_SOFTIRQ = frozenset({"__do_softirq", "handle_softirqs", "__softirqentry_text_start", "do_softirq"}) | _OF_THREADS
# arm64 and older x86: the interrupt is over, and what follows on the way back is the process's own.
_WAY_BACK = "do_notify_resume"
SOFTIRQ_THREAD = "ksoftirqd/"


def context_of(frames: str) -> Context:
    """`irq` or `softirq` for a stack that an interrupt laid on whoever ran; else empty.

    A soft interrupt that a system call ran at its own end is the caller's, and so is what a process does on its way
    back from an interrupt.
    """
    return context_among(kernel_functions(frames))


def context_among(functions: Iterable[str]) -> Context:
    """The same, of the kernel's functions, outermost first."""
    interrupted = False
    for name in functions:
        if name.startswith(_IRQ):
            interrupted = True
        elif name == _WAY_BACK:
            interrupted = False
        elif name in _SOFTIRQ and (interrupted or name in _OF_THREADS):
            return "softirq"
    return "irq" if interrupted else ""
