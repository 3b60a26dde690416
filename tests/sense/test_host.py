"""The door to files: bounded, and hostile trees stay outside."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from necroscope.errors import BadInput, Unavailable
from necroscope.sense.host import Host


def test_live_root_reads_the_kernels_files() -> None:
    host = Host()
    assert not host.captured
    assert host.read("/proc/self/comm").endswith(b"\n")
    assert host.clock().monotonic_ns > 0


def test_a_root_that_is_no_directory_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not a directory"):
        Host(tmp_path / "nothing")


def test_reads_below_its_root_only(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/stat").write_bytes(b"captured")
    host = Host(tmp_path)
    assert host.read("/proc/stat") == b"captured"
    with pytest.raises(Unavailable, match="does not exist"):
        host.read("/proc/uptime")
    with pytest.raises(Unavailable, match="leaves the captured host"):
        host.read("/proc/../../etc/passwd")


@pytest.mark.parametrize("where", ["file", "folder"])
def test_links_of_a_captured_tree_are_not_followed(tmp_path: Path, where: str) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "stat").write_text("secret")
    root = tmp_path / "root"
    root.mkdir()
    if where == "file":
        (root / "proc").mkdir()
        (root / "proc/stat").symlink_to(secret / "stat")
    else:
        (root / "proc").symlink_to(secret)
    host = Host(root)
    with pytest.raises(Unavailable):
        host.read("/proc/stat")
    assert host.read_or_none("/proc/stat") is None


def test_fifos_and_directories_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    host = Host(tmp_path)
    for path in ("/fifo", "/folder"):
        with pytest.raises(Unavailable, match="not a regular file"):
            host.read(path)


@pytest.mark.root
def test_devices_in_a_captured_tree_are_not_opened(tmp_path: Path) -> None:
    os.mknod(tmp_path / "zero", 0o600 | 0o020000, os.makedev(1, 5))
    with pytest.raises(Unavailable, match="not a regular file"):
        Host(tmp_path).read("/zero")


def test_a_file_over_the_limit_is_refused_not_cut(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 101)
    host = Host(tmp_path)
    assert len(host.read("/big", limit=101)) == 101
    with pytest.raises(Unavailable, match="larger than 100 bytes"):
        host.read("/big", limit=100)


def test_subdirectories_tell_leaves_without_listing_them(tmp_path: Path) -> None:
    (tmp_path / "cg/inner/leaf").mkdir(parents=True)
    (tmp_path / "cg/leaf").mkdir()
    (tmp_path / "cg/file").write_text("")
    (tmp_path / "cg/link").symlink_to(tmp_path)
    assert {name for name, _ in Host(tmp_path).subdirectories("/cg")} == {"inner", "leaf"}
    found = dict(Host(tmp_path).subdirectories("/cg"))
    assert found["inner"]


def test_descriptors_are_closed(tmp_path: Path) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "a/b/c/f").write_text("x")
    host = Host(tmp_path)
    before = sum(1 for _ in Path("/proc/self/fd").iterdir())
    for _ in range(20):
        host.read("/a/b/c/f")
        host.read_or_none("/a/x/y")
        host.names("/a/b")
        list(host.subdirectories("/a"))
    assert sum(1 for _ in Path("/proc/self/fd").iterdir()) == before


def test_a_link_is_kept_as_a_small_file(tmp_path: Path) -> None:
    (tmp_path / "ns").write_text("cgroup:[4026531835]\n")
    (tmp_path / "link").symlink_to("somewhere")
    assert Host(tmp_path).link("/ns") == "cgroup:[4026531835]"
    assert Host(tmp_path).link("/link") == "somewhere"


def test_recorded_values(tmp_path: Path) -> None:
    folder = tmp_path / "necroscope"
    folder.mkdir()
    (folder / "clock.json").write_text(json.dumps({"realtime_ns": 10**18 + 3, "monotonic_ns": 2, "boottime_ns": 2}))
    (folder / "broken.json").write_text("{")
    (folder / "deep.json").write_text("[" * 100_000)
    host = Host(tmp_path)
    assert host.clock().from_monotonic(1) == 10**18 + 2
    (folder / "clock.json").write_text(json.dumps({"realtime_ns": 0, "monotonic_ns": 2, "boottime_ns": 2}))
    with pytest.raises(Unavailable, match="cannot be"):
        host.clock()
    for name in ("broken", "deep", "absent"):
        with pytest.raises(Unavailable):
            host.recorded(name)
    with pytest.raises(Unavailable):
        Host().recorded("clock")
    with pytest.raises(Unavailable):
        host.live_path("/dev/kmsg")
