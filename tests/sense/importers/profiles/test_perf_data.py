"""perf.data files: what `perf script` says, in one piece or several, and never a crash."""

from __future__ import annotations

import os
import random
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from perf import recorded
from perf.stream_builder import HEADER, Maker, attr, round_end

from necroscope.errors import BadInput
from necroscope.sense.host import Host
from necroscope.sense.importers.profiles.perf_data import PerfData
from necroscope.sense.importers.source import CUT_SHORT
from necroscope.sense.perf.format.attrs import plain_name
from necroscope.sense.perf.rows import CgroupEvent, Row, TaskBatch
from necroscope.sense.perf.samples import SampleBatch

pytestmark = pytest.mark.slow

ALL = (*recorded.FILES, *recorded.STREAMS)


def read(path: Path, share: tuple[int, int] = (0, 1)) -> list[Row]:
    with PerfData(path) as recording:
        return list(recording.rows(share))


@pytest.mark.parametrize("name", ALL)
def test_a_recording_says_what_perf_script_says(name: str) -> None:
    with PerfData(recorded.FOLDER / f"{name}.data") as recording:
        rows = list(recording.rows())
        stats = recording.stats
        assert recording.progress > 0.8
    assert recorded.samples(rows) == recorded.script(name)
    assert (stats.broken, stats.nameless, stats.skipped_bytes, stats.lost) == (0, 0, 0, 0)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("count", [2, 3, 7])
def test_pieces_together_are_the_whole(name: str, count: int) -> None:
    path = recorded.FOLDER / f"{name}.data"
    whole, pieces = read(path), [read(path, (number, count)) for number in range(count)]
    assert sorted(line for piece in pieces for line in recorded.samples(piece)) == sorted(recorded.samples(whole))
    notes = [
        sum(len(row) for row in rows if isinstance(row, TaskBatch))
        for rows in (whole, [row for piece in pieces for row in piece])
    ]
    assert notes[0] == notes[1]
    stacks = [sorted(zip(recorded.samples(rows), recorded.stacks(rows), strict=True)) for rows in (whole, *pieces)]
    assert sorted(pair for piece in stacks[1:] for pair in piece) == stacks[0]


def test_samples_have_a_cgroup_where_it_was_recorded() -> None:
    batches = [row for row in read(recorded.FOLDER / "dwarf.data") if isinstance(row, SampleBatch)]
    assert {batch.cgroups for batch in batches} == {("/",)}
    assert {cpu for batch in batches for cpu in batch.cpu.tolist()} == {-1}


def test_the_clock_is_exact_when_perf_noted_it() -> None:
    with PerfData(recorded.FOLDER / "pipe.data") as recording:
        list(recording.rows())
        assert recording.utc_offset_ns() == (1_794_840_673_434_220_057, True)
        assert recording.recording.hostname == "vm"


def test_the_clock_is_guessed_from_the_file_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "perf.data"
    path.write_bytes(recorded.data("file"))
    os.utime(path, ns=(0, 2_000_000_000_000_000_000))
    with PerfData(path) as recording:
        offset, exact = recording.utc_offset_ns()
        assert not exact
        newest = max(int(row.at_ns.max()) for row in recording.rows() if isinstance(row, SampleBatch))
        assert 0 <= 2_000_000_000_000_000_000 - (newest + offset) < 100_000_000, "the file was written when perf ended"
        assert recording.utc_offset_ns() == (offset, exact), "all pieces of a file have the same"


def test_kernel_frames_are_named_by_a_kallsyms_file_that_is_given(tmp_path: Path) -> None:
    text = tmp_path / "kallsyms"
    text.write_text(
        "ffffffff81000000 T _text\n" + "".join(f"ffffffff8{n:x}000000 T part_{n:x}\n" for n in range(2, 16))
    )
    with PerfData(recorded.FOLDER / "file.data", kallsyms=text) as recording:
        stacks = recorded.stacks(recording.rows())
    kernel = {name for stack in stacks for name, module in stack if module == "[kernel]"}
    assert "part_2" in kernel


def test_another_kernel_s_frames_stay_unknown(tmp_path: Path) -> None:
    """The machine of a captured host is not the one that recorded."""
    folder = tmp_path / "host"
    (folder / "proc/sys/kernel").mkdir(parents=True)
    (folder / "proc/kallsyms").write_text("ffffffff81000000 T _text\nffffffff8f000000 T end\n")
    (folder / "proc/sys/kernel/osrelease").write_text("0.0.1-other\n")
    with PerfData(recorded.FOLDER / "file.data", Host(folder)) as recording:
        stacks = recorded.stacks(recording.rows())
    assert {name for stack in stacks for name, module in stack if module == "[kernel]"} == {"[unknown]"}
    assert [note for note in recording.notes() if "another kernel" in note and "--kallsyms" in note]


def test_a_kernel_that_hides_its_names_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "host"
    (folder / "proc").mkdir(parents=True)
    (folder / "proc/kallsyms").write_text("0000000000000000 T _text\n" * 10)
    with PerfData(recorded.FOLDER / "file.data", Host(folder)) as recording:
        assert recording.notes() == (), "nothing was read yet"
        list(recording.rows())
        (note,) = recording.notes()
    assert "hides its addresses" in note
    assert "--kallsyms" in note


# -- files that are not right ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PERFILE2",
        b"PERFFILE" + bytes(200),
        b"2ELIFREP" + bytes(200),
        b"\x7fELF" + bytes(200),
        b"PERFILE2" + struct.pack("<Q", 104) + bytes(50),
        b"PERFILE2" + struct.pack("<Q", 104) + bytes(200),
        b"PERFILE2" + struct.pack("<QQQQ", 104, 1 << 60, 104, 1 << 60) + bytes(200),
    ],
)
def test_what_is_no_recording_is_refused_with_a_hint(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "perf.data"
    path.write_bytes(data)
    with pytest.raises(BadInput) as caught:
        read(path)
    assert caught.value.hint


def test_a_missing_file_or_a_folder_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(BadInput):
            PerfData(path)


def test_a_file_whose_writer_was_killed_is_read_to_its_end(tmp_path: Path) -> None:
    """perf writes the size of its data last: without it, the data reaches to the end and features are missing."""
    data = bytearray(recorded.data("file"))
    offset, size = struct.unpack_from("<QQ", data, 40)
    data[48:56] = bytes(8)
    path = tmp_path / "perf.data"
    path.write_bytes(data[: offset + size - 1000])
    found = recorded.samples(read(path))
    assert found
    assert found == recorded.script("file")[: len(found)]


def test_a_file_whose_writer_was_killed_between_two_records_is_called_cut(tmp_path: Path) -> None:
    data = bytearray(recorded.data("file"))
    offset, size = struct.unpack_from("<QQ", data, 40)
    data[48:56] = bytes(8)
    path = tmp_path / "perf.data"
    path.write_bytes(data[: offset + size])
    with PerfData(path) as recording:
        assert recorded.samples(recording.rows()) == recorded.script("file")
        assert CUT_SHORT in recording.notes()


@pytest.mark.parametrize("number", [2**64 - 1, 2**63, 2**63 - 1, 2**64 - 2**40])
def test_numbers_that_no_clock_shows_crash_nothing(tmp_path: Path, number: int) -> None:
    """A hostile time in a sample, and records after it."""
    maker = Maker()
    stream = HEADER + attr() + maker.sample(number, 5) + maker.comm(number, 5, "x") + round_end()
    path = tmp_path / "perf.data"
    path.write_bytes(stream + (maker.comm(7, 5, "y") + maker.sample(9, 5) + round_end()) * 3)
    rows = read(path)
    assert len(recorded.samples(rows)) == 4
    assert {line[4] for line in recorded.samples(rows)} == {9, min(number, 2**63 - 1)}


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_cut_file_gives_what_is_there(tmp_path: Path, share: float) -> None:
    data = recorded.data("file")
    path = tmp_path / "perf.data"
    path.write_bytes(data[: int(len(data) * share)])
    with PerfData(path) as recording:
        found = recorded.samples(recording.rows())
        assert recording.divisible == (share == 0.9), "what is missing would say whether it can be"
        assert CUT_SHORT in recording.notes()
        assert not any("understood" in note for note in recording.notes())
    assert set(found) <= set(recorded.script("file"))


@pytest.mark.parametrize("name", ["pipe", "zstd"])
def test_a_cut_stream_says_that_it_is(tmp_path: Path, name: str) -> None:
    data = recorded.data(name)
    path = tmp_path / "perf.data"
    path.write_bytes(data[: len(data) // 2 + 3])
    with PerfData(path) as recording:
        list(recording.rows())
        assert CUT_SHORT in recording.notes()
        assert not any("understood" in note for note in recording.notes())
    with PerfData(recorded.FOLDER / f"{name}.data") as whole:
        list(whole.rows())
        assert CUT_SHORT not in whole.notes()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(recorded.FILES), st.integers(0, 2**32), st.integers(1, 30), st.booleans())
def test_flipped_bits_crash_nothing(tmp_path: Path, name: str, seed: int, flips: int, in_header: bool) -> None:
    dice = random.Random(seed)
    data = bytearray(recorded.data(name))
    for _ in range(flips):
        data[dice.randrange(8, 400 if in_header else len(data))] ^= 1 << dice.randrange(8)
    path = tmp_path / "perf.data"
    path.write_bytes(data)
    try:
        with PerfData(path) as recording:
            rows = list(recording.rows())
            assert len(recorded.samples(rows)) == recording.stats.samples
    except BadInput:
        pass


# -- a fresh recording against perf itself ------------------------------------------------------------------

_HEAD = re.compile(r"^(.*?)\s+(-?\d+)/(-?\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+(\S+?):\s*$")
_FRAME = re.compile(r"^\s+[0-9a-f]+ (.*?) \(([^()]*(?:\(deleted\))?)\)$")
LOAD = """
for i in 1 2 3 4 5; do ls -lR /usr/bin >/dev/null; dd if=/dev/urandom of=/dev/null bs=64k count=200 2>/dev/null; done
"""


def perf_script(path: Path) -> list[tuple[tuple[str, int, int, int, int, str], list[tuple[str, str]]]]:
    fields = "comm,pid,tid,cpu,time,event,ip,sym,dso"
    command = ["perf", "script", "-i", str(path), "--ns", "-F", fields]
    text = subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")
    found: list[tuple[tuple[str, int, int, int, int, str], list[tuple[str, str]]]] = []
    for line in text.splitlines():
        if head := _HEAD.match(line):
            key = (
                head[1].strip(),
                int(head[2]),
                int(head[3]),
                int(head[4]),
                int(head[5] + head[6]),
                plain_name(head[7]),
            )
            found.append((key, []))
        elif line.strip():
            frame = _FRAME.match(line)
            assert frame is not None, line
            found[-1][1].append((frame[1], frame[2]))
    return found


@pytest.mark.root
@pytest.mark.skipif(shutil.which("perf") is None, reason="needs perf")
@pytest.mark.parametrize("options", [["-g"], ["-g", "-z"], ["-g", "--all-cgroups", "--clockid", "mono"]])
def test_a_fresh_recording_equals_perf_script(tmp_path: Path, options: list[str]) -> None:
    path = tmp_path / "perf.data"
    command = ["perf", "record", "-B", "-N", "-F", "1997", "-a", *options, "-o", str(path), "--", "sh", "-c", LOAD]
    subprocess.run(command, capture_output=True, check=True, cwd=tmp_path)
    theirs = perf_script(path)
    rows = read(path)
    ours = [(line[0], line[1], line[2], line[3], line[4], line[6]) for line in recorded.samples(rows)]
    assert len(theirs) > 50
    assert ours == [key for key, _ in theirs]
    total = different = 0
    for (_, frames), stack in zip(theirs, recorded.stacks(rows), strict=True):
        total += max(len(frames), len(stack))
        pairs = [theirs_name == name for (theirs_name, _), (name, _) in zip(frames, stack, strict=False)]
        different += max(len(frames), len(stack)) - sum(pairs)
    # a stack without frame pointers ends in random words, some of which one of the two takes for code
    assert different <= max(0.005 * total, 150)


@pytest.mark.root
@pytest.mark.skipif(shutil.which("perf") is None, reason="needs perf")
def test_the_life_of_a_real_cgroup_is_in_a_fresh_recording(tmp_path: Path) -> None:
    mount = Path("/sys/fs/cgroup/memory") if Path("/sys/fs/cgroup/memory").is_dir() else Path("/sys/fs/cgroup")
    cgroup = mount / f"necroscope-import-{os.getpid()}"
    script = (
        "mount -t tracefs none /sys/kernel/tracing 2>/dev/null; exec perf record -B -N -a -e cgroup:cgroup_mkdir "
        f"-e cgroup:cgroup_rmdir -o perf.data -- sh -c 'mkdir {cgroup}; rmdir {cgroup}'"
    )
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
    seen = "mount -t tracefs none /sys/kernel/tracing 2>/dev/null; ls /sys/kernel/tracing/events/cgroup/cgroup_mkdir"
    if subprocess.run([*command, seen], capture_output=True).returncode:
        pytest.skip("this kernel has no tracepoints of cgroups")
    try:
        done = subprocess.run([*command, script], capture_output=True, text=True, cwd=tmp_path)
    finally:
        if cgroup.is_dir():
            cgroup.rmdir()
    assert done.returncode == 0, done.stderr
    events = [row for row in read(tmp_path / "perf.data") if isinstance(row, CgroupEvent)]
    mine = [(one.kind, one.path) for one in events if one.path.endswith(cgroup.name)]
    assert mine == [("mkdir", f"/{cgroup.name}"), ("rmdir", f"/{cgroup.name}")]
