"""The scanner in C says what the loop in Python says, for whatever text."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from necroscope.sense.importers.perf_script import samples, scan
from necroscope.sense.importers.perf_script.samples import ScriptDecoder
from necroscope.sense.perf.decode.native import SWITCH
from necroscope.sense.perf.samples import SampleBatch

Row = tuple[int, int, int, int, str, str, int, int]
SOURCE = Path(scan.__file__).with_name("script_scan.c")
COMPILER = shutil.which("cc")

HEADS = (
    b"python3 12977 [000] 11528.896142:      71428 cpu-clock:ppp: ",
    b"Web Content 7  1234/1240  [012] 11528.896786:      71428 cpu-clock:ppp: ",
    b"a: b 7 [001] 12.5: 1 cycles: ",
    b"swapper     0 [003]  1.000000001: cycles: ",
    b"x 1 99999999999.1: 1 cycles: ",
    b"x 1 1.: 1 cycles: ",
    b"x 1 [000] 5.25: 250 cycles:  ffffffff81000000 do_idle+0x1 ([kernel.kallsyms])",
    b"x 1 [000] 5.25: sched:sched_switch: prev_comm=a ==> next_comm=b",
    b"x 1 [000] 6.5: PERF_RECORD_LOST lost 17",
    b"# comment",
    b"nothing: at all",
    b"",
)
LINES = (
    b"\t          1b9217 tuple_alloc+0x37 (/usr/lib/libpython3.11.so.1.0)",
    b"\t          1b9218 tuple_alloc+0x38 (/usr/lib/libpython3.11.so.1.0)",
    b"\t          1b9218 tuple_alloc (/usr/lib/libpython3.11.so.1.0)",
    b"\t    7f821d6e82c0 [unknown] ([unknown])",
    b"\t    7f821d6e82c8 [unknown] ([unknown])",
    b"\tffffffff821e81e7 clear_page_erms+0x7 ([kernel.kallsyms])",
    b"\t          1af8bb _PyObject_Malloc+0x9b (/usr/bin/python3.11 (deleted))",
    b"\t 1 +0x1 (m)",
    b"\t 1 +0x2 (m)",
    b"\t 1 a+0x1+0x2 (m)",
    b"\t 1 a+0x1 (m)",
    b"\t 1 a+0x (m)",
    b"\tinlined_one (inlined)",
    b"\t 12 inlined_one (inlined)",
    b"\t 12345678901234567 too_long+0x1 (m)",
    b"  7f00 by_blanks+0x1 (m)",
    b"\t",
    b"  file.c:12",
    b"\t1 (",
    b"\t1 )",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The scanner as it stands, compiled."""
    if COMPILER is None:
        pytest.skip("no C compiler")
    made = tmp_path_factory.mktemp("scan") / "scan.so"
    flags = ("-std=c11", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror")
    subprocess.run([COMPILER, *flags, str(SOURCE), "-o", str(made)], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "LIBRARY", made)
        patch.delenv(SWITCH, raising=False)
        scan._scanner.cache_clear()
        assert scan.scan(b"") is not None
        yield
    scan._scanner.cache_clear()


def decoded(decoder: ScriptDecoder, *blocks: bytes) -> tuple[list[Row | str], dict[int, str]]:
    """All that comes of blocks, and the stacks that samples of it have."""
    found: list[Row | str] = []
    stacks: dict[int, str] = {}
    for row in (row for block in blocks for row in decoder.decode(block)):
        if not isinstance(row, SampleBatch):
            found.append(repr(row))
            continue
        comms, events = np.array(row.comms, object)[row.comm], np.array(row.events, object)[row.event]
        columns = (row.at_ns, row.cpu, row.pid, row.tid, comms, events, row.weight, row.stack_id)
        found += list(zip(*(column.tolist() for column in columns), strict=True))
        texts = {one.stack_id: one.text for one in row.stacks}
        stacks |= {one: texts[one] for one in row.stack_id.tolist() if one not in stacks}
    return found, stacks


@pytest.mark.usefixtures("library")
@settings(max_examples=300, deadline=None)
@given(
    pieces=st.lists(
        st.tuples(st.sampled_from(HEADS), st.lists(st.sampled_from(LINES), max_size=4), st.integers(1, 3)), max_size=12
    )
)
@example(pieces=[(HEADS[0], [LINES[7]], 2), (HEADS[0], [LINES[8]], 2)])
@example(pieces=[(HEADS[0], [LINES[0]], 1), (HEADS[1], [LINES[1]], 2)])
def test_the_same_from_both(pieces: list[tuple[bytes, list[bytes], int]]) -> None:
    block = b"".join(b"\n".join((head, *lines)) + b"\n" * ends for head, lines, ends in pieces)
    fast, plain = ScriptDecoder(1000), ScriptDecoder(1000)
    with pytest.MonkeyPatch.context() as patch:
        at_once = decoded(fast, block, block)
        patch.setattr(samples, "scan", lambda _: None)
        assert decoded(plain, block, block) == at_once
    assert fast.stats == plain.stats


@pytest.mark.usefixtures("library")
@settings(max_examples=200, deadline=None)
@given(block=st.binary(max_size=300) | st.text("ab1 \t:[]().x/-+\n0", max_size=300).map(str.encode))
def test_any_bytes(block: bytes) -> None:
    fast, plain = ScriptDecoder(1000), ScriptDecoder(1000)
    with pytest.MonkeyPatch.context() as patch:
        at_once = decoded(fast, block)
        patch.setattr(samples, "scan", lambda _: None)
        assert decoded(plain, block) == at_once


@pytest.mark.usefixtures("library")
def test_addresses_and_offsets_make_no_other_chain() -> None:
    def chain(*lines: bytes) -> int:
        scanned = scan.scan(b"\n".join((HEADS[0], *lines)))
        assert scanned is not None
        return int(scanned.hashes[0, 2])

    assert chain(LINES[0]) == chain(LINES[1])
    assert chain(LINES[3]) == chain(LINES[4])
    assert len({chain(LINES[0]), chain(LINES[3]), chain(LINES[0], LINES[3]), chain(LINES[5]), chain()}) == 5
    assert chain(LINES[7]) != chain(LINES[8])


@pytest.mark.usefixtures("library")
def test_many_short_pieces() -> None:
    scanned = scan.scan(b"a\n\n" * 5000)
    assert scanned is not None
    assert scanned.at_ns.tolist() == [-1] * 5000
