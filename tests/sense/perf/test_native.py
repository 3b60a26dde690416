"""The C loops and NumPy give the same, and what is not there is not used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.sense.perf import native
from necroscope.sense.perf.hashing import FACTOR, HashIndex, SpanHasher, mix


def test_the_switch_decides(inner_loops: str) -> None:
    assert (native.loops() is None) == (inner_loops == "numpy")


@pytest.mark.parametrize("content", [None, b"", b"no library"])
def test_a_library_that_is_not_there_or_broken_is_not_used(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "_native.so"
    if content is not None:
        library.write_bytes(content)
    monkeypatch.setattr(native, "LIBRARY", library)
    monkeypatch.delenv(native.SWITCH, raising=False)
    native.loops.cache_clear()
    assert native.loops() is None
    native.loops.cache_clear()


def test_a_library_of_another_version_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, library = tmp_path / "other.c", tmp_path / "_native.so"
    source.write_text("long necro_walk(void) { return 0; }\n")
    if subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library]).returncode:
        pytest.skip("no C compiler")
    monkeypatch.setattr(native, "LIBRARY", library)
    monkeypatch.delenv(native.SWITCH, raising=False)
    native.loops.cache_clear()
    assert native.loops() is None
    native.loops.cache_clear()


@given(st.lists(st.lists(st.integers(0, 99), max_size=8), max_size=10))
def test_hashes_of_rows_of_frames_are_those_of_their_spans(stacks: list[list[int]]) -> None:
    found = native.loops()
    if found is None:
        return
    depth = np.array([len(one) for one in stacks], np.int64)
    frames = np.array([frame for one in stacks for frame in one], np.int32)
    hash_of = mix(np.arange(100, dtype=np.uint64))
    ends = np.cumsum(depth)
    twin = SpanHasher(hash_of.take(frames), mixed=True).spans(ends - depth, ends)
    assert found.hashes(frames, hash_of, depth, FACTOR).tolist() == twin.tolist()


def test_frames_that_nobody_knows_are_asked_for() -> None:
    found = native.loops()
    if found is None:
        return
    index = HashIndex(16)
    top = 1 << 63
    numbers, _ = index.add(np.array([(top + 5) ^ 3, 7 ^ 3 ^ 1000], np.uint64))
    assert numbers.tolist() == [0, 1]
    frame_of = np.array([41, -1], np.int32)
    chain = np.array([top + 5, 7, 7, top + 6], np.uint64)
    frames, keys, missing = found.frames(
        index.table, frame_of, -1, chain, np.array([2, 2]), np.array([1000, 2000], np.uint64), 3
    )
    assert frames.tolist() == [41, -1, -1, -1]
    assert missing.tolist() == [1, 2, 3]
    assert keys.tolist() == [7 ^ 3 ^ 1000, 7 ^ 3 ^ 2000, (top + 6) ^ 3]


def test_the_program_says_nothing_about_it() -> None:
    """Importing the decoder works the same with and without."""
    code = "import necroscope.sense.perf.stream"
    for value in ("0", "1"):
        done = subprocess.run([sys.executable, "-c", code], env={native.SWITCH: value}, capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
