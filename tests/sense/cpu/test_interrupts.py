"""/proc/interrupts, /proc/softirqs and /proc/irq."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from procfiles import captured, mangled, real, undeclared

from necroscope.errors import Unavailable
from necroscope.sense.cpu.interrupts import (
    Affinity,
    Interrupt,
    Interrupts,
    Softirq,
    affinity,
    parse_interrupts,
    parse_softirqs,
    queue_of,
)
from necroscope.sense.host import Host


def test_a_real_file() -> None:
    rows = {row.irq: row for row in parse_interrupts(real("interrupts"))}
    assert rows["38"] == Interrupt("38", "virtio2-input.0", (0, 6622), (0, 1), 6622)
    assert rows["26"].name == "ttyS0"
    assert rows["LOC"].name == "Local timer interrupts"
    assert rows["ERR"] == Interrupt("ERR", "", (), (), 0)
    assert len(rows) == 35


def test_real_softirqs() -> None:
    rows = {row.kind: row for row in parse_softirqs(real("softirqs"))}
    assert rows["NET_RX"] == Softirq("NET_RX", (5063, 6378), (0, 1))
    assert len(rows) == 10


def test_offline_cpus_keep_their_numbers() -> None:
    (row,) = parse_interrupts(b"      CPU0  CPU2  CPU7\n 40: 1 2 3  PCI-MSI 5-edge  eth0-Tx-Rx-0\n")
    assert (row.cpus, row.on(2), row.on(7), row.on(1)) == ((0, 2, 7), 2, 3, None)


@pytest.mark.parametrize(
    ("description", "name"),
    [
        (b"PCI-MSI 524289-edge      eth0-Tx-Rx-0", "eth0-Tx-Rx-0"),
        (b"PCI-MSI-edge      ens5-Tx-Rx-1", "ens5-Tx-Rx-1"),
        (b"IR-PCI-MSIX-0000:c1:00.0    3-edge      mlx5_comp2@pci:0000:c1:00.0", "mlx5_comp2@pci:0000:c1:00.0"),
        (b"  ITS-MSI 524289 Edge      nvme0q1", "nvme0q1"),
        (b"GICv3  27 Level     arch_timer", "arch_timer"),
        (b"IO-APIC   9-fasteoi   acpi", "acpi"),
        (b"IO-APIC   16-fasteoi   ehci_hcd:usb1, PCIe PME", "ehci_hcd:usb1, PCIe PME"),
        (b"IO-APIC   8-edge", ""),
        (b"xen-dyn    -event     xenbus", "xenbus"),
        (b"", ""),
    ],
)
def test_handlers_stand_behind_chip_and_trigger(description: bytes, name: str) -> None:
    (row,) = parse_interrupts(b"  CPU0 CPU1\n 7: 1 2 " + description + b"\n")
    assert (row.name, row.total) == (name, 3)


def test_error_counts_have_no_cpu_even_on_one_cpu() -> None:
    rows = parse_interrupts(b" CPU0\n ERR: 4\n MIS: 0\nErr: 2\nIPI0: 9 Rescheduling interrupts\n")
    assert [(row.irq, row.cpus, row.total) for row in rows] == [
        ("ERR", (), 4),
        ("MIS", (), 0),
        ("Err", (), 2),
        ("IPI0", (0,), 9),
    ]


def test_96_cpus() -> None:
    header = b"".join(b"       CPU%d" % cpu for cpu in range(96))
    text = header + b"\n" + b"".join(b"%d: " % irq + b"%10d " % irq * 96 + b"PCI-MSI 1-edge q\n" for irq in range(300))
    rows = parse_interrupts(text)
    assert len(rows) == 300
    assert rows[299].total == 299 * 96


def test_thousands_of_cpus() -> None:
    text = b" ".join(b"CPU%d" % cpu for cpu in range(8192)) + b"\nNET_RX: " + b"7 " * 8192 + b"\n"
    (row,) = parse_softirqs(text)
    assert (len(row.cpus), sum(row.per_cpu)) == (8192, 7 * 8192)


def test_broken_rows_are_left_out() -> None:
    text = b"CPU0 CPU1\n 1: 5\n 2: 1 -2 x\n 3: 1 " + b"9" * 6000 + b" y\nno colon\n : 1 2 z\n 4: 1 2 ok\n 5: 1 2 cut"
    assert [row.irq for row in parse_interrupts(text)] == ["4"]


@pytest.mark.parametrize("text", [b"", b"\n", b"\0\n", b"38: 1 2\n", b"CPU0 CPUx\n", b"CPU0 CPU1", b"CPU99999\n"])
def test_without_a_header_it_is_unavailable(text: bytes) -> None:
    with pytest.raises(Unavailable, match="row of CPUs"):
        parse_interrupts(text)
    with pytest.raises(Unavailable, match="row of CPUs"):
        parse_softirqs(text)


@given(mangled(real("interrupts")))
def test_no_bytes_break_interrupts(text: bytes) -> None:
    with contextlib.suppress(Unavailable):
        assert all(len(row.cpus) == len(row.per_cpu) for row in parse_interrupts(text))


@given(mangled(real("softirqs")))
def test_no_bytes_break_softirqs(text: bytes) -> None:
    with contextlib.suppress(Unavailable):
        assert all(len(row.cpus) == len(row.per_cpu) for row in parse_softirqs(text))


@pytest.mark.parametrize(
    ("name", "queue"),
    [
        ("eth0-Tx-Rx-3", 3),
        ("mlx5_comp12@pci:0000:00:05.0", 12),
        ("virtio2-output.0", 0),
        ("nvme0q7", 7),
        ("ena-mgmnt@pci:0000:00:05.0", None),
        ("ens5", None),
        ("eth0", None),
        ("virtio2-config", None),
        ("", None),
    ],
)
def test_queue_numbers(name: str, queue: int | None) -> None:
    assert queue_of(name) == queue


def test_affinity(tmp_path: Path) -> None:
    host = captured(
        tmp_path,
        {
            "/proc/irq/40/smp_affinity_list": b"0-3\n",
            "/proc/irq/40/effective_affinity_list": b"2\n",
            "/proc/irq/41/smp_affinity_list": b"1\n",
            "/proc/irq/42/smp_affinity_list": b"\xff\n",
        },
    )
    assert affinity(host, "40") == Affinity("40", (0, 1, 2, 3), (2,))
    assert affinity(host, "41") == Affinity("41", (1,), None)
    for irq in ("42", "43", "LOC", "../40", ""):
        with pytest.raises(Unavailable):
            affinity(host, irq)


def test_samples_leave_offline_cpus_out(tmp_path: Path) -> None:
    files = {
        "/proc/interrupts": b"CPU0 CPU2\n 9: 1 2 PCI-MSI 1-edge eth0\nLOC: 10 20 Local timer interrupts\nERR: 3\n",
        "/proc/softirqs": b"CPU0 CPU1 CPU2\nNET_RX: 5 6 7\n",
    }
    reading = Interrupts().read(captured(tmp_path, files))
    assert {(sample.signal, *sample.labels): sample.value for sample in reading.samples} == {
        ("interrupts_served", "9", "eth0"): 3,
        ("interrupts_served", "LOC", "Local timer interrupts"): 30,
        ("interrupts_served", "ERR", ""): 3,
        ("interrupts_served_by_cpu", "0"): 11,
        ("interrupts_served_by_cpu", "2"): 22,
        ("interrupts_softirqs", "0", "NET_RX"): 5,
        ("interrupts_softirqs", "2", "NET_RX"): 7,
    }
    assert undeclared(Interrupts(), reading) == []


def test_one_file_is_good_without_the_other(tmp_path: Path) -> None:
    reading = Interrupts().read(captured(tmp_path, {"/proc/softirqs": b"CPU0\nNET_RX: 5\n"}))
    assert [sample.value for sample in reading.samples] == [5]
    assert [unseen.reason for unseen in reading.unseen] == ["/proc/interrupts does not exist"]


def test_neither_file_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="/proc/interrupts does not exist"):
        Interrupts().read(captured(tmp_path, {"/proc/softirqs": b""}))


def test_this_machine() -> None:
    reading = Interrupts().read(Host())
    served = sum(sample.value for sample in reading.samples if sample.signal == "interrupts_served_by_cpu")
    errors = sum(sample.value for sample in reading.samples if sample.labels[0] in ("ERR", "MIS", "Err"))
    total = sum(sample.value for sample in reading.samples if sample.signal == "interrupts_served")
    assert total == served + errors
    assert served > 0
