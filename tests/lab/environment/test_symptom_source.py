"""Symptoms of the lab are read by its recorder as if the kernel had said them, and known for what they are."""

from __future__ import annotations

import random
import time
from pathlib import Path

from necroscope.lab.environment.symptom_source import SymptomSource, starved_lines, unrelated_lines
from necroscope.sense.host import Host
from necroscope.sense.log.kernel_log import KernelLog
from necroscope.sense.log.symptoms import catalogue
from necroscope.vocabulary.model import Symptom

NIC = {"nic-reset", "nic-tx-timeout", "netdev-watchdog"}


def symptoms(log: KernelLog) -> list[Symptom]:
    return [record for record in log.read(Host()).records if isinstance(record, Symptom)]


def test_lines_come_back_once_with_their_time(tmp_path: Path) -> None:
    source = SymptomSource(tmp_path / "kernel.log")
    log = KernelLog(str(source.path))
    assert symptoms(log) == []
    said = source.write("ena 0000:20:03.0 eth0: Keep alive watchdog timeout.")
    source.write("nothing of interest")
    source.write("NETDEV WATCHDOG: eth1 (ice): transmit queue 3 timed out")
    first, second = sorted(symptoms(log), key=lambda one: one.first_at_ns)
    assert (first.kind, first.device) == ("nic-reset", "eth0")
    assert first.kind == said.kind
    assert abs(first.at_ns - said.at_ns) < 2_000_000
    assert abs(said.at_ns - time.time_ns()) < 2_000_000_000
    assert (second.kind, second.device, second.queue) == ("netdev-watchdog", "eth1", 3)
    time.sleep(0.01)
    assert not [one for one in symptoms(log) if one.first_at_ns not in (first.first_at_ns, second.first_at_ns)]


def test_every_line_that_can_be_drawn_is_a_symptom_of_a_network_device() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        for text in (*starved_lines(rng, "eth0", 1, 5.5, 2), *unrelated_lines(rng, "eth0")):
            found = catalogue().match(text)
            assert found is not None, text
            assert found.pattern.kind.name in NIC, text
            assert found.fields["device"] == "eth0"
