"""Bundles: whole or not at all, and nothing hostile gets out of one."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import tarfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from necroscope.errors import BadInput
from necroscope.store.bundle import archive
from necroscope.store.bundle.archive import SCHEMA, Entry, pack, unpack

MANIFEST = Entry("/necroscope/manifest.json", json.dumps({"schema": SCHEMA}).encode())
ENTRIES = (Entry("/proc/stat", b"cpu 1\n"), Entry("/sys/fs/cgroup/odd\x1b[2J\udcff", None), MANIFEST)


def _tar(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for member, data in members:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


def test_what_is_packed_is_unpacked(tmp_path: Path) -> None:
    packed = pack(ENTRIES, tmp_path / "node.ncb")
    assert (packed.files, stat.S_IMODE(packed.path.stat().st_mode)) == (2, 0o600)
    out = tmp_path / "out"
    out.mkdir()
    unpack(packed.path, out)
    assert (out / "proc/stat").read_bytes() == b"cpu 1\n"
    assert (out / "sys/fs/cgroup/odd\x1b[2J\udcff").is_dir()
    assert [file.name for file in tmp_path.iterdir()] == ["node.ncb", "out"] or len(list(tmp_path.iterdir())) == 2


def test_an_unfinished_bundle_never_appears(tmp_path: Path) -> None:
    def broken() -> Iterator[Entry]:
        yield ENTRIES[0]
        raise RuntimeError("the capture broke")

    with pytest.raises(RuntimeError):
        pack(broken(), tmp_path / "node.ncb")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be written"):
        pack(ENTRIES, tmp_path / "absent/node.ncb")


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil"])
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(BadInput, match="which no capture has"):
        unpack(_tar(tmp_path / "x", (tarfile.TarInfo(name), b"x")), out)
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    member = tarfile.TarInfo("proc/stat")
    member.type = kind
    member.linkname = "/etc/passwd"
    with pytest.raises(BadInput, match="which no capture has"):
        unpack(_tar(tmp_path / "x", (member, b"")), tmp_path / "out")


def test_a_name_given_twice_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(BadInput):
        unpack(_tar(tmp_path / "x", (tarfile.TarInfo("a"), b"1"), (tarfile.TarInfo("a"), b"2")), out)


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE])
def test_a_header_that_is_endless_is_refused_before_it_is_read(tmp_path: Path, kind: bytes) -> None:
    member = tarfile.TarInfo("x")
    member.type = kind
    member.size = 300 << 20
    with gzip.open(tmp_path / "x", "wb", compresslevel=1) as out:
        out.write(member.tobuf(tarfile.GNU_FORMAT))
        for _ in range(300):
            out.write(bytes(1 << 20))
    out_folder = tmp_path / "out"
    out_folder.mkdir()
    tracemalloc.start()
    try:
        with pytest.raises(BadInput):
            unpack(tmp_path / "x", out_folder)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_a_name_of_a_thousand_parts_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(BadInput, match="which no capture has"):
        unpack(_tar(tmp_path / "x", (tarfile.TarInfo("a/" * 1000 + "b"), b"x")), out)


@pytest.mark.parametrize("kind", ["folders", "files"])
def test_folders_have_a_bound_also_those_that_only_names_tell_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(archive, "MAX_FOLDERS", 1_000)
    members = []
    for number in range(30):
        member = tarfile.TarInfo("/".join([f"x{number}", *("d" * 99)]))
        member.type = tarfile.DIRTYPE if kind == "folders" else tarfile.REGTYPE
        members.append((member, b""))
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(BadInput, match="more folders than any capture"):
        unpack(_tar(tmp_path / "x", *members), out)
    assert sum(path.is_dir() for path in out.rglob("*")) <= 1_000


def test_a_bomb_is_refused_before_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_BYTES", 1000)
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(BadInput, match="more than any capture"):
        unpack(_tar(tmp_path / "x", (tarfile.TarInfo("a"), b"0" * 1001)), out)
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"nonsense", gzip.compress(b"nonsense"), os.urandom(3000)])
def test_what_is_no_bundle_is_one_sentence(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "x"
    file.write_bytes(data)
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(BadInput):
        unpack(file, out)


def test_a_bundle_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = pack(ENTRIES, tmp_path / "whole").path.read_bytes()
    for length in (*range(0, len(whole), 7), len(whole) - 1):
        cut = tmp_path / "cut"
        cut.write_bytes(whole[:length])
        out = tmp_path / f"out{length}"
        out.mkdir()
        with pytest.raises(BadInput):
            unpack(cut, out)


def test_another_schema_is_refused_with_a_hint(tmp_path: Path) -> None:
    pack([Entry("/necroscope/manifest.json", b'{"schema": "necroscope.bundle/2"}')], tmp_path / "x")
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(BadInput, match="this version reads") as caught:
        unpack(tmp_path / "x", out)
    assert "newer" in caught.value.hint


def test_a_bundle_without_a_manifest_is_refused(tmp_path: Path) -> None:
    pack(ENTRIES[:1], tmp_path / "x")
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(BadInput, match="no manifest"):
        unpack(tmp_path / "x", out)
