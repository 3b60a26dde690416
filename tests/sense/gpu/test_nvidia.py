"""GPUs through NVIDIA's library, here a stand-in with the same calls: values, refusals, and a driver that hangs."""

from __future__ import annotations

import ctypes
import threading
import time
from typing import Any

import pytest

from necroscope.errors import Unavailable
from necroscope.sense.gpu.nvidia import Gpu
from necroscope.sense.gpu.nvml import GpuState, Nvml, load
from necroscope.sense.host import Host
from necroscope.vocabulary.model import Sample

NOT_SUPPORTED, UNINITIALIZED, DRIVER_NOT_LOADED = 3, 1, 9
HERE = Host()


class Library:
    """Answers as libnvidia-ml does: a code, and the value through a pointer."""

    def __init__(self, gpus: int = 2, init: int = 0, refused: tuple[str, ...] = ()) -> None:
        self._gpus, self._init, self._refused = gpus, init, refused
        self.hangs: threading.Event | None = None
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("nvml"):
            raise AttributeError(name)
        return _Call(self, name)

    def answer(self, name: str, arguments: tuple[Any, ...]) -> int:
        self.calls.append(name)
        if self.hangs is not None:
            self.hangs.wait(10)
        if name in self._refused:
            return NOT_SUPPORTED
        if name == "nvmlInit_v2":
            return self._init
        target: Any = arguments[-1]._obj if arguments else None
        device = arguments[0].value if len(arguments) > 1 else 0
        if name == "nvmlDeviceGetCount_v2":
            target.value = self._gpus
        elif name == "nvmlDeviceGetHandleByIndex_v2":
            target.value = 1000 + device
        elif name == "nvmlDeviceGetUtilizationRates":
            target.gpu, target.memory = 90 + device - 1000, 40
        elif name == "nvmlDeviceGetMemoryInfo":
            target.total, target.free, target.used = 80 << 30, 10 << 30, 70 << 30
        elif name == "nvmlDeviceGetPowerUsage":
            target.value = 412_345
        elif name == "nvmlDeviceGetClockInfo":
            target.value = 1980 if arguments[1].value == 1 else 0
        elif name == "nvmlDeviceGetTemperature":
            target.value = 55 if arguments[1].value == 0 else 0
        elif name == "nvmlDeviceGetCurrentClocksThrottleReasons":
            target.value = 0x44
        return 0


class _Call:
    restype: Any = None

    def __init__(self, library: Library, name: str) -> None:
        self._library, self._name = library, name

    def __call__(self, *arguments: Any) -> Any:
        if self._name == "nvmlErrorString":
            return {DRIVER_NOT_LOADED: b"Driver Not Loaded"}.get(arguments[0])
        return self._library.answer(self._name, arguments)


def test_every_value_is_read() -> None:
    first, second = Nvml(Library()).states()
    assert first == GpuState(0, 90, 40, 70 << 30, 412.3, 1980, 55, 0x44)
    assert (second.index, second.utilization_percent) == (1, 91)


def test_what_a_gpu_does_not_know_is_absent() -> None:
    refused = ("nvmlDeviceGetPowerUsage", "nvmlDeviceGetUtilizationRates")
    (state,) = Nvml(Library(1, refused=refused)).states()
    assert (state.power_watts, state.utilization_percent, state.memory_utilization_percent) == (None, None, None)
    samples = Gpu(lambda: Library(1, refused=refused), 5.0).read(HERE).samples
    assert samples == (
        Sample("gpu_memory_used_bytes", 70 << 30, ("0",)),
        Sample("gpu_sm_clock_mhz", 1980, ("0",)),
        Sample("gpu_temperature_celsius", 55, ("0",)),
        Sample("gpu_throttle_reasons", 0x44, ("0",)),
    )


def test_the_driver_is_opened_once() -> None:
    library = Library(1)
    sensor = Gpu(lambda: library, 5.0)
    for _ in range(3):
        assert len(sensor.read(HERE).samples) == 7
    assert library.calls.count("nvmlInit_v2") == 1


@pytest.mark.parametrize(
    ("library", "words"),
    [
        (Library(init=DRIVER_NOT_LOADED), "Driver Not Loaded"),
        (Library(init=77), "error 77"),
        (Library(refused=("nvmlDeviceGetCount_v2",)), "cannot be counted"),
        (Library(refused=("nvmlDeviceGetHandleByIndex_v2",)), "GPU 0 cannot be asked"),
        (ctypes.CDLL(None), "has no nvmlInit_v2"),
        (None, "not installed"),
    ],
)
def test_refusals_are_sentences(library: Any, words: str) -> None:
    sensor = Gpu(lambda: library, 5.0)
    for _ in range(2):
        with pytest.raises(Unavailable, match=words):
            sensor.read(HERE)


def test_a_library_that_is_not_there_is_none() -> None:
    assert load("libnecroscope-absent.so.9") is None


def test_a_hanging_driver_does_not_hold_up_the_second(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library(1)
    library.hangs = threading.Event()
    sensor = Gpu(lambda: library, 0.01)
    began = time.monotonic()
    readings = [sensor.read(HERE) for _ in range(5)]
    assert time.monotonic() - began < 20.0
    assert not any(one.samples or one.unseen for one in readings)
    assert library.calls == ["nvmlInit_v2"]
    monkeypatch.setattr("necroscope.sense.gpu.nvidia.HANGS_S", 0.0)
    with pytest.raises(Unavailable, match="does not answer"):
        sensor.read(HERE)
    library.hangs.set()
    for _ in range(100):
        try:
            reading = sensor.read(HERE)
        except Unavailable:
            time.sleep(0.01)
        else:
            break
    assert len(reading.samples) == 7
