"""`perf script` text without times: a profile, and said to be one. The texts in recordings/ are perf's own."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from perf import recorded

from necroscope.errors import BadInput
from necroscope.record.imports.file_importers import How, import_file
from necroscope.sense.host import Host
from necroscope.sense.importers.perf_script.timeless import LOST, TimelessScript
from necroscope.sense.importers.sniff import kind_of
from necroscope.sense.importers.source import Placing
from necroscope.sense.perf.samples import SampleBatch
from necroscope.store.write.writer import Writer

FOLDER = Path(__file__).parents[1] / "recordings"
WHO = {("gzip", pid, pid) for pid in (2147, 2241, 2279)}


def read(path: Path, placing: Placing | None = None) -> tuple[list[SampleBatch], TimelessScript]:
    script = TimelessScript(path, placing or Placing())
    return list(script.rows()), script


def text_of(tmp_path: Path, text: bytes) -> tuple[list[SampleBatch], TimelessScript]:
    path = tmp_path / "script.txt"
    path.write_bytes(text)
    return read(path)


@pytest.mark.parametrize(
    ("name", "who"),
    [("timeless.txt", WHO), ("timeless-flat.txt", WHO), ("timeless-bare.txt", {("", -1, -1)})],
)
def test_what_perf_prints_without_times_is_a_profile(name: str, who: set[tuple[str, int, int]]) -> None:
    assert kind_of(FOLDER / name) == "perf-script"
    batches, script = read(FOLDER / name)
    samples = recorded.samples(batches)
    assert {line[:3] for line in samples} == who
    assert {line[6] for line in samples} == {"folded"}
    assert {line[5] for line in samples} == {1}, "each sample counts once"
    module = "gzip" if who is WHO else "[unknown]"
    assert {stack[0][1] for stack in recorded.stacks(batches)} <= {module, "libc.so.6", "[kernel]"}
    assert script.notes()[0] == LOST
    assert script.odd_lines == 0
    assert len(samples) == 81


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_it_lies_where_its_header_says(tmp_path: Path, pack: type[bytes]) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(pack((FOLDER / "timeless.txt").read_bytes()))
    _, script = read(path)
    offset_ns, exact = script.utc_offset_ns()
    captured_ns = 1_795_030_364_000_000_000
    assert (offset_ns, exact) == (captured_ns - 60_000_000_000, False)
    assert read(path, Placing(at_ns=7))[1].utc_offset_ns() == (7, True)


def test_a_file_without_times_is_imported_and_said_so(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "store")
    try:
        kind, done = import_file(writer, FOLDER / "timeless.txt", How(Host()))
    finally:
        writer.close(merge=False)
    assert (kind, done.samples) == ("perf-script", 81)
    assert LOST in done.notes


def test_names_of_several_words_cores_and_frames(tmp_path: Path) -> None:
    batches, _ = text_of(
        tmp_path,
        b"Web Content 7  1234/1240  [012]      71428 cycles:P: \n"
        b"\tffffffff821e81e7 clear_page_erms+0x7 ([kernel.kallsyms])\n\t  1af8bb f+0x9b (/usr/bin/x)\n\n",
    )
    (line,) = recorded.samples(batches)
    assert line[:4] == ("Web Content 7", 1234, 1240, 12)
    assert recorded.stacks(batches) == [(("clear_page_erms", "[kernel]"), ("f", "x"))]


@pytest.mark.parametrize("text", [b"", b"hello\n", b"x 1\ny 2\n"])
def test_what_holds_no_chain_is_refused(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(BadInput) as refused:
        text_of(tmp_path, text)
    assert "perf script --header" in refused.value.hint


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from([b"x 1/2 [3] 5 e: ", b"\tff f (x)", b"\t12 ", b"", b" ", b"a:", b"9" * 30, b"\xff\x1e"]))
)
def test_any_lines_crash_nothing(tmp_path: Path, lines: list[bytes]) -> None:
    try:
        batches, script = text_of(tmp_path, b"\n".join(lines))
    except BadInput:
        return
    assert sum(map(len, batches)) == script.samples > 0
