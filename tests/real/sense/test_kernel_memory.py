from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from necroscope.sense.host import Host
from necroscope.sense.kernel.bpf.memory import BpfMemory
from necroscope.sense.kernel.bpf.programs import LENGTH_MAX, SLOTS
from necroscope.sense.kernel.btf import Btf

pytestmark = [pytest.mark.root, pytest.mark.bpf]
EVERYWHERE = (0xFF00_0000_0000_0000, (1 << 64) - 4096)


@pytest.fixture(scope="module")
def btf() -> Btf:
    return Btf(Path("/sys/kernel/btf/vmlinux").read_bytes())


def test_the_running_task_is_us(btf: Btf) -> None:
    with BpfMemory(Host()) as memory:
        task = memory.current_task()
        (name,) = memory.strings([task + btf.offset("task_struct", "comm")])
        (pid,) = struct.unpack("<I", memory.gather([task + btf.offset("task_struct", "tgid")], 4))
    assert name == Path("/proc/self/comm").read_bytes().strip()
    assert pid == os.getpid()


def test_what_cannot_be_read_is_zeros_and_counted_unless_it_is_null(btf: Btf) -> None:
    with BpfMemory(Host()) as memory:
        task = memory.current_task()
        data = memory.gather([0, 0x1000, task, 0xFFFF_FFFF_FFFF_F000], 8)
        assert data[:16] == bytes(16)
        assert data[24:] == bytes(8)
        assert memory.failed_reads == 2
        assert memory.strings([0, 0x1000]) == [b"", b""]
        assert memory.failed_reads == 3


def test_more_addresses_than_slots_and_the_largest_length(btf: Btf) -> None:
    with BpfMemory(Host()) as memory:
        task = memory.current_task()
        parents = memory.gather([task + btf.offset("task_struct", "tgid")] * (2 * SLOTS + 3), 4)
        assert parents == struct.pack("<I", os.getpid()) * (2 * SLOTS + 3)
        assert len(memory.gather([task] * SLOTS, LENGTH_MAX)) == SLOTS * LENGTH_MAX
        with pytest.raises(ValueError, match="slots of"):
            memory.gather([task], LENGTH_MAX + 1)
        assert memory.failed_reads == 0


def test_a_list_is_followed_to_its_head(btf: Btf) -> None:
    """Our threads' list of children, or any list that surely ends: the task's own group of one thread."""
    offset = btf.offset("task_struct", "thread_node")
    signal = btf.offset("task_struct", "signal")
    head = btf.offset("signal_struct", "thread_head")
    with BpfMemory(Host()) as memory:
        task = memory.current_task()
        (group,) = struct.unpack("<Q", memory.gather([task + signal], 8))
        chain = memory.chase(task + offset, group + head, 0, 16, EVERYWHERE)
        assert (chain.nodes[0], chain.ended) == (task + offset, "head")
        wild = memory.chase(task + offset, group + head, 0, 16, (task, task + 8))
        assert (wild.nodes, wild.data, wild.ended) == ((), b"", "wild")
        odd = memory.chase(task + 1, group + head, 0, 16, EVERYWHERE)
        assert odd.ended == "wild"
        gone = memory.chase(0xFFFF_FFFF_FFFF_E000, group + head, 0, 16, EVERYWHERE)
        assert (gone.nodes, gone.ended, memory.failed_reads) == ((), "unreadable", 1)


def test_a_list_without_end_is_left_when_the_slots_are_full(btf: Btf) -> None:
    tasks = btf.offset("task_struct", "tasks")
    with BpfMemory(Host()) as memory:
        chain = memory.chase(memory.current_task() + tasks, 0, 0, 8, EVERYWHERE)
    assert (len(chain.nodes), len(chain.data), chain.ended) == (SLOTS, SLOTS * 8, "full")


def test_jiffies_rise() -> None:
    with BpfMemory(Host()) as memory:
        first = memory.jiffies()
        assert first > (1 << 32) - 300 * 1000
        assert 0 <= memory.jiffies() - first < 10_000
