"""The three BPF programs that read kernel memory, and the map they share with us.

The map is one value, seen by the program as a pointer and by us through mmap:

    0       parameters, one u64 each: COUNT, LENGTH, BACK, LOW, SPAN, HEAD
    64      results, one u64 each: DONE, ENDED, TASK, JIFFIES
    4096    ADDRESSES   u64 x SLOTS   in: what to gather; out: the nodes that were chased
    8192    STATUS      u64 x SLOTS   what the read returned: negative where the slot could not be read
    16384   DATA        COUNT slots of LENGTH bytes, densely packed; zeros where the slot could not be read

Loops are counted, so that the verifier of 5.10 can follow them to their end; it follows every branch of every
round, so there are as few as possible (masks instead of comparisons).
"""

from __future__ import annotations

from necroscope.sense.kernel.bpf.assembler import R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, Assembler

SLOTS = 512
LENGTH_MAX = 2048
COUNT, LENGTH, BACK, LOW, SPAN, HEAD = range(0, 48, 8)
DONE, ENDED, TASK, JIFFIES = range(64, 96, 8)
ADDRESSES, STATUS, DATA = 4096, 8192, 16384
# more than the slots need: the verifier adds the largest length to the largest offset, twice where a list is followed
MAP_BYTES = DATA + (SLOTS + 3) * LENGTH_MAX

# why a chase ended
ENDED_FULL, ENDED_AT_HEAD, ENDED_UNREADABLE, ENDED_WILD = range(4)

_GET_CURRENT_TASK, _PROBE_READ_KERNEL, _PROBE_READ_KERNEL_STR, _JIFFIES64 = 35, 113, 115, 118


def gather(map_fd: int, strings: bool) -> bytes:
    """Read LENGTH bytes (or a string of less) from each of COUNT addresses into the slots."""
    code = Assembler()
    _prologue(code, map_fd)
    code.label("next")
    _leave_when_full(code, map_fd)
    code.load(R3, R6, ADDRESSES)
    _read_slot(code, map_fd, _PROBE_READ_KERNEL_STR if strings else _PROBE_READ_KERNEL)
    code.store(R6, STATUS, R0)
    _advance(code)
    code.jump("next")
    code.label("end")
    code.exit()
    return bytes(code)


def chase(map_fd: int) -> bytes:
    """Follow a list: for up to COUNT nodes, the one at ADDRESSES[0] first, copy LENGTH bytes that begin BACK before it.

    Stops at HEAD, at a node that cannot be read, and at a pointer outside LOW..LOW+SPAN or not aligned.
    """
    code = Assembler()
    _prologue(code, map_fd)
    code.label("next")
    _leave_when_full(code, map_fd)
    code.load(R3, R6, ADDRESSES)
    code.map_value(R4, map_fd)
    code.load(R5, R4, HEAD)
    code.set(R1, ENDED_AT_HEAD)
    code.jump_if_register(R3, "==", R5, "stop")
    code.set(R1, ENDED_WILD)
    code.jump_if(R3, "&", 7, "stop")
    # one unsigned comparison for both ends of the range
    code.load(R5, R4, LOW)
    code.copy(R0, R3)
    code.subtract_register(R0, R5)
    code.load(R5, R4, SPAN)
    code.jump_if_register(R0, ">=", R5, "stop")
    code.load(R5, R4, BACK)
    code.subtract_register(R3, R5)
    _read_slot(code, map_fd, _PROBE_READ_KERNEL)
    code.set(R1, ENDED_UNREADABLE)
    code.jump_if(R0, "!=", 0, "stop")
    _store_next(code, map_fd)
    _advance(code)
    code.jump("next")
    code.label("end")
    code.set(R1, ENDED_FULL)
    code.label("stop")
    code.map_value(R4, map_fd)
    code.store(R4, ENDED, R1)
    code.store(R4, DONE, R7)
    code.exit()
    return bytes(code)


def introduce(map_fd: int) -> bytes:
    """The current task's address, which lies in the linear map, and the kernel's jiffies."""
    code = Assembler()
    code.call(_GET_CURRENT_TASK)
    code.map_value(R1, map_fd)
    code.store(R1, TASK, R0)
    code.call(_JIFFIES64)
    code.map_value(R1, map_fd)
    code.store(R1, JIFFIES, R0)
    code.exit()
    return bytes(code)


# r6: the map, moved on by one address with each slot; r7: slots done; r8: bytes of data used; r9: LENGTH


def _prologue(code: Assembler, map_fd: int) -> None:
    code.set(R7, 0)
    code.set(R8, 0)
    code.map_value(R6, map_fd)
    code.load(R9, R6, LENGTH)
    code.jump_if(R9, ">", LENGTH_MAX, "end")


def _leave_when_full(code: Assembler, map_fd: int) -> None:
    code.jump_if(R7, ">=", SLOTS, "end")
    code.map_value(R4, map_fd)
    code.load(R5, R4, COUNT)
    code.jump_if_register(R7, ">=", R5, "end")


def _read_slot(code: Assembler, map_fd: int, helper: int) -> None:
    """Copy from r3 into the slot; the status is in r0."""
    code.map_value(R1, map_fd, DATA)
    code.mask(R8, SLOTS * LENGTH_MAX - 1)
    code.add_register(R1, R8)
    code.copy(R2, R9)
    code.call(helper)


def _store_next(code: Assembler, map_fd: int) -> None:
    """The next pointer lies BACK bytes into the slot; it becomes the next address."""
    code.map_value(R4, map_fd)
    code.load(R5, R4, BACK)
    code.mask(R5, LENGTH_MAX - 1)
    code.map_value(R1, map_fd, DATA)
    code.add_register(R1, R8)
    code.add_register(R1, R5)
    code.load(R5, R1)
    code.store(R6, ADDRESSES + 8, R5)


def _advance(code: Assembler) -> None:
    code.add(R6, 8)
    code.add(R7, 1)
    code.add_register(R8, R9)
