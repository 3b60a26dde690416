"""The decoder on streams made for the purpose: order, names, cgroups, losses, and the way back after garbage."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import pytest
from perf import recorded
from perf.stream_builder import HEADER, KERNEL, SAMPLED, USER, Maker, attr, record, round_end

from necroscope.sense.perf.decode.stream import Decoder
from necroscope.sense.perf.format.layout import Sample, Type
from necroscope.sense.perf.format.sideband import MappedFile
from necroscope.sense.perf.format.tracepoints import parse_format
from necroscope.sense.perf.rows import CgroupEvent, Gap, Lost, Row, TaskBatch, Throttled
from necroscope.sense.perf.samples import SampleBatch, canonical_frame, stack_id
from necroscope.sense.perf.symbols.kallsyms import KernelSymbols, parse_kallsyms
from necroscope.sense.perf.symbols.symbols import Kernel, Symbols, kernel_from

KALLSYMS = b"""ffffffff81000000 T _text
ffffffff81000000 T first
ffffffff81001000 T second
ffffffff81002000 T third
ffffffffc0000000 t helper\t[driver]
ffffffffc0001000 t helper_end\t[driver]
"""
DO_FIRST, DO_SECOND = 0xFFFFFFFF81000010, 0xFFFFFFFF81001010
on = Maker()


def decode(*parts: bytes, **options: object) -> tuple[list[Row], Decoder]:
    decoder = Decoder(**options)  # type: ignore[arg-type]
    rows = decoder.feed(HEADER + attr() + b"".join(parts))
    return rows + decoder.finish(), decoder


def kernel() -> Symbols:
    return Symbols(kernel_from(KALLSYMS), None)


def comms(rows: list[Row]) -> list[tuple[int, str]]:
    return [(line[4], line[0]) for line in recorded.samples(rows)]


# -- order ---------------------------------------------------------------------------------------------------


def test_a_round_holds_back_what_another_ring_may_still_bring() -> None:
    decoder = Decoder()
    assert decoder.feed(HEADER + attr() + on.sample(50, 1) + on.sample(10, 1) + round_end()) == []
    rows = decoder.feed(on.sample(40, 1) + on.sample(60, 1) + round_end())
    assert [line[4] for line in recorded.samples(rows)] == [10, 40, 50]
    assert [line[4] for line in recorded.samples(decoder.finish())] == [60]


def test_without_rounds_the_older_half_goes_when_too_much_waits() -> None:
    decoder = Decoder(pending_bytes=20_000)
    rows = decoder.feed(HEADER + attr() + b"".join(on.sample(time, 1) for time in range(2000, 0, -1)))
    assert decoder.stats.forced_flushes > 0
    assert len(recorded.samples(rows)) >= 500
    assert len(recorded.samples(rows + decoder.finish())) == 2000


# -- tasks -------------------------------------------------------------------------------------------------------


def test_names_follow_fork_exec_and_exit() -> None:
    rows, _ = decode(
        on.comm(0, 100, "bash"),
        on.sample(10, 100),
        on.fork(20, 200, 100),
        on.sample(30, 200),
        on.comm(40, 200, "ls", by_exec=True),
        on.sample(50, 200),
        on.exit(60, 200),
        on.sample(70, 200),
        on.sample(80, 999),
        on.sample(90, 0),
        on.sample(95, 0xFFFFFFFF),
    )
    assert comms(rows) == [
        (10, "bash"), (30, "bash"), (50, "ls"), (70, "ls"), (80, ":999"), (90, "swapper"), (95, ":-1")
    ]  # fmt: skip


def test_what_comes_late_in_the_stream_counts_from_its_time_on() -> None:
    rows, _ = decode(on.sample(50, 200), on.sample(10, 200), on.comm(30, 200, "late"))
    assert comms(rows) == [(10, ":200"), (50, "late")]


def test_a_thread_has_a_name_of_its_own() -> None:
    rows, _ = decode(
        on.comm(0, 5, "main"),
        on.fork(10, 5, 5, tid=6, ptid=5),
        on.comm(20, 5, "worker", tid=6),
        on.sample(30, 5, tid=6),
        on.sample(40, 5),
    )
    assert comms(rows) == [(30, "worker"), (40, "main")]


def test_a_used_pid_is_somebody_else() -> None:
    rows, _ = decode(
        on.comm(0, 1, "init"),
        on.comm(5, 7, "old"),
        on.exit(10, 7),
        on.fork(20, 7, 1),
        on.sample(30, 7),
    )
    assert comms(rows) == [(30, "init")]


def test_a_child_inherits_from_a_parent_nobody_sampled() -> None:
    rows, _ = decode(
        on.comm(0, 1, "init"),
        on.fork(10, 2, 1),
        on.comm(11, 2, "middle", by_exec=True),
        on.mmap2(12, 2, 0x1000, 0x1000, "/middle"),
        on.fork(13, 3, 2),
        on.exit(14, 2),
        on.sample(20, 3, (USER, 0x1010)),
        on.exit(30, 3),
    )
    assert comms(rows) == [(20, "middle")]
    assert recorded.stacks(rows) == [(("[unknown]", "middle"),)]


def test_tasks_are_reported() -> None:
    rows, _ = decode(on.comm(0, 1, "there already"), on.fork(5, 8, 1), on.comm(6, 8, "x", by_exec=True), on.exit(7, 8))
    [batch] = [row for row in rows if isinstance(row, TaskBatch)]
    assert [TaskBatch.KINDS[kind] for kind in batch.kind.tolist()] == ["fork", "exec", "exit"]
    assert batch.parent.tolist() == [1, 0, 1]
    assert [batch.comms[comm] for comm in batch.comm.tolist()] == ["", "x", ""]


def test_many_short_lived_processes_leave_nothing_behind() -> None:
    decoder = Decoder()
    decoder.feed(HEADER + attr() + on.comm(0, 1, "init"))
    for turn in range(30):
        base = turn * 1000 + 10
        born = b"".join(on.fork(base + n, 1000 + base + n, 1) for n in range(100))
        maps = b"".join(on.mmap2(base + n, 1000 + base + n, 4096, 4096, "/bin/x") for n in range(100))
        gone = b"".join(on.exit(base + 500 + n, 1000 + base + n) for n in range(100))
        decoder.feed(born + maps + gone + round_end())
    assert len(decoder.tasks._comms.now) < 600
    assert len(decoder.tasks._by_number) < 600


@pytest.mark.parametrize("device", [(8, 1), (254, 0), (259, 3), (0, 51)])
def test_a_build_id_is_believed_only_when_it_can_be_one(device: tuple[int, int]) -> None:
    true = on.mmap2(5, 5, 0x1000, 0x1000, "/true", build_id=bytes(range(1, 21)))
    short = on.mmap2(5, 5, 0x3000, 0x1000, "/short", build_id=bytes(range(101, 109)))
    # While another perf asks for build ids, the kernel marks records that have a device and an inode.
    marked = bytearray(on.mmap2(5, 5, 0x5000, 0x1000, "/marked", inode=77))
    struct.pack_into("<H", marked, 4, 1 << 14)
    struct.pack_into("<II", marked, 40, *device)
    _, decoder = decode(true, short, bytes(marked))
    assert decoder.symbols.files == [
        MappedFile("/true", build_id=bytes(range(1, 21)).hex()),
        MappedFile("/short", build_id=bytes(range(101, 109)).hex()),
        MappedFile("/marked", device=device, inode=77),
    ]


# -- frames ------------------------------------------------------------------------------------------------------------


def test_kernel_frames_have_names_and_stacks_an_identity() -> None:
    rows, _ = decode(on.sample(10, 1, (KERNEL, DO_SECOND, DO_FIRST)), symbols=kernel())
    [batch] = [row for row in rows if isinstance(row, SampleBatch)]
    [stack] = batch.stacks
    assert (stack.frames, stack.modules) == (("first", "second"), ("[kernel]", "[kernel]"))
    canonical = [canonical_frame("first", "[kernel]"), canonical_frame("second", "[kernel]")]
    assert b"".join(canonical) == b"first\x1f[kernel]\x1esecond\x1f[kernel]\x1e"
    assert stack.stack_id == stack_id(canonical) == batch.stack_id.tolist()[0] == 7800765749040490465


def test_a_stack_is_handed_out_once() -> None:
    decoder = Decoder(kernel())
    chain = (KERNEL, DO_SECOND)
    rows = decoder.feed(HEADER + attr() + on.sample(10, 1, chain) + round_end() + on.sample(20, 2, chain) + round_end())
    rows += decoder.feed(on.sample(30, 3, chain) + round_end()) + decoder.finish()
    assert [len(row.stacks) for row in rows if isinstance(row, SampleBatch)] == [1, 0, 0]
    assert len(recorded.stacks(rows)) == 3


def test_modules_and_unknown_frames_are_distinguished() -> None:
    chain = (KERNEL, 0xFFFFFFFFC0000010, 0xFFFFFFFF90000000, 0xFFFFFFFFFF000000, USER, 0x1234)
    rows, _ = decode(on.sample(10, 1, chain), symbols=kernel())
    assert recorded.stacks(rows) == [
        (("helper", "[driver]"), ("[unknown]", "[kernel]"), ("[unknown]", "[unknown]"), ("[unknown]", "[unknown]"))
    ]


def test_user_frames_name_their_file() -> None:
    rows, _ = decode(
        on.mmap2(0, 5, 0x400000, 0x1000, "/usr/bin/app"),
        on.mmap2(5, 5, 0x7F0000000000, 0x2000, "/usr/lib/lib\xe9.so (deleted)"),
        on.sample(10, 5, (USER, 0x400010, 0x7F0000000010, 0x99)),
    )
    assert recorded.stacks(rows) == [(("[unknown]", "app"), ("[unknown]", "lib\xe9.so"), ("[unknown]", "[unknown]"))]


def test_a_later_mapping_covers_an_earlier_one_and_an_exec_starts_over() -> None:
    rows, _ = decode(
        on.mmap2(1, 5, 0x1000, 0x4000, "/old"),
        on.mmap2(2, 5, 0x2000, 0x1000, "/new"),
        on.sample(10, 5, (USER, 0x1500, 0x2500, 0x3500)),
        on.fork(20, 6, 5),
        on.comm(30, 6, "x", by_exec=True),
        on.mmap2(31, 6, 0x2000, 0x1000, "/exec"),
        on.sample(40, 6, (USER, 0x2500)),
        on.sample(50, 5, (USER, 0x2500)),
    )
    modules = [tuple(module for _, module in stack) for stack in recorded.stacks(rows)]
    assert modules == [("old", "new", "old"), ("exec",), ("new",)]


def test_code_that_the_kernel_gets_while_recording_is_named_for_its_time() -> None:
    place = 0xFFFFFFFFC1000000
    rows, _ = decode(
        on.ksymbol(10, place, 64, "bpf_prog_one"),
        on.sample(20, 1, (KERNEL, place + 8)),
        on.ksymbol(30, place, 64, "bpf_prog_one", gone=True),
        on.sample(40, 1, (KERNEL, place + 8)),
        on.ksymbol(50, place, 64, "bpf_prog_two"),
        on.sample(60, 1, (KERNEL, place + 8)),
        symbols=kernel(),
    )
    assert [stack[0][0] for stack in recorded.stacks(rows)] == ["bpf_prog_one", "[unknown]", "bpf_prog_two"]


def test_what_a_kernel_leaves_behind_a_record_is_not_its_time() -> None:
    place, old = 0xFFFFFFFFC1000000, b"/x86_64-linux-gnu/libc.so.6\0\0\0\0\0"
    decoder = Decoder(kernel())
    first = decoder.feed(HEADER + attr() + on.sample(10, 1) + round_end())
    first += decoder.feed(
        on.ksymbol(20, place, 64, "bpf_prog_one", behind=old) + on.bpf_event(21, behind=old) + round_end()
    )
    for turn in range(3, 6):
        first += decoder.feed(on.sample(10 * turn, 1, (KERNEL, place + 8)) + round_end())
    assert [line[4] for line in recorded.samples(first)] == [10, 30, 40]
    assert recorded.stacks(first)[1][0][0] == "bpf_prog_one"


def test_a_time_far_ahead_does_not_stop_the_stream() -> None:
    decoder = Decoder()
    ahead = 7_955_377_262 * 10**9
    rows = decoder.feed(HEADER + attr() + on.sample(10, 1) + round_end())
    rows += decoder.feed(on.comm(ahead, 7, "odd") + round_end())
    rows += decoder.feed(on.sample(ahead, 1) + round_end())
    for turn in range(2, 8):
        rows += decoder.feed(on.sample(10 * turn, 1) + round_end())
    assert {line[4] for line in recorded.samples(rows)} >= {10, 20, 30, 40, 50, 60}


def test_addresses_of_which_every_place_is_known_already_stop_nothing() -> None:
    """Another process maps the same file: its addresses are new, and what lies there is known."""
    decoder = Decoder()
    first, second = 0x1000, 0x5000
    rows = decoder.feed(
        HEADER
        + attr()
        + on.comm(0, 1, "one")
        + on.mmap2(1, 1, first, 0x1000, "/lib/x.so")
        + on.comm(0, 2, "two")
        + on.mmap2(1, 2, second, 0x1000, "/lib/x.so")
        + on.sample(10, 1, (USER, first + 0x10))
        + round_end()
    )
    for turn in (2, 3):
        rows += decoder.feed(on.sample(10 * turn, 2, (USER, second + 0x10)) + round_end())
    assert [line[:2] for line in recorded.samples(rows + decoder.finish())] == [("one", 1), ("two", 2), ("two", 2)]
    assert recorded.stacks(rows) == [(("[unknown]", "x.so"),)] * len(recorded.stacks(rows))
    assert decoder.stats.broken == 0


def test_a_guest_is_not_taken_for_its_host() -> None:
    guest_kernel = (1 << 64) - 2176
    chain = (guest_kernel, DO_FIRST, DO_SECOND)
    rows, _ = decode(on.sample(5, 1), on.sample(10, 1, chain), on.sample(20, 1, (KERNEL, DO_FIRST)), symbols=kernel())
    assert recorded.stacks(rows)[1:] == [(("[unknown]", "[guest]"), ("[unknown]", "[guest]")), (("first", "[kernel]"),)]


def test_another_boot_of_the_same_kernel_is_shifted() -> None:
    mapped = struct.pack("<IIQQQ", 0xFFFFFFFF, 0, 0xFFFFFFFF82000000, 1 << 24, 0xFFFFFFFF82000000)
    mapped += b"[kernel.kallsyms]_text\0\0" + on.trailer(0)
    shifted = DO_SECOND + 0x1000000
    rows, decoder = decode(
        record(Type.MMAP, mapped, 1), on.sample(10, 1, (KERNEL, shifted, 0xFFFFFFFFC1000010)), symbols=kernel()
    )
    assert decoder.recording.kernel_reference == ("_text", 0xFFFFFFFF82000000)
    assert recorded.stacks(rows) == [(("second", "[kernel]"), ("[unknown]", "[kernel]"))]


def test_no_kernel_symbols_no_names() -> None:
    rows, _ = decode(on.sample(10, 1, (KERNEL, DO_FIRST)), symbols=Symbols(None, None))
    assert recorded.stacks(rows) == [(("[unknown]", "[kernel]"),)]


# -- cgroups -----------------------------------------------------------------------------------------------------------


def test_samples_with_a_cgroup_id_have_its_path() -> None:
    sample_type = SAMPLED | Sample.CGROUP
    decoder = Decoder()
    with_cgroup = on.sample(10, 1)[:-16]  # a chain of none, then the cgroup
    data = with_cgroup[8:-8] + struct.pack("<QQ", 0, 77)
    rows = decoder.feed(HEADER + attr(sample_type) + on.cgroup(77, "/system.slice/x") + record(Type.SAMPLE, data))
    rows += decoder.finish()
    [batch] = [row for row in rows if isinstance(row, SampleBatch)]
    assert batch.cgroups == ("/system.slice/x",)


ATTACH = parse_format(
    """name: cgroup_attach_task
ID: 538
format:
	field:int dst_root;	offset:8;	size:4;	signed:1;
	field:int dst_level;	offset:12;	size:4;	signed:1;
	field:u64 dst_id;	offset:16;	size:8;	signed:0;
	field:int pid;	offset:24;	size:4;	signed:1;
	field:__data_loc char[] dst_path;	offset:28;	size:4;	signed:0;
	field:__data_loc char[] comm;	offset:32;	size:4;	signed:0;
""",
    "cgroup",
)


def moved(time: int, pid: int, root: int, path: str) -> bytes:
    text = path.encode() + b"\0"
    fields = struct.pack("<HBBiiiQiIi", 538, 0, 0, 1, root, 1, 42, pid, 36 | len(text) << 16, 0) + text
    fields = fields.ljust(len(fields) + (-len(fields) - 4) % 8, b"\0")
    head = struct.pack("<QQIIQIIQ", 8, 0, 1, 1, time, 0, 0, 1)
    return record(Type.SAMPLE, head + struct.pack("<QI", 0, len(fields)) + fields)


def cgroup_paths(rows: list[Row]) -> list[tuple[int, str]]:
    return [
        (at, batch.cgroups[code])
        for batch in rows
        if isinstance(batch, SampleBatch)
        for at, code, event in zip(batch.at_ns.tolist(), batch.cgroup.tolist(), batch.event.tolist(), strict=True)
        if batch.events[event] == "cpu-clock"
    ]


def attached(cgroup_of: Callable[[int], str], *parts: bytes) -> list[Row]:
    assert ATTACH is not None
    decoder = Decoder(cgroup_of=cgroup_of, memory_root=4, formats={538: ATTACH})
    events = attr() + attr(SAMPLED | Sample.RAW, ids=(8,), kind=2, config=538)
    return decoder.feed(HEADER + events + b"".join(parts)) + decoder.finish()


def test_a_process_is_asked_for_once_and_followed_from_then_on() -> None:
    asked: list[int] = []

    def cgroup_of(pid: int) -> str:
        asked.append(pid)
        return f"/start/{pid}"

    rows = attached(
        cgroup_of,
        on.sample(10, 5),
        moved(20, 5, 4, "/jobs/a"),
        on.sample(30, 5),
        moved(35, 5, 9, "/of/another/hierarchy"),
        on.fork(40, 6, 5),
        on.sample(50, 6),
        on.sample(60, 5),
    )
    assert cgroup_paths(rows) == [(10, "/start/5"), (30, "/jobs/a"), (50, "/jobs/a"), (60, "/jobs/a")]
    assert set(asked) <= {1, 5}
    events = [row for row in rows if isinstance(row, CgroupEvent)]
    assert [(one.kind, one.root, one.path, one.pid) for one in events] == [
        ("attach_task", 4, "/jobs/a", 5),
        ("attach_task", 9, "/of/another/hierarchy", 5),
    ]


# -- what is missing --------------------------------------------------------------------------------


def test_losses_and_throttling_are_reported() -> None:
    throttle = struct.pack("<QQQ", 25, 7, 7) + on.trailer(25)
    lost_samples = struct.pack("<Q", 9) + on.trailer(40)
    rows, decoder = decode(
        on.lost(20, 123),
        record(Type.THROTTLE, throttle),
        record(Type.UNTHROTTLE, throttle),
        record(Type.LOST_SAMPLES, lost_samples),
    )
    assert rows == [Lost(20, 123, 0), Throttled(25, 0, False), Throttled(25, 0, True), Lost(40, 9, 0)]
    assert decoder.stats.lost == 132


def test_garbage_is_skipped_to_the_next_round_and_reported() -> None:
    garbage = b"\xff" * 100
    rows, decoder = decode(on.sample(10, 1), garbage, on.sample(20, 1), round_end(), on.sample(30, 1))
    assert [line[4] for line in recorded.samples(rows)] == [10, 30]
    lost = len(garbage) + len(on.sample(20, 1))
    assert [row for row in rows if isinstance(row, Gap)] == [Gap(10, lost)]
    assert decoder.stats.skipped_bytes == lost


def test_unknown_records_and_hardware_traces_are_passed_over() -> None:
    aux = struct.pack("<QQQIIII", 5000, 0, 0, 0, 0, 0, 0)
    decoder = Decoder()
    rows = decoder.feed(HEADER + attr() + record(40, b"new kernel") + record(99, b"new perf") + on.sample(10, 1))
    rows += decoder.feed(record(Type.AUXTRACE, aux) + b"\xee" * 3000)
    rows += decoder.feed(b"\xee" * 2000 + on.sample(20, 1)) + decoder.finish()
    assert [line[4] for line in recorded.samples(rows)] == [10, 20]
    assert decoder.stats.skipped_bytes == 0


def test_samples_of_no_event_are_counted() -> None:
    stranger = Maker(counter=55)
    rows, decoder = decode(attr(ids=(9,), config=1), on.sample(10, 1), stranger.sample(20, 1))
    assert [line[4:] for line in recorded.samples(rows)] == [(10, 1_000_000, "cpu-clock")]
    assert decoder.stats.nameless == 1


def test_a_name_given_to_an_event_is_used() -> None:
    update = struct.pack("<QQ", 2, 9) + b"my-event:u\0"
    faults = attr(ids=(9,), config=2)
    rows, _ = decode(faults, record(Type.EVENT_UPDATE, update), Maker(counter=9).sample(10, 1))
    assert recorded.samples(rows)[0][6] == "my-event"


def test_a_name_does_not_hide_that_an_event_stands_for_time() -> None:
    update = struct.pack("<QQ", 2, 7) + b"my-event:u\0"
    rows, _ = decode(record(Type.EVENT_UPDATE, update), on.sample(10, 1))
    assert recorded.samples(rows)[0][6] == "cpu-clock"


@pytest.mark.parametrize("payload", [b"", b"\x28\xb5\x2f\xfd garbage", b"not zstd at all"])
def test_broken_compressed_records_are_counted(payload: bytes) -> None:
    rows, decoder = decode(record(Type.COMPRESSED, payload), on.sample(10, 1))
    assert len(recorded.samples(rows)) == 1
    assert decoder.stats.broken == (1 if payload else 0)


def test_a_time_beyond_all_clocks_is_clipped() -> None:
    rows, _ = decode(on.sample(2**64 - 2, 1))
    assert [line[4] for line in recorded.samples(rows)] == [2**63 - 1]


def test_kernel_symbols_may_be_replaced_while_running() -> None:
    symbols = kernel()
    decoder = Decoder(symbols)
    rows = decoder.feed(HEADER + attr() + on.sample(10, 1, (KERNEL, DO_FIRST)) + round_end() + round_end())
    other = parse_kallsyms(KALLSYMS.replace(b"first", b"renamed"))
    assert isinstance(other, KernelSymbols)
    symbols.use_kernel(Kernel("", other, {}))
    rows += decoder.feed(on.sample(20, 1, (KERNEL, DO_FIRST))) + decoder.finish()
    assert [stack[0][0] for stack in recorded.stacks(rows)] == ["first", "renamed"]


def test_a_flood_of_files_stays_bounded() -> None:
    decoder = Decoder()
    decoder._intake.files._limit = 50
    rows = decoder.feed(HEADER + attr())
    for turn in range(10):
        maps = b"".join(on.mmap2(turn * 100 + n + 1, 5, 0x1000 * (n + 1), 0x1000, f"/f{turn}-{n}") for n in range(20))
        rows += decoder.feed(maps + on.sample(turn * 100 + 50, 5, (USER, 0x1800)) + round_end())
    rows += decoder.finish()
    assert len(decoder._intake.files.values) <= 70
    modules = [stack[0][1] for stack in recorded.stacks(rows)]
    assert modules == [f"f{turn}-0" for turn in range(10)]


def test_a_flood_of_names_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("necroscope.sense.perf.decode.interning.NAMES", 100)
    decoder = Decoder()
    rows = decoder.feed(HEADER + attr() + on.comm(0, 5, "constant"))
    for turn in range(20):
        base = turn * 1000 + 10
        flood = b"".join(on.comm(base + n, 6, f"name-{turn}-{n}") for n in range(50))
        rows += decoder.feed(flood + on.sample(base + 60, 5) + on.sample(base + 61, 6) + round_end())
    rows += decoder.finish()
    assert len(decoder.tasks.comm_names) < 200
    assert [name for _, name in comms(rows)] == [name for turn in range(20) for name in ("constant", f"name-{turn}-49")]


def test_columns_have_the_types_that_were_promised() -> None:
    rows, _ = decode(on.sample(10, 1))
    [batch] = [row for row in rows if isinstance(row, SampleBatch)]
    types = {name: getattr(batch, name).dtype for name in ("at_ns", "cpu", "pid", "tid", "comm", "event", "weight")}
    assert types == {
        "at_ns": np.int64, "cpu": np.int32, "pid": np.int32, "tid": np.int32, "comm": np.int32, "event": np.int32,
        "weight": np.int64,
    }  # fmt: skip
    assert batch.stack_id.dtype == np.uint64
