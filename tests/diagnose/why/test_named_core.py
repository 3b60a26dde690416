"""The core of a complaint: by its own word, or by where the interrupt of its queue goes."""

from __future__ import annotations

import pytest

from necroscope.diagnose.why.named_core import named_core
from necroscope.model import Sample
from necroscope.sense.irq_routing import IrqRouting
from necroscope.store.reader import Snapshot, Store
from necroscope.store.writer import Writer
from necroscope.verdict import Complaint
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
    ("text", "device", "cpu"),
    [
        ("ena 0000:00:05.0 eth0: TX q 5 is paused for too long.", "eth0", 3),
        ("ena 0000:00:05.0 eth0: TX q 5 is paused for too long. napi CPU: 11.", "eth0", 11),
        ("ena 0000:00:05.0 eth0: TX q 6 is paused for too long.", "eth0", 7),
        ("ena 0000:00:05.0 eth0: TX q 7 is paused for too long.", "eth0", None),
        ("mlx5_core 0000:3b:00.0 enp1: TX timeout on queue: 12, SQ: 0x1", "enp1", 4),
        ("NETDEV WATCHDOG: ens6 (tg3): transmit queue 1 timed out", "ens6", None),
        ("ice 0000:17:00.0 ens7: tx_timeout recovery level 1, txqueue 2", "ens7", 6),
        ("eth0: Reset adapter", "eth0", None),
        ("transmit queue 5 timed out", "", None),
    ],
)
def test_whose_core_it_is(snapshot: Snapshot, text: str, device: str, cpu: int | None) -> None:
    named = named_core(snapshot, Complaint("nic-reset", at(15), "kmsg", text, device), (at(0), at(16)))
    assert (named.cpu if named else None) == cpu


def test_an_interrupt_counts_less_than_a_word(snapshot: Snapshot) -> None:
    text = "eth0: TX q 5 is paused for too long."
    routed, told = (
        named_core(snapshot, Complaint("nic-reset", at(15), "kmsg", one, "eth0"), (at(0), at(16)))
        for one in (text, f"{text} napi CPU: 3.")
    )
    assert routed is not None
    assert told is not None
    assert routed.text == "queue 5 has the interrupt eth0-Tx-Rx-5 (60), which goes to core 3"
    assert told.others_count < routed.others_count < 1
    assert told.others_sure < routed.others_sure < 1
