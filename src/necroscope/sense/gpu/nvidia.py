"""NVIDIA GPUs every second: what the starved job loses. The driver is asked in a thread of its own.

A driver that hangs (a GPU that fell off the bus) must not hold up the second: `read` waits a moment for the answer and
goes on without it; while an answer is outstanding, nothing else is asked.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.gpu.nvml import GpuState, Nvml, load
from necroscope.sense.host import Host
from necroscope.vocabulary.model import Reading, Sample, Signal

PATIENCE_S = 0.05
# From then on a driver that does not answer is reported as one that hangs.
HANGS_S = 5.0

_GPU = ("gpu",)
_SIGNALS = {
    "gpu_utilization_percent": ("percent", "Share of the time in which a kernel ran on the GPU"),
    "gpu_memory_utilization_percent": ("percent", "Share of the time in which the GPU's memory was read or written"),
    "gpu_memory_used_bytes": ("bytes", "Memory of the GPU in use"),
    "gpu_power_watts": ("watts", "What the GPU draws"),
    "gpu_sm_clock_mhz": ("MHz", "Clock of the GPU's processors"),
    "gpu_temperature_celsius": ("degrees Celsius", "Temperature of the GPU"),
    "gpu_throttle_reasons": (
        "bits",
        "Why its clock is low: 1 idle, 2 set, 4 power cap, 8 slowed by hardware, 32 heat (driver), 64 heat, 128 brake",
    ),
}


class Gpu:
    """The sensor; `library` gives NVIDIA's, None where there is none."""

    name: ClassVar[str] = "gpu"
    signals: ClassVar[tuple[Signal, ...]] = tuple(
        Signal(name, unit, "gauge", help, _GPU) for name, (unit, help) in _SIGNALS.items()
    )

    def __init__(self, library: Callable[[], Any | None] = load, patience_s: float = PATIENCE_S) -> None:
        self._library, self._patience_s = library, patience_s
        self._questions: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[GpuState, ...] | Unavailable] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._asked_s: float | None = None

    def read(self, host: Host) -> Reading:
        """The GPUs now, or nothing while the driver takes its time. `Unavailable` when it hangs or refuses."""
        if host.captured:
            raise Unavailable("GPUs of a captured host cannot be asked")
        self._ask()
        try:
            answer = self._answers.get(timeout=self._patience_s)
        except queue.Empty:
            waited_s = clock.elapsed_s() - (self._asked_s or 0.0)
            if waited_s >= HANGS_S:
                raise Unavailable("the GPU driver does not answer", "dmesg may tell of an Xid error") from None
            return Reading()
        self._asked_s = None
        if isinstance(answer, Unavailable):
            raise answer
        return Reading(tuple(_samples(answer)))

    def _ask(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._answer, name="gpu", daemon=True)
            self._thread.start()
        if self._asked_s is None:
            self._asked_s = clock.elapsed_s()
            self._questions.put(None)

    def _answer(self) -> None:
        nvml: Nvml | None = None
        while True:
            self._questions.get()
            try:
                nvml = nvml or self._open()
                self._answers.put(nvml.states())
            except Unavailable as error:
                self._answers.put(error)

    def _open(self) -> Nvml:
        library = self._library()
        if library is None:
            raise Unavailable("NVIDIA's management library is not installed")
        return Nvml(library)


def _samples(states: tuple[GpuState, ...]) -> Iterator[Sample]:
    for state in states:
        for name in _SIGNALS:
            value = getattr(state, name.removeprefix("gpu_"))
            if value is not None:
                yield Sample(name, value, (str(state.index),))
