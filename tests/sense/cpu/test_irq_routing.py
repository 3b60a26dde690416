"""Which core an interrupt goes to."""

from __future__ import annotations

from pathlib import Path

import pytest
from procfiles import captured, undeclared

from necroscope.errors import Unavailable
from necroscope.sense.cpu.irq_routing import IrqRouting
from necroscope.sense.host import Host

INTERRUPTS = b"""CPU0 CPU1
 40: 1 2 PCI-MSI 1-edge eth0-Tx-Rx-0
 41: 1 2 PCI-MSI 2-edge eth0-Tx-Rx-1
 42: 1 2 PCI-MSI 3-edge eth0-Tx-Rx-2
 43: 1 2 PCI-MSI 4-edge eth0-Tx-Rx-3
LOC: 10 20 Local timer interrupts
"""


def test_only_what_goes_to_one_core(tmp_path: Path) -> None:
    files = {
        "/proc/interrupts": INTERRUPTS,
        "/proc/irq/40/smp_affinity_list": b"0-1\n",
        "/proc/irq/40/effective_affinity_list": b"1\n",
        "/proc/irq/41/smp_affinity_list": b"0\n",
        "/proc/irq/42/smp_affinity_list": b"0-1\n",
    }
    reading = IrqRouting().read(captured(tmp_path, files))
    assert {(sample.signal, *sample.labels): sample.value for sample in reading.samples} == {
        ("interrupts_core", "40", "eth0-Tx-Rx-0"): 1,
        ("interrupts_core", "41", "eth0-Tx-Rx-1"): 0,
    }
    assert undeclared(IrqRouting(), reading) == []


def test_without_interrupts(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="/proc/interrupts"):
        IrqRouting().read(captured(tmp_path, {}))


def test_this_machine() -> None:
    routed = {sample.labels[0]: sample.value for sample in IrqRouting().read(Host()).samples}
    files = {irq: Path(f"/proc/irq/{irq}/effective_affinity_list") for irq in routed}
    assert routed == {irq: int(file.read_text()) if file.exists() else routed[irq] for irq, file in files.items()}
    if Path("/proc/irq").exists():
        assert routed, "some interrupt goes to one core only"
