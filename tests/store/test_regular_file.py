"""What lies in a store may be a trap: a link, a pipe, a device. And what is written there is its owner's alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from necroscope.store.private_files import make_folder, open_new, write_synced
from necroscope.store.regular_file import is_regular, open_regular, read_regular


def test_a_regular_file_is_read_whole_or_its_beginning(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"abcdef")
    assert (read_regular(file), read_regular(file, 3)) == (b"abcdef", b"abc")
    assert is_regular(file)


@pytest.mark.parametrize("trap", ["link", "dangling", "pipe", "folder", "device", "absent"])
def test_nothing_else_is_opened_and_nothing_waits(tmp_path: Path, trap: str) -> None:
    path = tmp_path / trap
    (tmp_path / "secret").write_text("secret")
    match trap:
        case "link":
            path.symlink_to(tmp_path / "secret")
        case "dangling":
            path.symlink_to(tmp_path / "nowhere")
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "device":
            path = Path("/dev/zero")
    assert not is_regular(path)
    with pytest.raises(OSError, match=f"{trap}|zero"):
        open_regular(path)
    with pytest.raises(OSError, match=f"{trap}|zero"):
        read_regular(path)


def test_no_descriptor_is_left_open_by_a_refusal(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        with pytest.raises(OSError, match="not a regular file"):
            open_regular(tmp_path / "pipe")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_folders_and_files_are_their_owners_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        make_folder(tmp_path / "a" / "b")
        write_synced(tmp_path / "a" / "b" / "file", b"x")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a", tmp_path / "a/b", tmp_path / "a/b/file")]
    assert modes == [0o700, 0o700, 0o600]
    assert (tmp_path / "a/b/file").read_bytes() == b"x"


def test_a_folder_that_is_there_keeps_its_mode_and_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    make_folder(tmp_path / "open")
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o755
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "file")


def test_a_new_file_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    with pytest.raises(OSError, match="symbolic links"):
        open_new(tmp_path / "link")
    assert (tmp_path / "theirs").read_text() == "theirs"
