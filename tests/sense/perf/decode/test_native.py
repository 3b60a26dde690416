"""The C loops and NumPy give the same, and what is not there is not used."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.sense.perf.cgroups import columns as cgroup_columns
from necroscope.sense.perf.cgroups import sums
from necroscope.sense.perf.cgroups.columns import CgroupColumns
from necroscope.sense.perf.cgroups.sums import _parents
from necroscope.sense.perf.decode import native
from necroscope.sense.perf.decode.hashing import FACTOR, HashIndex, SpanHasher, mix
from necroscope.sense.perf.format.columns import RawRows
from necroscope.sense.perf.format.tracepoints import Field, Format


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
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
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
    code = "import necroscope.sense.perf.decode.stream"
    for value in ("0", "1"):
        done = subprocess.run([sys.executable, "-c", code], env={native.SWITCH: value}, capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def _churn_rows(records: list[tuple[str, int, int, bytes]]) -> RawRows:
    """Records of tracepoints as perf brings them: which, root, id, path."""
    kinds, parts = ("mkdir", "rmdir", "release", "attach_task", "other"), []
    for kind, root, number, path in records:
        if kind == "attach_task":
            raw = struct.pack("<8xiiQiI", root, 1, number, 7, 32 | len(path) << 16) + path
        else:
            raw = struct.pack("<8xiiQI", root, 1, number, 28 | len(path) << 16) + path
        parts.append((struct.pack("<I", len(raw)) + raw).ljust((len(raw) + 11) // 8 * 8, b"\0"))
    return RawRows(
        time=np.arange(len(records), dtype=np.uint64),
        event=np.array([kinds.index(kind) for kind, *_ in records], np.int32),
        pid=np.full(len(records), 9, np.uint32),
        words=np.array([len(part) // 8 for part in parts], np.int64),
        data=np.frombuffer(b"".join(parts), np.uint64),
    )


_HEAD = (Field("root", 8, 4, True), Field("id", 16, 8, False))
_LIFE = (*_HEAD, Field("path", 24, 4, False, "__data_loc"))
_MOVE = (
    Field("dst_root", 8, 4, True),
    Field("dst_id", 16, 8, False),
    Field("pid", 24, 4, True),
    Field("dst_path", 28, 4, False, "__data_loc"),
)
_TRACED = {
    0: Format("cgroup", "cgroup_mkdir", 0, _LIFE),
    1: Format("cgroup", "cgroup_rmdir", 1, (*_HEAD, Field("path", 24, 4, False, "__rel_loc"))),
    2: Format("cgroup", "cgroup_release", 2, (*_HEAD, Field("path", 1 << 40, 4, False, "__data_loc"))),
    3: Format("cgroup", "cgroup_attach_task", 3, _MOVE),
}
_NUMBERS = ("key", "root", "moved", "path_at", "path_size")
_KINDS = st.sampled_from(("mkdir", "rmdir", "release", "attach_task", "other"))
_PATHS = st.one_of(st.binary(max_size=40), st.sampled_from((b"/", b"/a/b/c", b"/a/b/d", b"a", b"")))


@given(st.lists(st.tuples(_KINDS, st.integers(-5, 5), st.integers(0, (1 << 63) - 1), _PATHS), max_size=20))
def test_records_of_cgroups_are_read_alike(records: list[tuple[str, int, int, bytes]]) -> None:
    found = native.loops()
    rows = _churn_rows(records)
    columns = CgroupColumns.of(rows, _TRACED)
    ours = [int(one) for name in _NUMBERS for one in getattr(columns, name)]
    parents, ends = _parents(rows.data, columns, np.arange(len(rows))) if records else ([], [])
    if found is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cgroup_columns, "loops", lambda: None)
        patch.setattr(sums, "loops", lambda: None)
        twin = CgroupColumns.of(rows, _TRACED)
        _, their_ends = _parents(rows.data, twin, np.arange(len(rows))) if records else ([], [])
    assert columns.kind.tolist() == twin.kind.tolist()
    assert ours == [int(one) for name in _NUMBERS for one in getattr(twin, name)]
    assert list(map(int, ends)) == list(map(int, their_ends))
    texts = [rows.data.tobytes()[at : at + end] for at, end in zip(columns.path_at.tolist(), ends, strict=True)]
    assert [[one == other for other in parents] for one in parents] == [
        [one == other for other in texts] for one in texts
    ]
