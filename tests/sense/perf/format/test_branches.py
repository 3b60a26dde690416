"""Call chains that the CPU kept, and stacks that were copied for an unwinder: none is lost without a word."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from perf import recorded
from perf.stream_builder import HEADER, KERNEL, USER, Maker, attr, record, round_end

from necroscope.sense.importers.profiles.perf_data import PerfData
from necroscope.sense.perf.decode.stream import Decoder
from necroscope.sense.perf.format.layout import BRANCH_CALL_STACK, BRANCH_COUNTERS, BRANCH_HW_INDEX, Sample, Type

FIELDS = Sample.IDENTIFIER | Sample.IP | Sample.TID | Sample.TIME | Sample.CPU | Sample.PERIOD | Sample.CALLCHAIN
PROGRAM = 0x400000
KERNEL_AT = 0xFFFFFFFF81000010


def sample(time: int, chain: tuple[int, ...], branches: tuple[tuple[int, int], ...], how: int) -> bytes:
    """A sample with a branch stack, laid out as the ABI says."""
    data = struct.pack("<QQIIQIIQ", 7, chain[-1], 5, 5, time, 0, 0, 1_000_000)
    data += struct.pack(f"<{1 + len(chain)}Q", len(chain), *chain)
    data += struct.pack("<Q", len(branches)) + (struct.pack("<Q", 0) if how & BRANCH_HW_INDEX else b"")
    data += b"".join(struct.pack("<QQQ", *pair, 0) for pair in branches)
    data += struct.pack(f"<{len(branches)}Q", *range(len(branches))) if how & BRANCH_COUNTERS else b""
    return record(Type.SAMPLE, data, 1)


def chains(samples: list[bytes], how: int) -> list[list[int]]:
    """What the decoder takes for the call chains, marks included."""
    decoder = Decoder()
    found: list[list[int]] = []
    real = decoder._stacks.resolve

    def spy(depth: np.ndarray, chain: np.ndarray, *rest: object) -> object:
        found.extend(part.tolist() for part in np.split(chain, np.cumsum(depth)[:-1]))
        return real(depth, chain, *rest)  # type: ignore[arg-type]

    decoder._stacks.resolve = spy  # type: ignore[method-assign,assignment]
    stream = HEADER + attr(FIELDS | Sample.BRANCH_STACK, branch=how) + Maker().mmap2(1, 5, PROGRAM, 0x10000, "/bin/x")
    decoder.feed(stream + b"".join(samples) + round_end())
    decoder.finish()
    assert decoder.stats.broken == 0
    return found


@pytest.mark.parametrize("extra", [0, BRANCH_HW_INDEX, BRANCH_COUNTERS, BRANCH_HW_INDEX | BRANCH_COUNTERS])
def test_calls_that_the_cpu_kept_are_the_user_s_part_of_the_chain(extra: int) -> None:
    how = BRANCH_CALL_STACK | extra
    calls = ((PROGRAM + 0x10, PROGRAM + 0x900), (PROGRAM + 0x20, PROGRAM + 0x5), (PROGRAM + 0x30, PROGRAM + 0x15))
    found = chains(
        [
            sample(10, (KERNEL, KERNEL_AT, USER, PROGRAM + 0x905), calls, how),
            sample(11, (USER, PROGRAM + 0x905), calls[:1], how),
            sample(12, (KERNEL, KERNEL_AT), calls, how),
            sample(13, (USER, PROGRAM + 0x905, PROGRAM + 1), (), how),
        ],
        how,
    )
    assert found == [
        [KERNEL, KERNEL_AT, USER, PROGRAM + 0x900, PROGRAM + 0x10, PROGRAM + 0x20, PROGRAM + 0x30],
        [USER, PROGRAM + 0x900, PROGRAM + 0x10],
        [KERNEL, KERNEL_AT],
        [USER, PROGRAM + 0x905, PROGRAM + 1],
    ]


def test_branches_that_are_no_calls_leave_the_chain_alone() -> None:
    chain = (USER, PROGRAM + 0x905, PROGRAM + 1)
    assert chains([sample(10, chain, ((PROGRAM, PROGRAM + 8),), 1)], 1) == [list(chain)]


def test_a_branch_stack_that_does_not_fit_its_record_is_broken() -> None:
    whole = sample(10, (USER, PROGRAM), ((1, 2), (3, 4)), BRANCH_CALL_STACK)
    lying = bytearray(whole)
    lying[-56:-48] = struct.pack("<Q", 1 << 40)
    decoder = Decoder()
    stream = HEADER + attr(FIELDS | Sample.BRANCH_STACK, branch=BRANCH_CALL_STACK) + bytes(lying) + round_end()
    decoder.feed(stream)
    decoder.finish()
    assert (decoder.stats.broken, decoder.stats.samples) == (1, 0)


def test_stacks_that_were_copied_for_dwarf_are_counted_and_reported() -> None:
    with PerfData(recorded.FOLDER / "dwarf.data") as recording:
        stacks = recorded.stacks(recording.rows())
        notes = [note for note in recording.notes() if "--call-graph dwarf" in note]
        left = recording.stats.left_stacks
    assert 0 < left <= len(stacks)
    assert notes
    assert notes[0].startswith(f"{left:,} samples have only the innermost function")
    assert all(stacks), "the sampled instruction and the kernel's part stay"


def test_recordings_without_such_stacks_say_nothing_of_them(tmp_path: Path) -> None:
    with PerfData(recorded.FOLDER / "file.data") as recording:
        list(recording.rows())
        assert not any("dwarf" in note for note in recording.notes())
