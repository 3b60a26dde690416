"""Paths below a root: what leads out of it, and what is no regular file, is not opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from necroscope.sense.confined import in_root
from necroscope.sense.confined.in_root import Refused, open_regular, walk
from necroscope.sense.confined.refusal import Refusal


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").write_text("secret")
    folder = tmp_path / "root"
    (folder / "tmp").mkdir(parents=True)
    (folder / "tmp/good").write_text("good")
    (folder / "tmp/link").symlink_to("good")
    (folder / "tmp/out").symlink_to("../../outside")
    (folder / "elsewhere").symlink_to(tmp_path)
    (folder / "tmp/magic").symlink_to(f"/proc/{os.getpid()}/root")
    os.mkfifo(folder / "tmp/fifo")
    return folder


@pytest.fixture(params=["openat2", "walk"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The kernel's way, and ours for kernels without it."""
    if request.param == "walk":
        monkeypatch.setattr(in_root, "locate", walk)
    return str(request.param)


def opened(root: Path, path: str) -> bytes | Refusal:
    fd = os.open(root, os.O_PATH | os.O_DIRECTORY)
    try:
        found = open_regular(fd, path)
    except Refused as error:
        return error.reason
    finally:
        os.close(fd)
    try:
        return os.read(found, 100)
    finally:
        os.close(found)


def test_a_regular_file_is_opened(root: Path, way: str) -> None:
    assert opened(root, "/tmp/good") == b"good"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/tmp/link", {Refusal.LINK}),
        ("/tmp/out", {Refusal.LINK}),
        ("/tmp/fifo", {Refusal.NOT_REGULAR}),
        ("/tmp", {Refusal.NOT_REGULAR}),
        ("/nothing", {Refusal.GONE}),
        ("/elsewhere/outside", {Refusal.GONE}),
        ("/../outside", {Refusal.GONE, Refusal.LINK}),
        ("/tmp/magic/etc/passwd", {Refusal.GONE, Refusal.LINK}),
    ],
)
def test_what_is_not_opened(root: Path, way: str, path: str, reason: set[Refusal]) -> None:
    assert opened(root, path) in reason


def test_a_device_is_not_even_touched() -> None:
    before = sorted(os.listdir("/dev/pts"))  # noqa: PTH208
    assert opened(Path("/"), "/dev/pts/ptmx" if Path("/dev/pts/ptmx").exists() else "/dev/null") is Refusal.NOT_REGULAR
    assert sorted(os.listdir("/dev/pts")) == before  # noqa: PTH208
