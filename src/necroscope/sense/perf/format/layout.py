"""Numbers of the perf ABI: record types, bits of `sample_type`, marks in call chains (include/uapi/linux/perf_event.h).

Plain numbers, not enumerations: they are compared with columns and tested in loops, where an enumeration costs more
than the work.
"""

from __future__ import annotations

from typing import Final

HEADER_BYTES = 8
U64 = 1 << 64


class Type:
    """What a record is. Below 64 the kernel writes it; from 64 on perf does. Others are skipped by their size."""

    MMAP: Final = 1
    LOST: Final = 2
    COMM: Final = 3
    EXIT: Final = 4
    THROTTLE: Final = 5
    UNTHROTTLE: Final = 6
    FORK: Final = 7
    READ: Final = 8
    SAMPLE: Final = 9
    MMAP2: Final = 10
    LOST_SAMPLES: Final = 13
    SWITCH: Final = 14
    SWITCH_CPU_WIDE: Final = 15
    NAMESPACES: Final = 16
    KSYMBOL: Final = 17
    BPF_EVENT: Final = 18
    CGROUP: Final = 19
    TEXT_POKE: Final = 20
    USER_START: Final = 64
    HEADER_ATTR: Final = 64
    HEADER_TRACING_DATA: Final = 66
    HEADER_BUILD_ID: Final = 67
    FINISHED_ROUND: Final = 68
    AUXTRACE: Final = 71
    EVENT_UPDATE: Final = 78
    HEADER_FEATURE: Final = 80
    COMPRESSED: Final = 81
    FINISHED_INIT: Final = 82
    COMPRESSED2: Final = 83


class Sample:
    """Which fields a sample has, `perf_event_attr.sample_type`."""

    IP: Final = 1 << 0
    TID: Final = 1 << 1
    TIME: Final = 1 << 2
    ADDR: Final = 1 << 3
    READ: Final = 1 << 4
    CALLCHAIN: Final = 1 << 5
    ID: Final = 1 << 6
    CPU: Final = 1 << 7
    PERIOD: Final = 1 << 8
    STREAM_ID: Final = 1 << 9
    RAW: Final = 1 << 10
    BRANCH_STACK: Final = 1 << 11
    REGS_USER: Final = 1 << 12
    STACK_USER: Final = 1 << 13
    WEIGHT: Final = 1 << 14
    DATA_SRC: Final = 1 << 15
    IDENTIFIER: Final = 1 << 16
    TRANSACTION: Final = 1 << 17
    REGS_INTR: Final = 1 << 18
    PHYS_ADDR: Final = 1 << 19
    AUX: Final = 1 << 20
    CGROUP: Final = 1 << 21
    DATA_PAGE_SIZE: Final = 1 << 22
    CODE_PAGE_SIZE: Final = 1 << 23
    WEIGHT_STRUCT: Final = 1 << 24


class Read:
    """What a counter's value comes with, `perf_event_attr.read_format`."""

    TOTAL_TIME_ENABLED: Final = 1 << 0
    TOTAL_TIME_RUNNING: Final = 1 << 1
    ID: Final = 1 << 2
    GROUP: Final = 1 << 3
    LOST: Final = 1 << 4


class Misc:
    """Bits of a record's header; one bit means different things in different records."""

    CPUMODE_MASK: Final = 7
    KERNEL: Final = 1
    USER: Final = 2
    MMAP_DATA: Final = 1 << 13
    COMM_EXEC: Final = 1 << 13
    FORK_EXEC: Final = 1 << 13
    MMAP_BUILD_ID: Final = 1 << 14
    BUILD_ID_SIZE: Final = 1 << 15


BRANCH_CALL_STACK = 1 << 11
BRANCH_HW_INDEX = 1 << 17
BRANCH_COUNTERS = 1 << 19

# Marks in a call chain; what follows lies in that context. All marks are above CONTEXT_MAX.
CONTEXT_KERNEL = U64 - 128
CONTEXT_USER = U64 - 512
CONTEXT_MAX = U64 - 4095
# What follows these belongs to a hypervisor or a guest, or is no address (a user stack that comes later).
CONTEXT_ELSEWHERE = (U64 - 32, U64 - 640, U64 - 2048, U64 - 2176, U64 - 2560)

KSYMBOL_UNREGISTER = 1
KERNEL_PID = 0xFFFFFFFF
