"""The same perf.data through our decoder and through `perf script`: the same samples, and the same frames."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from necroscope.errors import BadInput
from necroscope.sense.importers.profiles.perf_data import PerfData
from necroscope.sense.perf.samples import SampleBatch

pytestmark = [pytest.mark.root, pytest.mark.skipif(not shutil.which("perf"), reason="needs perf (Debian: linux-perf)")]

HEAD = re.compile(r"^(.{0,16}?)\s+(\d+)/(\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+(\S+):\s*$")
LOAD = """
import os, sys, zlib
for turn in range(60):
    zlib.compress(os.urandom(1 << 18))
    if turn % 10 == 0 and os.fork() == 0:
        os.execv("/bin/ls", ["ls", "-R", "/usr/share/doc"])
"""
Printed = tuple[int, int, int, int, str]


@pytest.fixture(scope="module", params=[(), ("-z",), ("--all-cgroups",)], ids=["plain", "compressed", "cgroups"])
def recording(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real system-wide recording of processes that come and go."""
    path = tmp_path_factory.mktemp("perf") / "perf.data"
    command = ["perf", "record", "-q", "-N", "-F", "997", "-g", "-a", "-o", str(path), *request.param]
    workload = ["--", sys.executable, "-c", LOAD]
    done = subprocess.run([*command, *workload], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if "-z" in request.param and "zstd: [ on" not in _built_in():
        pytest.skip("this perf was built without zstd")
    assert path.exists(), done.stderr
    return path


def _built_in() -> str:
    return subprocess.run(["perf", "version", "--build-options"], capture_output=True, text=True).stdout


def _by_perf(path: Path) -> tuple[list[Printed], list[list[str]]]:
    command = ["perf", "script", "--ns", "-i", str(path), "-F", "comm,pid,tid,cpu,time,event,ip,sym"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    samples: list[Printed] = []
    stacks: list[list[str]] = []
    for line in filter(None, text.splitlines()):
        if match := HEAD.match(line):
            at_ns = int(match[5]) * 10**9 + int(match[6])
            samples.append((at_ns, int(match[4]), int(match[2]), int(match[3]), match[1].strip()))
            stacks.append([])
        else:
            stacks[-1].append(line.split(None, 1)[1].split("+0x")[0].strip())
    return samples, stacks


def _by_us(path: Path) -> tuple[list[Printed], list[tuple[str, ...]]]:
    samples: list[Printed] = []
    stacks: list[tuple[str, ...]] = []
    frames: dict[int, tuple[str, ...]] = {}
    with PerfData(path) as data:
        for row in data.rows():
            if isinstance(row, SampleBatch):
                frames.update({stack.stack_id: stack.frames for stack in row.stacks})
                for index in range(len(row)):
                    comm = row.comms[row.comm[index]]
                    numbers = (int(column[index]) for column in (row.at_ns, row.cpu, row.pid, row.tid))
                    samples.append((*numbers, comm))  # type: ignore[arg-type]
                    stacks.append(frames[int(row.stack_id[index])])
    return samples, stacks


def _without(rows: list[Any], places: list[int]) -> list[Any]:
    return [row for place, row in enumerate(rows) if place not in places]


def test_samples_are_the_same_and_so_are_nearly_all_frames(recording: Path) -> None:
    theirs, their_stacks = _by_perf(recording)
    ours, our_stacks = _by_us(recording)
    assert len(theirs) > 20
    # perf does not print samples of threads that were just ending: the kernel gives some of them the pid -1.
    printed = {one[:4] for one in theirs}
    left_out = [place for place, one in enumerate(ours) if one[:4] not in printed]
    assert len(left_out) <= max(3, 0.01 * len(ours))
    ours, our_stacks = _without(ours, left_out), _without(our_stacks, left_out)
    assert len(ours) == len(theirs)
    order, their_order = (sorted(range(len(samples)), key=samples.__getitem__) for samples in (ours, theirs))
    assert [ours[index] for index in order] == [theirs[index] for index in their_order]
    same = total = 0
    for mine, yours in zip(order, their_order, strict=True):
        names, expected = our_stacks[mine][::-1], their_stacks[yours]
        total += max(len(names), len(expected))
        same += sum(a == b for a, b in zip(names, expected, strict=False))
    # a stack without frame pointers ends in random words, some of which one of the two takes for code
    assert total - same <= max(0.005 * total, 150)


def test_a_recording_cut_or_changed_anywhere_is_read_as_far_as_it_goes_or_refused(
    recording: Path, tmp_path: Path
) -> None:
    whole = recording.read_bytes()
    generator = np.random.default_rng(7)
    for _ in range(25):
        damaged = bytearray(whole[: int(generator.integers(1, len(whole)))])
        for place in generator.integers(0, len(damaged), 8):
            damaged[place] ^= 1 << int(generator.integers(0, 8))
        broken = tmp_path / "broken.data"
        broken.write_bytes(damaged)
        with contextlib.suppress(BadInput), PerfData(broken) as data:
            assert sum(len(row) for row in data.rows() if isinstance(row, SampleBatch)) >= 0
