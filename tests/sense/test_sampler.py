"""Fast sensors never wait for slow ones."""

from __future__ import annotations

import threading
import time
from typing import ClassVar

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.sampler import Sampler, own_samples
from necroscope.vocabulary.model import Reading, Sample, Signal


class Fast:
    name: ClassVar[str] = "fast"
    signals: ClassVar[tuple[Signal, ...]] = ()

    def read(self, host: Host) -> Reading:
        return Reading((Sample("a", 1.0),))


class Slow:
    name: ClassVar[str] = "slow"
    signals: ClassVar[tuple[Signal, ...]] = ()

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.rounds = 0

    def read(self, host: Host) -> Reading:
        self.rounds += 1
        self.gate.wait(10)
        raise Unavailable("nothing to see", "wait")


def _names(looks: list[object]) -> list[str]:
    return [look.sensor for look in looks]  # type: ignore[attr-defined]


def test_a_slow_sensor_delays_nobody_and_is_not_started_twice() -> None:
    slow = Slow()
    sampler = Sampler(Host(), [Fast()], [slow], slow_every_s=2)
    started = time.monotonic()
    assert [_names(sampler.looks(second)) for second in range(5)] == [["fast"]] * 5
    assert time.monotonic() - started < 9.0
    assert slow.rounds == 1
    slow.gate.set()
    assert _names(sampler.finish()) == ["slow"]
    assert _names([*sampler.looks(5), *sampler.finish()]) == ["fast", "slow"]
    assert slow.rounds == 2


def test_each_sensors_cost_and_success_is_a_series() -> None:
    slow = Slow()
    slow.gate.set()
    sampler = Sampler(Host(), [Fast()], [slow])
    samples = own_samples([*sampler.looks(0), *sampler.finish()])
    seen = {sample.labels: sample.value for sample in samples if sample.signal == "sensor_seen"}
    costs = {sample.labels: sample.value for sample in samples if sample.signal == "sensor_cost_seconds"}
    assert seen == {("fast",): 1.0, ("slow",): 0.0}
    assert costs.keys() == seen.keys()
    assert all(cost >= 0 for cost in costs.values())
