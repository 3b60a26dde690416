"""NVIDIA's management library through ctypes: just the calls that are needed, each answer checked.

Where a GPU does not know a value (a virtual one has no power meter), the value is None. No other package is needed; the
library comes with the driver.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from necroscope.errors import Unavailable

LIBRARY = "libnvidia-ml.so.1"
GPUS_MAX = 64

_SM_CLOCK = 1
_CORE_TEMPERATURE = 0


class _Utilization(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Memory(ctypes.Structure):
    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


@dataclass(frozen=True, slots=True)
class GpuState:
    """One GPU now. `throttle_reasons` are the bits of nvmlClocksThrottleReasons; None: this GPU does not tell."""

    index: int
    utilization_percent: int | None
    memory_utilization_percent: int | None
    memory_used_bytes: int | None
    power_watts: float | None
    sm_clock_mhz: int | None
    temperature_celsius: int | None
    throttle_reasons: int | None


def load(name: str = LIBRARY) -> Any | None:
    """The library; None where it is not installed."""
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


class Nvml:
    """An opened library. What it answers is believed as far as its return codes say so."""

    def __init__(self, library: Any) -> None:
        self._library = library
        code = self._function("nvmlInit_v2")()
        if code:
            raise Unavailable(f"the GPU driver cannot be asked: {self._words(code)}", "is the NVIDIA driver loaded?")

    def states(self) -> tuple[GpuState, ...]:
        """All GPUs."""
        count = ctypes.c_uint()
        if code := self._function("nvmlDeviceGetCount_v2")(ctypes.byref(count)):
            raise Unavailable(f"the GPUs cannot be counted: {self._words(code)}")
        return tuple(self._state(index) for index in range(min(count.value, GPUS_MAX)))

    def close(self) -> None:
        """Let go of the driver."""
        self._function("nvmlShutdown")()

    def _state(self, index: int) -> GpuState:
        device = ctypes.c_void_p()
        if code := self._function("nvmlDeviceGetHandleByIndex_v2")(ctypes.c_uint(index), ctypes.byref(device)):
            raise Unavailable(f"GPU {index} cannot be asked: {self._words(code)}")
        busy = self._ask("nvmlDeviceGetUtilizationRates", device, _Utilization())
        memory = self._ask("nvmlDeviceGetMemoryInfo", device, _Memory())
        milliwatts = self._number("nvmlDeviceGetPowerUsage", device)
        return GpuState(
            index=index,
            utilization_percent=None if busy is None else busy.gpu,
            memory_utilization_percent=None if busy is None else busy.memory,
            memory_used_bytes=None if memory is None else memory.used,
            power_watts=None if milliwatts is None else round(milliwatts / 1000, 1),
            sm_clock_mhz=self._number("nvmlDeviceGetClockInfo", device, _SM_CLOCK),
            temperature_celsius=self._number("nvmlDeviceGetTemperature", device, _CORE_TEMPERATURE),
            throttle_reasons=self._reasons(device),
        )

    def _number(self, name: str, device: ctypes.c_void_p, *which: int) -> int | None:
        answer = self._ask(name, device, ctypes.c_uint(), *which)
        return None if answer is None else int(answer.value)

    def _reasons(self, device: ctypes.c_void_p) -> int | None:
        answer = self._ask("nvmlDeviceGetCurrentClocksThrottleReasons", device, ctypes.c_ulonglong())
        return None if answer is None else int(answer.value)

    def _ask(self, name: str, device: ctypes.c_void_p, answer: Any, *which: int) -> Any | None:
        try:
            code = self._function(name)(device, *map(ctypes.c_uint, which), ctypes.byref(answer))
        except Unavailable:
            return None
        return None if code else answer

    def _function(self, name: str) -> Callable[..., int]:
        try:
            function: Callable[..., int] = getattr(self._library, name)
        except AttributeError as error:
            raise Unavailable(f"this NVIDIA library has no {name}") from error
        return function

    def _words(self, code: int) -> str:
        try:
            describe = self._library.nvmlErrorString
            describe.restype = ctypes.c_char_p
            return (describe(code) or b"").decode("utf-8", "replace") or f"error {code}"
        except AttributeError:
            return f"error {code}"
