"""`perf script` text in its variety, and the same recording through our own decoder."""

# ruff: noqa: E501 - lines of logs stand as they were written

from __future__ import annotations

import contextlib
import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from perf import recorded

from necroscope.errors import BadInput
from necroscope.sense.importers.perf_script import importer
from necroscope.sense.importers.perf_script.importer import CUT_SAMPLE, NOT_CLOSED, PerfScript
from necroscope.sense.importers.profiles.perf_data import PerfData
from necroscope.sense.importers.source import Placing
from necroscope.sense.perf.rows import Lost
from necroscope.sense.perf.samples import SampleBatch

Row = tuple[str, int, int, int, int, int, str]

HEADER = b"""# ========
# captured on    : Mon Nov 16 18:03:37 2026
# hostname : vm
# os release : 6.18.44-fc-v490
# cmdline : /usr/bin/perf record -q -F 14000 -g -a --clockid mono -o p.data -- sleep 15
# event : name = cpu-clock:ppp, , id = { 6798, 6799 }, type = 1, size = 128, { sample_period, sample_freq } = 14000, \
sample_type = IP|TID|TIME|CALLCHAIN|ID|CPU|PERIOD, read_format = ID|LOST, disabled = 1, freq = 1
# time of first sample : 11528.896142
# time of last sample : 11530.991468
# clockid: monotonic (1)
# reference time: 2026-11-16 18:03:22.056570 = 1794852202.056570 (TOD) = 11528.622350266 (monotonic)
# ========
#
"""
SAMPLE = b"""python3 12977 [000] 11528.896142:      71428 cpu-clock:ppp: \n\
\t          1b9217 tuple_alloc+0x37 (/usr/lib/libpython3.11.so.1.0)
\t    7f821d6e82c0 [unknown] ([unknown])

"""
KERNEL = b"""Web Content 7  1234/1240  [012] 11528.896786:      71428 cpu-clock:ppp: \n\
\tffffffff821e81e7 clear_page_erms+0x7 ([kernel.kallsyms])
\tffffffffc0123456 nft_do_chain+0x1a (/lib/modules/6.1/kernel/net/netfilter/nf_tables.ko.xz)
\t          1af8bb _PyObject_Malloc+0x9b (/usr/bin/python3.11 (deleted))

"""


def read(path: Path, share: tuple[int, int] = (0, 1), placing: Placing | None = None) -> list[SampleBatch | Lost]:
    return list(PerfScript(path, placing or Placing()).rows(share))


def text_of(tmp_path: Path, text: bytes) -> list[SampleBatch | Lost]:
    path = tmp_path / "script.txt"
    path.write_bytes(text)
    return read(path)


def only(rows: list[SampleBatch | Lost]) -> tuple[list[Row], list[tuple[tuple[str, str], ...]]]:
    return recorded.samples(rows), recorded.stacks(rows)


# -- forms ------------------------------------------------------------------------------------------------------------


def test_a_plain_sample(tmp_path: Path) -> None:
    samples, stacks = only(text_of(tmp_path, HEADER + SAMPLE))
    assert samples == [("python3", 12977, 12977, 0, 11528896142000, 71428, "cpu-clock")]
    assert stacks == [(("tuple_alloc", "libpython3.11.so.1.0"), ("[unknown]", "[unknown]"))]


def test_names_of_several_words_modules_and_deleted_files(tmp_path: Path) -> None:
    samples, stacks = only(text_of(tmp_path, KERNEL))
    assert samples == [("Web Content 7", 1234, 1240, 12, 11528896786000, 71428, "cpu-clock")]
    assert stacks == [
        (("clear_page_erms", "[kernel]"), ("nft_do_chain", "[nf_tables]"), ("_PyObject_Malloc", "python3.11"))
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"swapper     0 [021] 28648.467059: cpu-clock: ", ("swapper", 0, 0, 21, 28648467059000, "cpu-clock")),
        (b"bash 25370/25371 6035935.188539: cpu-clock: ", ("bash", 25370, 25371, -1, 6035935188539000, "cpu-clock")),
        (b"bash 25370 6036.991603:   10101010 cycles:P: ", ("bash", 25370, 25370, -1, 6036991603000, "cycles")),
        (b"kworker/u8:2-ev 123 [001] 5.000001: 1 cycles:ppp: ", ("kworker/u8:2-ev", 123, 123, 1, 5000001000, "cycles")),
        (b"a: b 12 3 77/78 [001] 5.000001: 9 cycles:ppp: ", ("a: b 12 3", 77, 78, 1, 5000001000, "cycles")),
        (b"x 77/78 [001] d..2. 5.000001: 9 cycles: ", ("x", 77, 78, 1, 5000001000, "cycles")),
        (b"x 77/78 [001] 5.123456789: 9 cycles: ", ("x", 77, 78, 1, 5123456789, "cycles")),
        (b":-1    -1/-1    [003]  5.5: 9 cpu/cycles/: ", (":-1", -1, -1, 3, 5500000000, "cpu/cycles/")),
        (b"x 7 [001] 5.000001: sched:sched_switch: prev_comm=a ==> next_comm=b", ("x", 7, 7, 1, 5000001000, "sched:sched_switch")),
        (b"x 7/7 [001] 5.000001: ", ("x", 7, 7, 1, 5000001000, "samples")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ending", [b"\n\tffffffff810013aa f+0x1 ([kernel.kallsyms])\n\n", b"\n"])
def test_first_lines_of_the_wild(tmp_path: Path, line: bytes, expected: tuple[object, ...], ending: bytes) -> None:
    samples, stacks = only(text_of(tmp_path, (line + ending) * 2))
    assert [(*sample[:5], sample[6]) for sample in samples] == [expected] * 2
    assert stacks == [(("f", "[kernel]"),) if b"f+0x1" in ending else (("[unknown]", "[unknown]"),)] * 2


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        (b"ffffffff810013aa xen_hypercall_sched_op+0xa ([kernel.kallsyms])", ("xen_hypercall_sched_op", "[kernel]")),
        (b"2013aa hypercall+0xfe20000a (/lib/modules/4.9-virtual/build/vmlinux)", ("hypercall", "vmlinux")),
        (b"ffffffffc0123456 ena_poll ([ena])", ("ena_poll", "[ena]")),
        (b"7f36571947c0 nmethod::is_nmethod() const (/usr/lib/libjvm.so)", ("nmethod::is_nmethod() const", "libjvm.so")),
        (b"7f92bdd98965 Ljava/io/OutputStream;::write (/tmp/perf-11936.map)", ("Ljava/io/OutputStream;::write", "[jit]")),
        (b"b9218 [unknown] (/bin/bash)", ("[unknown]", "bash")),
        (b"7ffd5e1a2b3c __vdso_gettimeofday+0x1 ([vdso])", ("__vdso_gettimeofday", "[vdso]")),
        (b"ffffffffc0022050 bpf_prog_d8d4eba16335b62c+0x4 (bpf_prog_d8d4eba16335b62c)", ("bpf_prog_d8d4eba16335b62c", "[bpf]")),
        (b"7f00 operator+ (/opt/my app/lib x.so)", ("operator+", "lib x.so")),
        (b"7f00 f (//anon)", ("f", "[anon]")),
        (b"7f00 main", ("main", "[unknown]")),
        (b"main+0x12 (/bin/x)", ("main", "x")),
    ],
)  # fmt: skip
def test_frames_of_the_wild(tmp_path: Path, line: bytes, frame: tuple[str, str]) -> None:
    _, stacks = only(text_of(tmp_path, b"x 7/7 [001] 5.000001: 9 cycles: \n\t" + line + b"\n  src.c:12\n\n"))
    assert stacks == [(frame,)]
    _, stacks = only(text_of(tmp_path, b"x 7/7 [001] 5.000001: 9 cycles: \n    " + line + b"\n"))
    assert stacks == [(frame,)]


def test_an_instruction_behind_the_event_is_the_stack(tmp_path: Path) -> None:
    line = b"java 14341 [016] 252732.474759: cycles:      7f36571947c0 nmethod::is_nmethod() const (/opt/libjvm.so)\n"
    _, stacks = only(text_of(tmp_path, line * 3))
    assert stacks == [(("nmethod::is_nmethod() const", "libjvm.so"),)] * 3


def test_inlined_frames_are_in_the_file_of_the_frame_around_them(tmp_path: Path) -> None:
    body = b"\t 10 a (inlined)\n\t 10 b (inlined)\n\t 10 c+0x3 (/bin/x)\n\t 20 d (/lib/y.so)\n\n"
    _, stacks = only(text_of(tmp_path, b"x 7/7 [001] 5.000001: 9 cycles: \n" + body))
    assert stacks == [(("a", "x"), ("b", "x"), ("c", "x"), ("d", "y.so"))]


def test_lost_records_are_rows(tmp_path: Path) -> None:
    rows = text_of(tmp_path, SAMPLE + b"swapper 0 [001] 5.000001: PERF_RECORD_LOST lost 42\n" + SAMPLE)
    assert [row for row in rows if isinstance(row, Lost)] == [Lost(5000001000, 42, 1)]
    assert len(recorded.samples(rows)) == 2


def test_windows_line_ends_and_a_cut_end(tmp_path: Path) -> None:
    text = HEADER + SAMPLE + KERNEL
    whole = only(text_of(tmp_path, text))
    assert only(text_of(tmp_path, text.replace(b"\n", b"\r\n"))) == whole
    assert only(text_of(tmp_path, text.rstrip()))[0] == whole[0]


def noted(tmp_path: Path, text: bytes) -> tuple[int, tuple[str, ...]]:
    path = tmp_path / "script.txt"
    path.write_bytes(text)
    with PerfScript(path) as script:
        return len(recorded.samples(list(script.rows()))), script.notes()


def test_a_sample_that_was_cut_is_left_out_and_said(tmp_path: Path) -> None:
    """Its stack would be another one. What ends with a whole frame may be whole, and is kept."""
    text = HEADER + SAMPLE + KERNEL
    count, notes = noted(tmp_path, text)
    assert (count, {CUT_SAMPLE, NOT_CLOSED} & set(notes)) == (2, set())
    begin = len(HEADER + SAMPLE)
    for size in range(begin + 10, len(text) - 1):
        count, notes = noted(tmp_path, text[:size])
        whole_line = text[size - 1 : size] in (b")", b"\n")
        assert (count, CUT_SAMPLE in notes, NOT_CLOSED in notes) == (1 + whole_line, not whole_line, whole_line), size
    alone = b"cat 7 [001] 5.000001: 100 cycles: ffffffff8127a6d0 work ([kernel.kallsyms])\n"
    assert CUT_SAMPLE not in noted(tmp_path, alone * 3)[1]
    assert noted(tmp_path, alone * 3 + alone[:50])[0] == 3
    assert CUT_SAMPLE in noted(tmp_path, alone * 3 + alone[:50])[1]


def test_several_files_in_a_row_out_of_order(tmp_path: Path) -> None:
    late = SAMPLE.replace(b"11528.", b"99999.")
    samples, _ = only(text_of(tmp_path, HEADER + late + HEADER + SAMPLE))
    assert [sample[4] for sample in samples] == [99999896142000, 11528896142000]


def test_packed_files_are_one_piece(tmp_path: Path) -> None:
    path = tmp_path / "script.gz"
    path.write_bytes(gzip.compress(HEADER + SAMPLE) + gzip.compress(KERNEL))
    assert len(recorded.samples(read(path))) == 2
    assert [len(recorded.samples(read(path, (number, 3)))) for number in range(3)] == [2, 0, 0]
    path.write_bytes(gzip.compress(HEADER + SAMPLE * 5000)[:-20])
    assert len(recorded.samples(read(path))) > 100


def test_no_period_gets_the_nominal_weight(tmp_path: Path) -> None:
    clock = b"x 7/7 [001] 5.%06d: cpu-clock: \n\tff f (/bin/x)\n\n"
    path = tmp_path / "x"
    path.write_bytes(HEADER + clock % 1)
    assert recorded.samples(read(path))[0][5] == 10**9 // 14000
    path.write_bytes(b"".join(clock % (step * 10101) for step in range(20)))
    script = PerfScript(path)
    assert {sample[5] for sample in recorded.samples(script.rows())} == {10101000}
    assert script.notes() == ("20 samples have no period; a nominal weight was given",)
    path.write_bytes((clock % 1).replace(b"cpu-clock", b"cycles"))
    assert recorded.samples(read(path))[0][5] == 1


# -- clocks -----------------------------------------------------------------------------------------------------------


def test_the_clock(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(HEADER + SAMPLE)
    os.utime(path, ns=(0, 2_000_000_000_000_000_000))
    assert PerfScript(path).utc_offset_ns() == (1794852202056570000 - 11528622350266, True)
    assert PerfScript(path, Placing(clock_offset_ns=5)).utc_offset_ns() == (5, True)
    assert PerfScript(path, Placing(at_ns=11528896142007)).utc_offset_ns() == (7, True)
    path.write_bytes(re.sub(rb"# reference.*\n", b"", HEADER) + SAMPLE)
    captured_ns = 1794852217 * 10**9
    assert PerfScript(path).utc_offset_ns() == (captured_ns - 11530991468000, False)
    for text in (SAMPLE + KERNEL, gzip.compress(SAMPLE + KERNEL)):
        path.write_bytes(text)
        os.utime(path, ns=(0, 2_000_000_000_000_000_000))
        assert PerfScript(path).utc_offset_ns() == (2_000_000_000_000_000_000 - 11528896786000, False)
    path.write_bytes(SAMPLE.replace(b"11528.", b"1794852202."))
    assert PerfScript(path).utc_offset_ns() == (0, True)


# -- pieces, and what is not right ------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 3, 7, 40])
@pytest.mark.parametrize("chains", [True, False])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_pieces_together_are_the_whole(
    tmp_path: Path, count: int, chains: bool, ending: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "BLOCK_BYTES", 700)
    path = tmp_path / "x"
    one = SAMPLE + KERNEL if chains else b"".join(text.split(b"\n")[0] + b"\n" for text in (SAMPLE, KERNEL))
    texts = [one.replace(b"11528.", b"%d." % second) for second in range(100, 130)]
    path.write_bytes((HEADER + b"".join(texts)).replace(b"\n", ending))
    whole = read(path)
    pieces = [read(path, (number, count)) for number in range(count)]
    assert len(recorded.samples(whole)) == 60
    assert [sample for piece in pieces for sample in recorded.samples(piece)] == recorded.samples(whole)
    assert [stack for piece in pieces for stack in recorded.stacks(piece)] == recorded.stacks(whole)


@pytest.mark.parametrize(
    "text", [b"", b"\0" * 4096, b"hello\nworld\n", b"a;b 1\n", b"\n" * 5000, HEADER, b"x" * 3_000_000]
)
def test_what_holds_no_sample_is_refused(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(BadInput, match="holds no sample"):
        text_of(tmp_path, text)


def test_a_bomb_and_a_line_without_end_cost_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(SAMPLE)
        for _ in range(100):
            file.write(b"a" * (1 << 20))
        file.write(b"\n\n" + KERNEL)
    assert len(recorded.samples(read(path))) == 2


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_is_never_more_than_bad_input(tmp_path: Path, data: st.DataObject) -> None:
    text = bytearray(HEADER + (SAMPLE + KERNEL) * 3)
    for _ in range(data.draw(st.integers(1, 20))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
    with contextlib.suppress(BadInput):
        assert len(recorded.samples(text_of(tmp_path, bytes(text)))) <= 12


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.text("ab1 \t:[]().x/-+", max_size=40), max_size=12))
def test_text_that_looks_like_samples_never_crashes(tmp_path: Path, lines: list[str]) -> None:
    with contextlib.suppress(BadInput):
        text_of(tmp_path, SAMPLE + "\n".join(lines).encode())


def test_what_is_remembered_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from necroscope.sense.importers.perf_script import columns
    from necroscope.sense.importers.perf_script import stacks as script_stacks

    monkeypatch.setattr(importer, "BLOCK_BYTES", 2000)
    monkeypatch.setattr(script_stacks, "_CHAIN_BYTES", 1000)
    monkeypatch.setattr(script_stacks, "_LINES", 10)
    monkeypatch.setattr(script_stacks, "_FRAMES", 25)
    monkeypatch.setattr(columns, "_REMEMBERED", 5)
    texts = [SAMPLE.replace(b"tuple_alloc", b"f%d" % n).replace(b"12977", b"%d" % n) for n in range(300)] * 2
    samples, stacks = only(text_of(tmp_path, b"".join(texts)))
    assert [sample[1] for sample in samples] == [*range(300)] * 2
    assert [stack[0][0] for stack in stacks] == [f"f{n}" for n in range(300)] * 2


# -- the same recording through perf and through our decoder -------------------------------------------------------------

LOAD = "import os, zlib; [(zlib.compress(os.urandom(1 << 18)), os.listdir('/usr/bin')) for turn in range(40)]"


def _without(lines: list[Any], places: list[int]) -> list[Any]:
    return [line for place, line in enumerate(lines) if place not in places]


@pytest.mark.root
@pytest.mark.skipif(not shutil.which("perf"), reason="needs perf (Debian: linux-perf)")
@pytest.mark.parametrize("fields", [(), ("--ns", "-F", "comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso")])
def test_text_of_perf_says_what_our_decoder_says(tmp_path: Path, fields: tuple[str, ...]) -> None:
    path, text = tmp_path / "perf.data", tmp_path / "perf.txt"
    record = ["perf", "record", "-q", "-B", "-N", "-F", "997", "-g", "-a", "--clockid", "mono", "-o", str(path)]
    subprocess.run([*record, "--", sys.executable, "-c", LOAD], capture_output=True, check=True)
    with text.open("wb") as file:
        done = subprocess.run(
            ["perf", "script", "--header", "-i", str(path), *fields], stdout=file, stderr=subprocess.PIPE
        )
    assert done.returncode == 0, done.stderr
    with PerfData(path) as data:
        ours = list(data.rows())
        offset_ns, exact = data.utc_offset_ns()
    script = PerfScript(text)
    theirs = list(script.rows())
    assert script.stats.odd_lines == 0
    step = 1 if fields else 1000
    assert exact
    assert script.utc_offset_ns()[1]
    assert abs(script.utc_offset_ns()[0] - offset_ns) < 2_000  # perf prints microseconds of one of the clocks
    # perf does not print samples of threads that were just ending: the kernel gives some of them the pid -1.
    yours = recorded.samples(theirs)
    step_ns = 1 if fields else 1000
    printed = {(line[3], line[4] // step_ns) for line in yours}
    ended = [at for at, line in enumerate(recorded.samples(ours)) if (line[3], line[4] // step_ns) not in printed]
    assert len(ended) <= max(3, 0.01 * len(yours))
    mine = _without(recorded.samples(ours), ended)
    assert len(mine) == len(yours) > 20
    rows = [
        sorted((at // step, cpu, tid, weight, event, comm) for comm, _, tid, cpu, at, weight, event in samples)
        for samples in (mine, yours)
    ]
    assert [row[:5] for row in rows[0]] == [row[:5] for row in rows[1]]
    # perf calls a thread ":4711" when its name came later than its first sample.
    renamed = sum(one != two for one, two in zip(*rows, strict=True))
    assert renamed <= max(5, 0.005 * len(mine))
    if fields:
        assert sorted(sample[1] for sample in mine) == sorted(sample[1] for sample in yours)
    frames = [
        sorted(zip(((s[4] // step, s[3], s[2]) for s in lines), stacks, strict=True))
        for lines, stacks in ((mine, _without(recorded.stacks(ours), ended)), (yours, recorded.stacks(theirs)))
    ]
    total = same = 0
    for (key, left), (other, right) in zip(*frames, strict=True):
        assert key == other
        total += max(len(left), len(right))
        same += sum(one == two for one, two in zip(left, right, strict=False))
    assert total - same <= max(0.01 * total, 100)
