"""Numbers of a run and of quiet times."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.sense.cgroups.throttle import Throttle
from necroscope.sense.cpu.speed import CpuSpeed
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.case import Quota, Starvation
from necroscope.vocabulary.model import Sample, Signal
from stage.incident import SMAPS, Played, at, nic_reset
from stage.reading import around, complaint, reader

SOFTNET = Signal("softnet_squeezed_rounds", "rounds", "counter", "x", ("cpu",))
SOFTIRQS = Signal("interrupts_softirqs", "interrupts", "counter", "x", ("cpu", "kind"))
PRESSURE = Signal("pressure_stalled_seconds", "seconds", "counter", "x", ("resource", "who"))


def _node() -> Played:
    node = Played(2, 90)
    node.usual()
    node.does(1, 60, 66, 1.0, "walks", 2, frames=SMAPS, mode="system")
    nic_reset(node, 70)
    return node


def _risen(second: int) -> int:
    """Seconds of the starved time that have passed."""
    return min(max(second - 60, 0), 6)


def _starvation(store: Store) -> Starvation:
    (found,) = reader(around(store, complaint(70))).starvations()
    return found


def _with(folder: Path, node: Played, signals: tuple[Signal, ...], look: object) -> Starvation:
    """The starved core of a node where one more sensor looked each second."""
    store = node.write(folder)
    writer = Writer(folder, flush_s=1e9, segment_s=1e9, signals=signals)
    for second in range(node.seconds):
        writer.add_signals(at(second), look(second), "more")  # type: ignore[operator]
    writer.close(merge=False)
    return _starvation(store)


def test_rates_now_and_before_and_what_stood_there(tmp_path: Path) -> None:
    node = _node()
    node.gauges = {"memcg_zombies": 4321.0, "memcg_live": 50.0, "memcg_leaked_directories": 3.0, "processes": 30.0}
    node.happens(64, "oom-kill", "x")
    node.happens(54, "oom-kill", "x")

    def look(second: int) -> list[Sample]:
        return [
            Sample("vmstat_pgfault", 100.0 * second + 4900.0 * _risen(second)),
            *(Sample("softnet_squeezed_rounds", float(second * cpu), (str(cpu),)) for cpu in (0, 1)),
            *(Sample("interrupts_softirqs", 10.0 * second * (1 + cpu), (str(cpu), "NET_RX")) for cpu in (0, 1)),
            Sample("pressure_stalled_seconds", 0.5 * _risen(second), ("cpu", "some")),
            Sample("pressure_stalled_seconds", 0.4 * _risen(second), ("cpu", "full")),
        ]

    numbers = _with(tmp_path, node, (SOFTNET, SOFTIRQS, PRESSURE), look).numbers
    assert (numbers["zombies"], numbers["live"], numbers["oom_events"]) == (4321.0, 50.0, 1.0)
    # Two directories cannot hold the same process.
    assert numbers["directories"] == 20.0
    assert numbers["vmstat_pgfault"] == pytest.approx(5000.0, rel=0.15)
    assert numbers["vmstat_pgfault_before"] == pytest.approx(100.0)
    assert numbers["vmstat_pgfault_lift"] == pytest.approx(50.0, rel=0.15)
    assert numbers["softnet_squeezed_rounds_core"] == pytest.approx(1.0)
    assert numbers["softirq_net_rx_core"] == pytest.approx(20.0)
    assert numbers["pressure_cpu"] == pytest.approx(0.5, rel=0.15)
    assert "vmstat_pgscan_direct" not in numbers
    assert {"sibling_busy", "cpu_frequency_hertz_core", "quota_stopped"}.isdisjoint(numbers)


def test_what_a_quota_stopped(tmp_path: Path) -> None:
    def look(second: int) -> list[Sample]:
        stopped = {"/a": 2.0 * _risen(second) + 0.1 * second, "/b": 0.5 * _risen(second), "/c": 5.0}
        return [Sample("throttle_throttled_seconds", value, (path,)) for path, value in stopped.items()]

    found = _with(tmp_path, _node(), Throttle.signals, look)
    first, second = found.quotas
    assert first == Quota("/a", pytest.approx(2.1, rel=0.15), pytest.approx(0.1))
    assert second == Quota("/b", pytest.approx(0.5, rel=0.15), pytest.approx(0.0))
    assert found.numbers["quota_stopped"] == first.stopped
    assert found.numbers["quota_stopped_before"] == pytest.approx(0.1)


def test_how_fast_the_core_was_and_how_busy_its_sibling(tmp_path: Path) -> None:
    node = _node()
    node.does(0, 60, 66, 0.7, "beside", 3, cgroup="/beside")

    def look(second: int) -> list[Sample]:
        slow = 1.2e9 if 60 <= second < 68 else 3.0e9
        return [
            Sample("cpu_frequency_hertz", slow, ("1",)),
            Sample("cpu_frequency_hertz", 3.0e9, ("0",)),
            Sample("cpu_frequency_max_hertz", 3.5e9, ("1",)),
            Sample("cpu_sibling", 0.0, ("1",)),
            Sample("cpu_thermal_throttles", 3.0 * _risen(second), ("1",)),
            Sample("cpu_package_thermal_throttles", 7.0 * _risen(second), ("1",)),
        ]

    numbers = _with(tmp_path, node, CpuSpeed.signals, look).numbers
    assert numbers["cpu_frequency_hertz_core"] == pytest.approx(1.2e9)
    assert numbers["cpu_frequency_hertz_core_before"] == pytest.approx(3.0e9)
    assert numbers["cpu_frequency_max_hertz_core"] == pytest.approx(3.5e9)
    assert numbers["sibling_busy"] == pytest.approx(0.95, abs=0.02)
    assert numbers["sibling_busy_before"] == pytest.approx(0.25, abs=0.02)
    assert numbers["cpu_thermal_throttles_core"] == pytest.approx(3.0, rel=0.15)
    assert numbers["cpu_package_thermal_throttles_core_before"] == pytest.approx(0.0)
    # The sum of frequencies is nothing.
    assert "cpu_frequency_hertz" not in numbers


def test_the_core_and_the_others(tmp_path: Path) -> None:
    node = _node()
    node.uses.append((68, _use(2)))
    found = _starvation(node.write(tmp_path))
    assert found.average_busy == pytest.approx(0.625, abs=0.02)
    assert found.elsewhere_idle == pytest.approx(0.75, abs=0.02)
    assert found.line_up.suspects[0].cgroups == ("/memory/walks",)
    assert found.callers is None
    strip = found.strip
    assert strip is not None
    place = (at(62) - strip.from_ns) // 1_000_000_000
    assert strip.busy[place] == pytest.approx(1.0)
    # What is there all along takes a quarter, a fifth of which is the kernel's.
    assert strip.system[place] == pytest.approx(0.8, abs=0.06)
    assert strip.average[place] == pytest.approx(0.625, abs=0.02)
    assert strip.busy[(at(50) - strip.from_ns) // 1_000_000_000] == pytest.approx(0.25, abs=0.02)


def _use(pid: int) -> object:
    from necroscope.vocabulary.model import ProcessUse

    return ProcessUse(pid, 1, "walks", "/memory/walks", 0.1, 4.0, None, 1, 1)


@pytest.mark.parametrize("usual", [0.0, 0.3])
def test_what_the_core_usually_spends_its_time_on(tmp_path: Path, usual: float) -> None:
    node = _node()
    node.does(1, 0, 90, usual, "", 0, mode="steal", sampled=0.0)
    numbers = _starvation(node.write(tmp_path)).numbers
    assert numbers["core_steal_before"] == pytest.approx(usual, abs=0.01)
    assert numbers["core_user_before"] == pytest.approx(0.2, abs=0.01)
    assert numbers["core_system_before"] == pytest.approx(0.05, abs=0.01)
    assert "core_idle_before" not in numbers


def test_without_counters_nobody_knows_what_the_core_usually_does(tmp_path: Path) -> None:
    node = _node()
    node.counted = False
    assert not [name for name in _starvation(node.write(tmp_path)).numbers if name.startswith("core_")]
