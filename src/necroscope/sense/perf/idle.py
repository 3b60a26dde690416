"""Whether a stack is that of an idle core. Its innermost function decides: an interrupt on an idle core is work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from necroscope.sense.perf.modules import in_kernel
from necroscope.vocabulary.function_name import without_suffix

# Where kernels of several architectures and versions wait for work.
_IDLE = frozenset(
    (
        "__cpu_do_idle",
        "__cpu_do_idle_irqprio",
        "__psci_enter_domain_idle_state",
        "acpi_idle_do_entry",
        "acpi_idle_enter",
        "acpi_idle_enter_bm",
        "acpi_idle_enter_s2idle",
        "acpi_idle_lpi_enter",
        "acpi_processor_ffh_cstate_enter",
        "acpi_processor_ffh_lpi_enter",
        "acpi_safe_halt",
        "arch_cpu_idle",
        "arch_cpu_idle_enter",
        "call_cpuidle",
        "cpu_do_idle",
        "cpu_idle_loop",
        "cpu_idle_poll",
        "cpu_startup_entry",
        "cpuidle_enter",
        "cpuidle_enter_state",
        "cpuidle_idle_call",
        "default_enter_idle",
        "default_idle",
        "default_idle_call",
        "do_idle",
        "haltpoll_enter_idle",
        "intel_idle",
        "intel_idle_hlt",
        "intel_idle_ibrs",
        "intel_idle_irq",
        "intel_idle_xstate",
        "mwait_idle",
        "mwait_idle_with_hints",
        "native_halt",
        "native_safe_halt",
        "poll_idle",
        "psci_cpu_suspend_enter",
        "psci_enter_domain_idle_state",
        "psci_enter_idle_state",
        "pv_native_safe_halt",
        "tdx_halt",
        "tdx_safe_halt",
        "xen_safe_halt",
    )
)


def is_idle(frames: str) -> bool:
    """Whether the canonical text of a stack ends where an idle core waits."""
    return _waits(frames[frames.rfind("\x1e", 0, -1) + 1 :])


def idle(stacks: Sequence[str]) -> NDArray[np.bool_]:
    """Which of the stacks are idle."""
    return np.array([_waits(text[text.rfind("\x1e", 0, -1) + 1 :]) for text in stacks], np.bool_)


@lru_cache(maxsize=1 << 14)
def _waits(frame: str) -> bool:
    """Whether a frame is where the kernel waits for work. Where no module is named, the name alone counts."""
    name, _, module = frame[:-1].partition("\x1f")
    return (not module or in_kernel(module)) and without_suffix(name) in _IDLE


def innermost(frames: str) -> tuple[str, str, str]:
    """Name, separator and module of the innermost frame."""
    return frames[frames.rfind("\x1e", 0, -1) + 1 : -1].partition("\x1f")
