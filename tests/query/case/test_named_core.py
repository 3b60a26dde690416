"""The core of a complaint: by its own word, or by where the interrupt of its queue goes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from necroscope.query.case.named_core import named_core
from necroscope.sense.cpu.irq_routing import IrqRouting
from necroscope.store.read.reader import Snapshot, Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.case import NamedCore
from necroscope.vocabulary.model import Sample
from necroscope.vocabulary.verdict import Complaint
from stage.incident import at

ROUTED = {
    ("60", "eth0-Tx-Rx-5"): 3,
    ("61", "eth0-Tx-Rx-6"): 7,
    ("62", "veth0-Tx-Rx-5"): 9,
    ("63", "eth0.5-rx-5"): 9,
    ("70", "mlx5_comp12@pci:0000:3b:00.0"): 4,
    ("71", "mlx5_comp12@pci:0000:3c:00.0"): 5,
    ("80", "ens6-tx-1"): 1,
    ("81", "ens6-rx-1"): 2,
    ("90", "ice-ens7-TxRx-2"): 6,
}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    folder = tmp_path_factory.mktemp("store")
    writer = Writer(folder, signals=IrqRouting.signals, flush_s=1e9, segment_s=1e9)
    for second in (0, 10, 20):
        moved = {**ROUTED, ("61", "eth0-Tx-Rx-6"): 8} if second == 20 else ROUTED
        writer.add_signals(at(second), [Sample("interrupts_core", cpu, who) for who, cpu in moved.items()], "irq")
    writer.close()
    return Store(folder).snapshot()


@pytest.mark.parametrize(
    ("queue", "device", "cpu"),
    [
        (5, "eth0", 3),
        (6, "eth0", 7),
        (7, "eth0", None),
        (12, "0000:3b:00.0", 4),
        (1, "ens6", None),
        (2, "ens7", 6),
        (None, "eth0", None),
        (5, "", None),
    ],
)
def test_where_the_interrupt_of_its_queue_goes(
    snapshot: Snapshot, queue: int | None, device: str, cpu: int | None
) -> None:
    symptom = Complaint("nic-reset", at(15), "kmsg", "x", device, queue=queue, device=device)
    named = named_core(snapshot, symptom, (at(0), at(16)))
    assert (named.cpu if named else None) == cpu


def test_its_own_word_comes_first(snapshot: Snapshot) -> None:
    symptom = Complaint("nic-reset", at(15), "kmsg", "x", "eth0", queue=5, device="eth0")
    routed, said = (named_core(snapshot, one, (at(0), at(16))) for one in (symptom, replace(symptom, cpu=11)))
    assert routed == NamedCore(3, False, "irq-routing", 5, ("eth0-Tx-Rx-5 (60)",))
    assert said == NamedCore(11, True, "kmsg", 5)


def test_some_handlers_bear_the_address_that_the_line_tells(snapshot: Snapshot) -> None:
    text = "mlx5_core 0000:3b:00.0 enp1: TX timeout on queue: 12, SQ: 0x1a, CQ: 0x2, SQ Cons: 0x3 SQ Prod: 0x4"
    symptom = Complaint("nic-tx-timeout", at(15), "kmsg", text, "enp1", queue=12, device="enp1")
    named = named_core(snapshot, symptom, (at(0), at(16)))
    assert named is not None
    assert (named.cpu, named.interrupts) == (4, ("mlx5_comp12@pci:0000:3b:00.0 (70)",))
    assert named_core(snapshot, replace(symptom, text=""), (at(0), at(16))) is None


def test_words_name_nothing(snapshot: Snapshot) -> None:
    text = "ena 0000:00:05.0 eth0: TX q 5 is paused for too long. napi CPU: 11."
    assert named_core(snapshot, Complaint("nic-reset", at(15), "kmsg", text, "eth0"), (at(0), at(16))) is None
