"""Packed files: the same as what is in them, bounded, and cut ones said so."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from perf import recorded

from necroscope.errors import BadInput
from necroscope.record.imports.file_importers import How, import_file
from necroscope.record.imports.perf_recordings import Imported
from necroscope.sense.host import Host
from necroscope.sense.importers import unpacked as unpacking
from necroscope.sense.importers.source import CUT_SHORT, Source
from necroscope.store.write.writer import Writer

FILE = recorded.FOLDER / "file.data"


def zstd(data: bytes) -> bytes:
    return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout


PACKERS = [
    gzip.compress,
    lzma.compress,
    bz2.compress,
    pytest.param(zstd, marks=pytest.mark.skipif(shutil.which("zstd") is None, reason="needs zstd")),
]
Pack = Callable[[bytes], bytes]


def put(store: Path, path: Path) -> tuple[str, Imported]:
    writer = Writer(store)
    try:
        return import_file(writer, path, How(Host(), jobs=2))
    finally:
        writer.close(merge=False)


@pytest.mark.parametrize("pack", PACKERS)
def test_a_packed_recording_is_the_recording(tmp_path: Path, pack: Pack) -> None:
    path = tmp_path / "perf.data.packed"
    path.write_bytes(pack(FILE.read_bytes()))
    kind, done = put(tmp_path / "store", path)
    _, plain = put(tmp_path / "plain", FILE)
    assert (kind, done.samples) == ("perf-data", plain.samples)
    assert done.samples == len(recorded.script("file"))
    assert CUT_SHORT not in done.notes
    assert put(tmp_path / "store", FILE)[1].already, "packed or not, it is the same recording"
    assert not [one.name for one in (tmp_path / "store").iterdir() if one.name.startswith("tmp")]


def test_a_packed_recording_that_was_cut_says_so(tmp_path: Path) -> None:
    data = gzip.compress(FILE.read_bytes())
    path = tmp_path / "perf.data.gz"
    path.write_bytes(data[: len(data) * 2 // 3])
    _, done = put(tmp_path / "store", path)
    assert 0 < done.samples < len(recorded.script("file"))
    assert done.notes.count(CUT_SHORT) == 1


def test_a_bomb_is_refused_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(FILE.read_bytes() + bytes(64 << 20)))
    with pytest.raises(BadInput, match="unpacks to more than the 8 MiB"):
        unpacking.unpacked(path, tmp_path, 8 << 20)
    assert [one.name for one in tmp_path.iterdir()] == ["bomb.gz"]


@pytest.mark.skipif(shutil.which("zstd") is None, reason="needs zstd")
@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 20) + 1, 5_000_000])
def test_zstd_is_read_in_pieces_of_any_size(size: int) -> None:
    data = random.Random(size).randbytes(size // 2) + bytes(size - size // 2)
    source = Source(io.BytesIO(zstd(data) + zstd(data[:1000])))
    found = b"".join(iter(source.read, b""))
    assert found == data + data[:1000]
    assert not source.cut
    cut = Source(io.BytesIO(zstd(data + b"x")[:-1]))
    assert data.startswith(b"".join(iter(cut.read, b""))[:size])
    assert cut.cut


def test_an_archive_is_called_so(tmp_path: Path) -> None:
    import tarfile

    path = tmp_path / "perf.tar.bz2"
    with tarfile.open(path, "w:bz2") as archive:
        archive.add(FILE, "perf.data")
    with pytest.raises(BadInput, match="is an archive") as refused:
        put(tmp_path / "store", path)
    assert "tar -xf" in refused.value.hint
