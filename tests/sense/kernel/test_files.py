from __future__ import annotations

import pytest

from kernel.fake_kernel import MOUNTINFO, FakeKernel
from necroscope.sense.kernel.files import FileLayout, Files, Mounts


def named(kernel: FakeKernel, mapping: int) -> str | None:
    files = Files(kernel, FileLayout.of(kernel.btf), kernel.pointers(), Mounts(MOUNTINFO))
    inodes = files.inodes([mapping])
    return files.names([inodes[mapping]])[0]


@pytest.mark.parametrize(
    ("kind", "path", "links", "name"),
    [
        ("tmpfs", "/a/b", 1, "/dev/shm/a/b"),
        ("ext4", "/var/log/syslog", 1, "/var/log/syslog"),
        ("ext4", "/gone", 0, "/gone (deleted)"),
        ("xfs", "/elsewhere", 1, "xfs:/elsewhere"),
    ],
)
def test_names_are_absolute(kind: str, path: str, links: int, name: str) -> None:
    kernel = FakeKernel()
    assert named(kernel, kernel.file(kind, path, links)) == name


def test_an_unhashed_entry_is_a_deleted_file() -> None:
    kernel = FakeKernel()
    mapping = kernel.file("tmpfs", "/x")
    entry = kernel.get("inode", kernel.words[mapping], "i_dentry.first") - kernel.btf.offset("dentry", "d_u")
    kernel.put("dentry", entry, "d_hash.pprev", 0)
    assert named(kernel, mapping) == "/dev/shm/x (deleted)"


def test_a_file_without_entry_is_named_by_its_inode() -> None:
    kernel = FakeKernel()
    mapping = kernel.file("ext4", "/x")
    kernel.put("inode", kernel.words[mapping], "i_dentry.first", 0)
    assert named(kernel, mapping) == "/<inode 7>"


def test_a_memfd_stands_alone() -> None:
    kernel = FakeKernel()
    mapping = kernel.file("xfs", "/memfd:ring", links=0)
    entry = kernel.get("inode", kernel.words[mapping], "i_dentry.first") - kernel.btf.offset("dentry", "d_u")
    kernel.put("dentry", entry, "d_parent", entry)
    assert named(kernel, mapping) == "xfs:/memfd:ring (deleted)"


def test_entries_in_a_circle_end() -> None:
    kernel = FakeKernel()
    mapping = kernel.file("ext4", "/a/b")
    entry = kernel.get("inode", kernel.words[mapping], "i_dentry.first") - kernel.btf.offset("dentry", "d_u")
    kernel.put("dentry", kernel.get("dentry", entry, "d_parent"), "d_parent", entry)
    assert named(kernel, mapping) == "/<inode 7>"


def test_what_does_not_point_back_at_its_mapping_is_no_inode() -> None:
    kernel = FakeKernel()
    mapping = kernel.file("ext4", "/a")
    kernel.words[mapping] += 64
    files = Files(kernel, FileLayout.of(kernel.btf), kernel.pointers(), Mounts(MOUNTINFO))
    assert files.inodes([mapping]) == {}


def test_an_inode_that_became_another_has_no_name() -> None:
    kernel = FakeKernel()
    mapping = kernel.file("ext4", "/a")
    files = Files(kernel, FileLayout.of(kernel.btf), kernel.pointers(), Mounts(MOUNTINFO))
    inode = files.inodes([mapping])[mapping]
    kernel.put("inode", inode.address, "i_ino", 8)
    assert files.names([inode]) == [None]


@pytest.mark.parametrize(
    ("mountinfo", "path", "name"),
    [
        (b"1 0 8:1 / /mnt rw - ext4 a rw\n", b"/x/y", "/mnt/x/y"),
        (b"1 0 8:1 /sub /mnt rw - ext4 a rw\n", b"/sub/y", "/mnt/y"),
        (b"1 0 8:1 /sub /mnt rw - ext4 a rw\n", b"/subway/y", "ext4:/subway/y"),
        (b"1 0 8:1 /sub /b rw - ext4 a rw\n2 0 8:1 / /a rw - ext4 a rw\n", b"/sub/y", "/a/sub/y"),
        (b"1 0 8:1 / /a rw - ext4 a rw\n2 0 0:9 / /a rw - tmpfs b rw\n", b"/y", "ext4:/y"),
        (b"1 0 8:1 / /with\\040space rw - ext4 a rw\n", b"/y", "/with space/y"),
        (b"", b"/y", "ext4:/y"),
        (b"\xff\xff\n1 0 x:y / / rw\n1 0 8:1\n", b"/y", "ext4:/y"),
    ],
)
def test_mount_points(mountinfo: bytes, path: bytes, name: str) -> None:
    assert Mounts(mountinfo).absolute((8, 1), b"ext4", path) == name
